"""`recover` and `backup` go by the batch that `--verify` names, also where something older is damaged: what is harmed stays away from the copy."""

from pathlib import Path

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.verify.sound import verify
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.recover import recover
from unit.checkpoint.written import JOIN, OURS, WINDOWS, copy_of, files_checkpoint, kafka_checkpoint

SUMS = OURS / "checkpoint" / "sums"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])


@pytest.mark.parametrize(
    ("checkpoint", "files"),
    [
        (WINDOWS, ["commits/4", "offsets/1"]),
        (WINDOWS, ["state/0/0/2.zip", "state/0/0/5.zip"]),
        (WINDOWS, ["state/0/0/SSTs/000008-1a159f99-f0f4-42d3-94b1-07273e3d919e.sst", "commits/4"]),
        (WINDOWS, ["commits/4", "commits/0"]),
        (JOIN, ["state/0/0/right-keyToNumValues/5.delta", "offsets/0"]),
        (SUMS, ["_streamproof/manifests/3", "_streamproof/manifests/0"]),
    ],
)
def test_a_copy_is_made_of_the_batch_that_verify_names(checkpoint, files, streamproof, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    for file in files:
        cut(copy / file)
    seen = verify(inspect_checkpoint(copy))
    batch, harmed = seen.sound[-1], [problem.path for problem in seen.problems]

    result = streamproof("recover", copy.name, "--to", str(batch))

    assert result.code == 0, result.err
    made = inspect_checkpoint(tmp_path / f"{copy.name}-at-{batch}")
    assert made.logs.newest_committed == batch
    assert verify(made).sound[-1] == batch
    assert not made.logs.torn
    assert [path for path in harmed if (made.path / path).exists()] == []
    assert back_up(copy, tmp_path / "to").batch == batch


def test_an_offset_log_that_was_swapped_comes_along_since_the_next_batch_needs_it(tmp_path):
    checkpoint = kafka_checkpoint(tmp_path / "c", [{"t": {"0": end}} for end in (3, 9, 5, 10)], committed=4)

    assert verify(inspect_checkpoint(checkpoint)).sound == (0, 3)
    assert recover(inspect_checkpoint(checkpoint), 3).path.is_dir()
    assert back_up(checkpoint, tmp_path / "to").batch == 3


def test_a_torn_entry_that_a_compact_file_names_is_written_anew(tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 14)
    (checkpoint / "sources" / "0" / "8").write_text("v1\n{")

    made = recover(inspect_checkpoint(checkpoint), 9).path

    assert sorted(path.name for path in (made / "sources" / "0").iterdir()) == ["10", "9.compact"]
