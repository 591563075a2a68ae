"""`prove --last-failed` where nothing has failed says so, and does not prove everything anew."""

import pytest

from streamproof import proof
from streamproof.cli.init import write_templates
from streamproof.core.ends import End
from streamproof.errors import ScenarioError
from streamproof.proof import prove


def test_without_a_failure_it_says_so(tmp_path):
    target = tmp_path / "my_job"
    write_templates(target)

    with pytest.raises(ScenarioError, match="Every scenario passed when it was last tried"):
        prove(target, last_failed=True)


@pytest.mark.parametrize("end", [End.INTERRUPTED, End.TIME_BUDGET])
def test_only_a_proof_that_was_interrupted_ends_in_ctrl_c_whatever_its_notes_say(tmp_path, monkeypatch, end):
    target = tmp_path / "my_job"
    write_templates(target)
    found = {"verdict": "unknown", "end": str(end), "notes": ["it was interrupted"], "counts": {}}
    monkeypatch.setattr(proof, "run_proof", lambda *_: found)
    monkeypatch.setattr(proof.store, "write", lambda *_: None)

    stopped = False
    try:
        prove(target)
    except KeyboardInterrupt:
        stopped = True

    assert stopped is (end is End.INTERRUPTED)
