"""The proof of a mutant: in this process, whose oracle and checkers are sound, or in one of its own, with the mistake everywhere."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mutants.broken_copy import broken_copy
from mutants.catalogue import Mutant, Selection
from streamproof.config import load
from streamproof.core.verdict import Verdict
from streamproof.errors import StreamproofError
from streamproof.prove import events
from streamproof.prove.options import Amount, Options, Surroundings
from streamproof.prove.options import Selection as Scenarios
from streamproof.prove.run import run_proof
from streamproof.prove.subjects.job.preparation import JobPreparation

RECORDING = "recording"
_TESTS = Path(__file__).parents[1]
_PATIENCE_SECONDS = 1_800


@dataclass(frozen=True)
class Seen:
    """What a proof says: its verdict, and by checker the scenarios in which that fails."""

    verdict: str
    failing: dict[str, list[str]]

    def found_by(self, checkers: Sequence[str]) -> list[str]:
        """Those of the checkers that fail."""
        return [checker for checker in checkers if checker in self.failing]


def proved(mutant: Mutant, folder: Path) -> Seen:
    """Proves the mutant; ValueError if it does not apply any more, RuntimeError if its proof gave no report."""
    copy = broken_copy(mutant, folder)
    if not mutant.elsewhere:
        return prove_here(mutant.selection, folder, copy)
    said = folder / "seen.json"
    command = [sys.executable, "-m", "mutants.proving", json.dumps(asdict(mutant.selection)), str(folder), str(said)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(copy), str(_TESTS)))}
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False
    )
    if not said.is_file():
        raise RuntimeError(f"its proof ended with {done.returncode}: {(done.stdout + done.stderr)[-2_000:]}")
    return Seen(**json.loads(said.read_text()))


def prove_here(selection: Selection, folder: Path, child_python_path: Path | None = None) -> Seen:
    """Proves the product of this process; the children of the proof import it from another place where one is given.

    A job that stops while it is recorded fails too (exit code 1): that is the checker "recording".
    """
    try:
        report = report_here(selection, folder, child_python_path)
    except StreamproofError as stopped:
        if stopped.exit_code != Verdict.FAIL.exit_code:
            raise
        return Seen("fail", {RECORDING: [RECORDING]})
    failing: dict[str, list[str]] = {}
    for scenario in report["scenarios"]:
        for check in scenario["checks"]:
            if check["verdict"] == "fail":
                failing.setdefault(check["name"], []).append(scenario["id"])
    return Seen(report["verdict"], failing)


def report_here(selection: Selection, folder: Path, child_python_path: Path | None = None) -> dict[str, Any]:
    """The whole report of such a proof."""
    target = folder / "job"
    shutil.copytree(selection.folder, target, ignore=shutil.ignore_patterns(".streamproof", "checkpoints", "out"))
    for name, before, after in selection.change:
        file = target / name
        if file.read_text().count(before) != 1:
            raise ValueError(f"{before!r} is not once in {name} of {selection.job}")
        file.write_text(file.read_text().replace(before, after))

    def told(event: events.Event) -> None:
        if selection.rate_at_restart is not None and isinstance(event, events.Recorded):
            (target / "rate.txt").write_text(str(selection.rate_at_restart))

    options = Options(
        str(target),
        amount=Amount(events=selection.events, batches=selection.batches),
        selection=Scenarios(only=selection.only, full=selection.plan == "full", quick=selection.plan == "quick"),
        surroundings=Surroundings(child_python_path=str(child_python_path) if child_python_path else None),
    )
    config = load(target, profile=selection.profile or None)
    preparation = JobPreparation.of(config, events=selection.events, batches=selection.batches)
    return run_proof(preparation, options, folder / "proof", told)


def main(selection: str, folder: str, said: str) -> None:
    given = json.loads(selection)
    given["change"] = tuple(map(tuple, given["change"]))
    with tempfile.TemporaryDirectory(dir=folder) as own:
        seen = prove_here(Selection(**given), Path(own))
    Path(said).write_text(json.dumps(asdict(seen)))


if __name__ == "__main__":
    main(*sys.argv[1:])
