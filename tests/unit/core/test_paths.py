"""Paths as people and Hadoop read them."""

import pytest

from streamproof.core.paths import as_pattern


@pytest.mark.parametrize(
    ("path", "pattern"),
    [("/a b/c,d", "/a b/c,d"), ("/a[1]/{b}/*?", r"/a\[1\]/\{b\}/\*\?"), ("/a\\b", r"/a\\b"), ("s3a://b/x[", r"s3a://b/x\[")],
)
def test_a_pattern_matches_one_path_alone(path: str, pattern: str) -> None:
    assert as_pattern(path) == pattern
