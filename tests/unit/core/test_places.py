"""Where outputs lie as seen from their checkpoint."""

import pytest

from streamproof.core.places import is_below, resolved, seen_from


@pytest.mark.parametrize(
    ("checkpoint", "path", "seen"),
    [
        ("/jobs/one/checkpoint/kept", "/jobs/one/out/kept", "../../out/kept"),
        ("s3a://bucket/checkpoints/kept", "s3a://bucket/out/kept", "../../out/kept"),
        ("s3a://bucket/checkpoints/kept", "s3a://other/out/kept", "s3a://other/out/kept"),
        ("/jobs/one/checkpoint/kept", "hdfs://name:8020/out/kept", "hdfs://name:8020/out/kept"),
    ],
)
def test_a_place_is_seen_from_the_checkpoint_and_found_again(checkpoint: str, path: str, seen: str) -> None:
    assert seen_from(checkpoint, path) == seen
    assert resolved(checkpoint, seen) == path


@pytest.mark.parametrize("path", ["file:/jobs/out", "file:///jobs/out", "/jobs/out"])
def test_the_local_disk_is_one_store_however_it_is_written(path: str) -> None:
    assert seen_from("/jobs/checkpoint/kept", path) == "../../out"


def test_another_store_in_the_short_form_is_another_store() -> None:
    assert resolved("/jobs/checkpoint/kept", seen_from("/jobs/checkpoint/kept", "hdfs:/data/out")).startswith("hdfs:")


def test_a_folder_that_is_moved_as_a_whole_looks_the_same() -> None:
    assert seen_from("/a/checkpoint/kept", "/a/out") == seen_from("/b/c/checkpoint/kept", "/b/c/out")


@pytest.mark.parametrize(
    ("uri", "folder", "below"),
    [
        ("file:///data/1.json", "/data", True),
        ("file:///data/1.json", "/jobs/../data/", True),
        ("hdfs://name:8020/data/1.json", "/data", True),
        ("s3a://bucket/my%20data/day=1/1.json", "s3a://bucket/my data", True),
        ("file:///data/day=1/1.json", "/data/day=*", True),
        ("file:///data/1.json", "/data/1.json", True),
        ("file:///data-2/1.json", "/data", False),
        ("file:///copy/data/1.json", "/data", False),
        ("file:///data/1.json", "/copy/da*", False),
    ],
)
def test_a_file_lies_in_the_folder_it_was_read_from_and_in_no_other(uri: str, folder: str, below: bool) -> None:
    assert is_below(uri, folder) is below
