import pytest

from streamproof.errors import StreamproofError
from streamproof.prove.record.journal import Operation, Task, read

ROOT = "/somewhere/scenario"


def test_entries_are_typed_and_relative(recorder):
    recorder.direct("a/b", b"12", batch=3, stage=4, partition=1, attempt=9)
    recorder.log("rename", "a", to="c", directory=True)
    create, close, rename = recorder.journal().entries
    assert create.operation is Operation.CREATE
    assert (close.path, close.size, close.batch, close.task) == ("a/b", 2, 3, Task(4, 1, 9))
    assert (rename.target, rename.directory, rename.task) == ("c", True, None)


def test_a_last_line_cut_short_by_a_kill_is_left_out(recorder):
    recorder.direct("a", b"1")
    recorder.journal()
    with (recorder.folder / "journal.jsonl").open("a") as journal:
        journal.write('{"seq":2,"op":"del')
    assert len(read(recorder.folder, ROOT).entries) == 2


@pytest.mark.parametrize("damage", ["not json", '{"seq":7,"op":"delete","path":"/somewhere/scenario/a","thread":"t"}', '{"seq":1}'])
def test_a_broken_or_missing_line_is_an_error_that_names_the_line(recorder, damage):
    recorder.direct("a", b"1")
    recorder.lines[1] = damage
    with pytest.raises(StreamproofError, match="line 2"):
        recorder.journal()


def test_paths_outside_the_scenario_are_reported_not_mixed_in(recorder):
    recorder.direct("a", b"1")
    recorder.lines.append('{"seq":2,"op":"delete","path":"/elsewhere/x","thread":"t"}')
    journal = recorder.journal()
    assert len(journal.entries) == 2
    assert journal.outside == ("/elsewhere/x",)
