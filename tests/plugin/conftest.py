"""A folder with a marked test and a report that stands in for its proof: what a proof finds is not the plugin's matter."""

import json
from typing import Any

import pytest

# Imported before an inner run begins: what it brings in by itself is taken out again after it, and numpy does not come twice.
from streamproof import proof
from streamproof.prove.subjects.job import writing  # noqa: F401
from streamproof.report import incident  # noqa: F401
from unit.report.conftest import build_red

FAILING, PASSING = "publish/exposure@3:after", "commit/commits@3:after"
TEST = """
import pytest

@pytest.mark.streamproof("my_job")
def test_survives_every_crash(streamproof_scenario):
    assert streamproof_scenario["id"]
"""
# In the conftest.py of the inner run, so that workers of pytest-xdist have it too.
FAKE = """
import json
import shutil
import types
from pathlib import Path

from streamproof import errors, proof

HERE = Path(__file__).parent


def note(name, target, options):
    with (HERE / "calls").open("a") as calls:
        calls.write(json.dumps([name, Path(target).name, options]) + "\\n")


def plan(target, **options):
    note("plan", target, options)
    if (HERE / "problem").exists():
        raise errors.ConfigurationError("my_job/streamproof.toml line 9: there is no key lagg.", remedy='Did you mean "lag"?')
    names = (HERE / "ids").read_text().split()
    return types.SimpleNamespace(ids=names)


def prove(target, *, progress=False, report=None, **options):
    note("prove", target, options)
    folder = HERE / "run"
    folder.mkdir(exist_ok=True)
    shutil.copy(HERE / "found.json", folder / "report.json")
    if report is not None:
        Path(report).mkdir(parents=True)
        shutil.copy(HERE / "found.json", Path(report) / "report.json")
    return types.SimpleNamespace(folder=folder, verdict="fail")


proof.plan, proof.prove = plan, prove
"""


class Folder:
    """Where the inner pytest runs."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.path = pytester, pytester.path
        self.report: Any = build_red(failing=1)
        kept = ("fault-free", PASSING, FAILING)
        self.report["scenarios"] = [entry for entry in self.report["scenarios"] if entry["id"] in kept]
        (self.path / "my_job").mkdir()
        pytester.makepyfile(test_job=TEST)
        pytester.makeconftest(FAKE)
        self.listed(PASSING, FAILING)

    def listed(self, *names: str) -> None:
        (self.path / "ids").write_text("\n".join(names))

    def run(self, *arguments: str) -> pytest.RunResult:
        (self.path / "found.json").write_text(json.dumps(self.report))
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    def calls(self) -> list[Any]:
        path = self.path / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setattr(proof, "plan", proof.plan)  # the inner conftest replaces them in this process
    monkeypatch.setattr(proof, "prove", proof.prove)
    monkeypatch.setenv("COLUMNS", "160")
    return Folder(pytester)
