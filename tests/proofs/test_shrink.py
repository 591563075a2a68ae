"""A failing scenario of a broken example is made small: what is left fails when it is run again, and passes once the job is mended."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from streamproof.proof import Proof, prove
from streamproof.report import store
from streamproof.shrunk import shrink

EXAMPLES = Path(__file__).parents[2] / "examples"
BROKEN = '"../mutants/appends-on-replay/broken/sinks.py:AppendingSink"'
SCENARIO = "publish/exposure@1:after"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shrinking")
    for name in ("risk_exposure", "risk_exposure_broken", "mutants"):
        shutil.copytree(EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns(".streamproof", "checkpoints", "out"))
    return folder / "risk_exposure_broken"


def codes(proof: Proof) -> set[tuple[str, str]]:
    checks = [check for scenario in proof.failures for check in scenario["checks"]]
    return {(check["name"], finding["code"]) for check in checks for finding in check["findings"]}


def looked_into(proof: Proof) -> bool:
    """Whether the report has both sides of the state, which are right, and the story of the event, which is not."""
    state, followed = proof.report["state"], proof.report["followed"]
    assert (state["scenario"], state["recovered"]) == (SCENARIO, True)
    windows, ids = state["operators"]
    assert (windows["key"], windows["values"]) == (["window_end", "client"], ["records", "exposure", "trades"])
    assert (ids["key"], ids["values"]) == (["trade_id"], ["expires_at"])
    for one in (windows, ids):
        assert (one["crash"]["batch"], one["after"]["batch"], one["unsound"]) == (0, 1, 0)
        assert one["counts"]["gone"] + one["counts"]["same"] + one["counts"]["changed"] == one["crash"]["rows"] > 0
        assert 0 < len(one["rows"]) <= 280
    first = followed["events"][0]
    assert (first["scenario"], first["named"]) == (SCENARIO, True)
    assert first["ends"].startswith("WRONG: its row is in exposure 2 times")
    return any(row["wrong"] for row in followed["rows"])


@pytest.mark.full
def test_a_broken_example_is_reduced_to_a_handful_of_events_that_fail_until_it_is_mended(job: Path) -> None:
    failing = prove(job, only=SCENARIO, events=600)
    assert failing.verdict == "fail"
    assert f"streamproof shrink {job} {SCENARIO}" in (failing.folder / "report.html").read_text()
    assert looked_into(failing)

    found = shrink(failing.folder, budget=timedelta(minutes=5))

    result = found.result
    assert (result.whole.events, result.whole.batches, result.whole.faults) == (600, 3, 1)
    assert result.smallest.events <= 10
    assert result.smallest.batches <= 2
    assert result.smallest.faults == 1
    assert result.again
    assert result.failed is not None
    name, file = result.failed.scenario, failing.folder / "smallest.json"
    page, data = (failing.folder / "report.html").read_text(), store.load(failing.folder)
    assert found.replay in page
    assert data["smallest"]["size"]["events"] == result.smallest.events == len(data["smallest"]["events"])
    story = data["smallest"]["story"]
    assert any(label == "WRONG" and text.startswith("its row is in exposure 2 times") for label, text in story), story
    assert data["followed"] == failing.report["followed"], "the rest stays"

    again = prove(job, only=name, exactly=file)
    assert again.verdict == "fail"
    assert (found.finding.checker, found.finding.code) in codes(again)
    assert again.report["events"] == result.smallest.events

    settings = job / "streamproof.toml"
    settings.write_text(settings.read_text().replace(f"connector = {BROKEN}", 'connector = "files"'))
    mended = prove(job, only=name, exactly=file)
    assert mended.verdict == "pass", repr(mended)
