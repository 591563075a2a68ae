"""Where outputs lie as seen from their checkpoint."""

import pytest

from streamproof.runtime.places import below_store, resolved, seen_from


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


@pytest.mark.parametrize("path", ["/data/1.json", "file:/data/1.json", "file:///data/1.json", "hdfs://name:8020/data/1.json"])
def test_a_path_without_its_store(path: str) -> None:
    assert below_store(path) == "/data/1.json"
