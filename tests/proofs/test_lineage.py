"""What a proof keeps of a real run: every event can be followed, and where all of them end adds up to the account."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from streamproof.cli.main import main
from streamproof.proof import prove
from streamproof.prove.lineage.kept import Kept
from streamproof.prove.lineage.moments import Kind
from streamproof.prove.lineage.tracing import FAULT_FREE, Run

JOB = Path(__file__).parent / "jobs" / "full_plan"
CRASHED = "publish/exposure@1:after"


def places_of(run: Run) -> Counter[str]:
    """Where the events end, by the words of the account; a row of a window is published for each of its events."""
    found: Counter[str] = Counter()
    for event in run.events.values():
        (way,) = (follower.follow(event) for follower in run.followers)
        assert not way.wrong, (event.trace, way.moments)
        for moment in way.moments:
            if moment.kind is Kind.LEFT:
                found[moment.about["side"]] += 1
            elif moment.kind in (Kind.GROUPED, Kind.OPEN):
                found["emitted" if moment.kind is Kind.GROUPED else "open_state"] += 1
    return found


def test_p9_every_event_is_followed_to_its_place_and_every_row_back_to_its_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))

    proof = prove(job, only=CRASHED)

    assert proof, repr(proof)
    scenarios = {entry["id"]: entry for entry in proof.report["scenarios"]}
    kept = Kept(proof.folder)
    for name in (FAULT_FREE, CRASHED):
        run = Run(kept, proof.report["scenarios"], name)
        account = scenarios[name]["account"]
        assert places_of(run) == {place: count for place, count in account.items() if count and place not in ("input", "expanded")}
        rows = run.rows("true", "exposure")
        assert all(origin.agrees for origin in rows)
        assert sum(len(origin.traces) for origin in rows) == account["emitted"]
    late = next(
        event for event in run.events.values() if Kind.LEFT in [m.kind for w in run.event(event.trace)[0].ways for m in w.moments]
    )
    capsys.readouterr()

    assert main(["trace", str(job), late.ids[0] if late.ids else late.trace, "--scenario", CRASHED]) == 0

    said = capsys.readouterr().out
    assert "left by" in said
    assert "after output exposure of batch 1 was published" in said
    assert main(["trace", str(job), late.trace, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["events"][0]["other_scenarios"]["known"] == 1
