"""Our own product broken on purpose: each patch of `broken/` is applied to a copy of it, and a proof must turn red (part 7).

The children of a proof run the broken copy; the proving process, with oracle and checkers, stays sound. A patch that is `everywhere` is in
that process too: the oracle must not take from the product what it judges (R28).
"""

import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamproof.config import load
from streamproof.prove import events
from streamproof.prove.run import Options, run_proof

pytestmark = [pytest.mark.spark, pytest.mark.proof, pytest.mark.slow]
HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Edit:
    """Replaces a text, which must be there once, in a file below src/streamproof, or below jvm/ where its name begins so."""

    file: str
    find: str
    replace: str


@dataclass(frozen=True)
class Patch:
    """A mistake: its edits, the checkers of which at least one must say fail, and the scenarios that show it.

    `rate_at_restart` is for the job "converted": its rate changes once the run is recorded. `everywhere`: the prover has the mistake too.
    """

    name: str
    edits: tuple[Edit, ...]
    checkers: tuple[str, ...]
    only: str
    full: bool = False
    events: int | None = None
    job: str = "full_plan"
    rate_at_restart: float | None = None
    everywhere: bool = False

    @property
    def java(self) -> bool:
        """Whether it is in the Java classes: they live in the JVM of the proof."""
        return any(edit.file.startswith("jvm/") for edit in self.edits)

    @property
    def elsewhere(self) -> bool:
        """Whether the whole proof runs in a process of its own."""
        return self.java or self.everywhere

    def __str__(self) -> str:
        return self.name


def _patch(path: Path) -> Patch:
    found = tomllib.loads(path.read_text())
    edits = tuple(Edit(**edit) for edit in found.pop("edit"))
    return Patch(path.stem, edits, tuple(found.pop("checkers")), **found)


# All scenarios of the patches, in three proofs: stage and publish; the side rows; power failures in plan and publish.
SOUND = (("[sp][tu][ab]*@2:after", False), ("work/side.rejected.*@1:after", False), ("p[lu][abi]*@2:after+truncated", True))
PATCHES = [_patch(path) for path in sorted((HERE / "broken").glob("*.toml"))]


def _broken_copy(patch: Patch, folder: Path) -> Path:
    """A copy of the sources with the patch in it; its Java classes are compiled where the patch is in them."""
    copy = folder / "broken"
    shutil.copytree(ROOT / "src" / "streamproof", copy / "src" / "streamproof", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "jvm", copy / "jvm")
    shutil.copy(ROOT / "hatch_build.py", copy)
    for edit in patch.edits:
        path = copy / edit.file if edit.file.startswith("jvm/") else copy / "src" / "streamproof" / edit.file
        text = path.read_text()
        assert text.count(edit.find) == 1, f"{patch}: the text is {text.count(edit.find)} times in {edit.file}, must be once"
        path.write_text(text.replace(edit.find, edit.replace))
        if path.suffix == ".py":
            compile(path.read_text(), str(path), "exec")
    if patch.java:
        built = subprocess.run([sys.executable, "hatch_build.py"], cwd=copy, capture_output=True, text=True, check=True)
        assert "streamproof-production.jar" in built.stdout
    return copy / "src"


def _proved(
    tmp_path: Path,
    *,
    only: str,
    full: bool = False,
    python_path: Path | None = None,
    number_of_events: int | None = None,
    job: str = "full_plan",
    rate_at_restart: float | None = None,
) -> dict[str, Any]:
    target = tmp_path / "job"
    shutil.copytree(HERE / "jobs" / job, target)

    def told(event: events.Event) -> None:
        if rate_at_restart is not None and isinstance(event, events.Recorded):
            (target / "rate.txt").write_text(str(rate_at_restart))

    child = str(python_path) if python_path else None
    options = Options(str(target), only=only, full=full, events=number_of_events, child_python_path=child)
    return run_proof(load(target), options, tmp_path / "proof", told)


def _proved_elsewhere(patch: Patch, tmp_path: Path, python_path: Path) -> dict[str, Any]:
    """The report of a proof in a process, and a JVM, of its own that has the broken copy in it."""
    command = "import sys; from streamproof.cli.main import main; sys.exit(main())"
    arguments = ["prove", str(HERE / "jobs" / patch.job), "--only", patch.only, "--report", str(tmp_path / "report")]
    arguments += [] if patch.events is None else ["--events", str(patch.events)]
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments],
        env={**os.environ, "PYTHONPATH": str(python_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    report: dict[str, Any] = json.loads((tmp_path / "report" / "report.json").read_text())
    return report


def _red(report: dict[str, Any]) -> set[str]:
    return {check["name"] for scenario in report["scenarios"] for check in scenario["checks"] if check["verdict"] == "fail"}


def test_there_are_at_least_ten_patches() -> None:
    assert len(PATCHES) >= 10


@pytest.mark.parametrize("patch", PATCHES, ids=str)
def test_the_patch_still_applies(patch: Patch, tmp_path: Path) -> None:
    _broken_copy(patch, tmp_path)


@pytest.mark.parametrize("patch", PATCHES, ids=str)
def test_the_broken_product_turns_a_proof_red(patch: Patch, tmp_path: Path) -> None:
    copy = _broken_copy(patch, tmp_path)
    if patch.elsewhere:
        report = _proved_elsewhere(patch, tmp_path, copy)
    else:
        report = _proved(
            tmp_path,
            only=patch.only,
            full=patch.full,
            number_of_events=patch.events,
            python_path=copy,
            job=patch.job,
            rate_at_restart=patch.rate_at_restart,
        )
    red = _red(report)
    assert report["verdict"] == "fail", f"{patch} stays {report['verdict']}"
    assert red & set(patch.checkers), f"{patch} is found by {sorted(red)}, not by {patch.checkers}"


@pytest.mark.parametrize("patch", [patch for patch in PATCHES if patch.job == "full_plan"], ids=str)
def test_the_scenarios_of_the_patch_are_among_the_sound_ones(patch: Patch) -> None:
    """What the sound product does with the job of the others has a test of its own."""
    if patch.only == "fault-free":
        return  # every proof has it
    assert any(full is patch.full and fnmatch.fnmatchcase(patch.only.replace("*", "x"), only) for only, full in SOUND)


@pytest.mark.parametrize(("only", "full"), SOUND)
def test_the_sound_product_passes_the_same_scenarios(only: str, full: bool, tmp_path: Path) -> None:
    report = _proved(tmp_path, only=only, full=full, python_path=None)
    assert report["verdict"] == "pass", [scenario for scenario in report["scenarios"] if scenario["verdict"] != "pass"]


def test_the_sound_product_stops_where_a_replay_computes_something_else(tmp_path: Path) -> None:
    """R4: nothing wrong is published; with "replay-not-compared" the same proof finds rows of two rates."""
    report = _proved(tmp_path, only="publish/euros@1:after", job="converted", rate_at_restart=2.5)
    crash = next(scenario for scenario in report["scenarios"] if scenario["id"] != "fault-free")
    assert [check["name"] for check in crash["checks"]] == ["recovery"]
    assert "ran again and is not what was published" in crash["checks"][0]["findings"][0]["what"]
    assert report["scenarios"][0]["verdict"] == "pass", "without a restart the rate does not change"
