"""What the files sink promises depends on the file system."""

import pytest

from streamproof.connectors.files.sink import guarantee_at


@pytest.mark.parametrize("path", ["/data/out", "file:///data/out", "hdfs://nn/out", "abfss://c@a/out"])
def test_a_file_system_with_rename_is_exactly_once(path):
    assert guarantee_at(path).startswith("exactly once")


@pytest.mark.parametrize("path", ["s3a://bucket/out", "gs://bucket/out"])
def test_an_object_store_is_not(path):
    assert guarantee_at(path).startswith("not exactly once")
