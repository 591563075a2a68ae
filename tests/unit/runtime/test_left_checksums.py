from pathlib import Path

from streamproof.runtime.recovery.left_checksums import remove_left_checksums


def test_checksums_without_their_file_are_removed_below_the_state_alone(tmp_path: Path) -> None:
    for name in ("state/0/1/.12_a.zip.crc", "state/0/1/13_b.zip", "state/0/1/.13_b.zip.crc", "state/0/1/.hidden", "offsets/.3.crc"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()

    assert remove_left_checksums(tmp_path.as_uri()) == 1
    assert sorted(file.name for file in (tmp_path / "state" / "0" / "1").iterdir()) == [".13_b.zip.crc", ".hidden", "13_b.zip"]
    assert (tmp_path / "offsets" / ".3.crc").exists()


def test_nothing_is_done_where_the_checkpoint_is_not_local_or_has_no_state(tmp_path: Path) -> None:
    assert remove_left_checksums("s3a://bucket/checkpoint") == 0
    assert remove_left_checksums(str(tmp_path / "none")) == 0
