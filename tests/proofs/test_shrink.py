"""A failing scenario of a broken example is made small: what is left fails when it is run again, and passes once the job is mended."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from streamproof.proof import Proof, prove
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


def test_a_broken_example_is_reduced_to_a_handful_of_events_that_fail_until_it_is_mended(job: Path) -> None:
    failing = prove(job, only=SCENARIO, events=600)
    assert failing.verdict == "fail"

    found = shrink(failing.folder, budget=timedelta(minutes=5))

    result = found.result
    assert (result.whole.events, result.whole.batches, result.whole.faults) == (600, 3, 1)
    assert result.smallest.events <= 10
    assert result.smallest.batches <= 2
    assert result.smallest.faults == 1
    assert result.again
    assert result.failed is not None
    name, file = result.failed.scenario, failing.folder / "smallest.json"

    again = prove(job, only=name, exactly=file)
    assert again.verdict == "fail"
    assert (found.finding.checker, found.finding.code) in codes(again)
    assert again.report["events"] == result.smallest.events

    settings = job / "streamproof.toml"
    settings.write_text(settings.read_text().replace(f"connector = {BROKEN}", 'connector = "files"'))
    mended = prove(job, only=name, exactly=file)
    assert mended.verdict == "pass", repr(mended)
