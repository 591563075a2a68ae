"""Our own product broken on purpose: each patch of `broken/` is applied to a copy of it, and a proof must turn red (part 7).

The children of a proof run the broken copy; the proving process, with oracle and checkers, stays sound.
"""

import fnmatch
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamproof.config import load
from streamproof.prove.run import Options, run_proof

pytestmark = [pytest.mark.spark, pytest.mark.proof, pytest.mark.slow]
HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"


@dataclass(frozen=True)
class Edit:
    """Replaces a text, which must be there once, in a file below src/streamproof."""

    file: str
    find: str
    replace: str


@dataclass(frozen=True)
class Patch:
    """A mistake: its edits, the checkers of which at least one must say fail, and the scenarios that show it."""

    name: str
    edits: tuple[Edit, ...]
    checkers: tuple[str, ...]
    only: str
    full: bool = False
    events: int | None = None

    def __str__(self) -> str:
        return self.name


def _patch(path: Path) -> Patch:
    found = tomllib.loads(path.read_text())
    return Patch(
        path.stem,
        tuple(Edit(**edit) for edit in found["edit"]),
        tuple(found["checkers"]),
        found["only"],
        found.get("full", False),
        found.get("events"),
    )


# All scenarios of the patches, in three proofs: stage and publish; the side rows; power failures in plan and publish.
SOUND = (("[sp][tu][ab]*@2:after", False), ("work/side.rejected.*@1:after", False), ("p[lu][abi]*@2:after+truncated", True))
PATCHES = [_patch(path) for path in sorted((HERE / "broken").glob("*.toml"))]


def _broken_copy(patch: Patch, folder: Path) -> Path:
    copy = folder / "broken-src"
    shutil.copytree(SOURCE / "streamproof", copy / "streamproof", ignore=shutil.ignore_patterns("__pycache__"))
    for edit in patch.edits:
        path = copy / "streamproof" / edit.file
        text = path.read_text()
        assert text.count(edit.find) == 1, f"{patch}: the text is {text.count(edit.find)} times in {edit.file}, must be once"
        changed = text.replace(edit.find, edit.replace)
        compile(changed, str(path), "exec")
        path.write_text(changed)
    return copy


def _proved(tmp_path: Path, *, only: str, full: bool, python_path: Path | None, events: int | None = None) -> dict[str, Any]:
    target = tmp_path / "job"
    shutil.copytree(HERE / "jobs" / "full_plan", target)
    child = str(python_path) if python_path else None
    options = Options(str(target), only=only, full=full, events=events, child_python_path=child)
    return run_proof(load(target), options, tmp_path / "proof")


def test_there_are_at_least_ten_patches() -> None:
    assert len(PATCHES) >= 10


@pytest.mark.parametrize("patch", PATCHES, ids=str)
def test_the_patch_still_applies(patch: Patch, tmp_path: Path) -> None:
    _broken_copy(patch, tmp_path)


@pytest.mark.parametrize("patch", PATCHES, ids=str)
def test_the_broken_product_turns_a_proof_red(patch: Patch, tmp_path: Path) -> None:
    copy = _broken_copy(patch, tmp_path)
    report = _proved(tmp_path, only=patch.only, full=patch.full, events=patch.events, python_path=copy)
    red = {check["name"] for scenario in report["scenarios"] for check in scenario["checks"] if check["verdict"] == "fail"}
    assert report["verdict"] == "fail", f"{patch} stays {report['verdict']}"
    assert red & set(patch.checkers), f"{patch} is found by {sorted(red)}, not by {patch.checkers}"


@pytest.mark.parametrize("patch", PATCHES, ids=str)
def test_the_scenarios_of_the_patch_are_among_the_sound_ones(patch: Patch) -> None:
    assert any(full is patch.full and fnmatch.fnmatchcase(patch.only.replace("*", "x"), only) for only, full in SOUND)


@pytest.mark.parametrize(("only", "full"), SOUND)
def test_the_sound_product_passes_the_same_scenarios(only: str, full: bool, tmp_path: Path) -> None:
    report = _proved(tmp_path, only=only, full=full, python_path=None)
    assert report["verdict"] == "pass", [scenario for scenario in report["scenarios"] if scenario["verdict"] != "pass"]
