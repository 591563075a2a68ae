"""What a scenario's process says of its end reaches the proof with its codes."""

from streamproof.core.notes import Note, NoteCode
from streamproof.errors import RemedyAction, TornCheckpoint
from streamproof.prove.process.task import ChildResult


def test_a_result_comes_back_with_the_codes_of_error_remedy_and_notes() -> None:
    note = Note(NoteCode.RESTORED, "offsets/2 was missing and is restored from the manifest.", "offsets/2")
    result = ChildResult(TornCheckpoint.code, "torn", "Run again.", RemedyAction.REPLAY_LAST, (note,), attempts={"sums": 3})

    found = ChildResult.from_json(result.to_json())

    assert found == result
    assert found.action == "replay-last"
    assert [(each.code, each.about) for each in found.notes] == [(NoteCode.RESTORED, "offsets/2")]
