"""`prove --last-failed` where nothing has failed says so, and does not prove everything anew."""

import pytest

from streamproof import proof
from streamproof.cli.init import write_templates
from streamproof.core.ends import End
from streamproof.errors import ScenarioError
from streamproof.proof import prove
from streamproof.prove.subjects.pyspark.preparation import Wanted


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


def test_what_is_expected_is_part_of_a_plain_job_for_the_proof_and_for_its_plan(tmp_path, monkeypatch):
    (tmp_path / "job.py").write_text("def plain(clicks):\n    return clicks\n")
    asked = []
    monkeypatch.setattr(proof, "named", lambda _target, job, *_, **__: asked.append(job))
    target, inputs = f"{tmp_path / 'job.py'}:plain", {"clicks": "clicks.jsonl"}

    for one in (proof.prove, proof.plan):
        with pytest.raises(AttributeError):
            one(target, inputs=inputs, expect="late=9")
        with pytest.raises(AttributeError):
            one(target, expect=["late=9", "unbounded-state"], job=Wanted(target, inputs, expect=("late=1",)))

    assert (
        asked
        == [Wanted(target, inputs, expect=("late=9",)), Wanted(target, inputs, expect=("late=1", "late=9", "unbounded-state"))] * 2
    )


def test_what_is_expected_of_a_job_of_ours_stands_in_its_scenario(tmp_path):
    target = tmp_path / "my_job"
    write_templates(target)

    with pytest.raises(ScenarioError, match="is a job that was written with Streamproof") as problem:
        prove(target, expect="late=9")

    assert "[expect]" in str(problem.value)
