"""Proves every mutant: `make mutants`; those whose names fit: `make mutants ONLY='late-*'`; those on services too: `make mutants SERVICES=1`."""

import argparse
import fnmatch
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mutants.catalogue import ROOT, Mutant, catalogue, in_groups
from mutants.verdict import Fate, Result, judged
from mutants.workers import Done, ask_all
from streamproof.core.clock import monotonic_seconds

REPORT = ROOT / "reports" / "mutants.json"


def main() -> int:
    """0 if what was seen is what the catalogue says."""
    parser = argparse.ArgumentParser(
        prog="mutants", description="Proves mutants of Streamproof, each of which must turn a proof red."
    )
    parser.add_argument("--only", default="*", help="a glob of names, or several with commas")
    parser.add_argument("--services", action="store_true", help="those too whose proof starts services")
    parser.add_argument("--side-by-side", type=int, default=1, choices=(1, 2), help="each takes some 5 GB")
    parser.add_argument("--list", action="store_true", help="show them, and prove nothing")
    asked = parser.parse_args()
    mutants = _wanted(catalogue(), asked.only)
    left_out = [] if asked.services else [mutant for mutant in mutants if mutant.services]
    mutants = [mutant for mutant in mutants if mutant not in left_out]
    if asked.list:
        for mutant in [*mutants, *left_out]:
            print(f"{mutant.name:45} {mutant.rule:5} {mutant.says}")
        return 0
    if not mutants:
        print(f"no mutant is called {asked.only}; those on services take SERVICES=1; `python -m mutants --list` shows them")
        return 2
    scratch = Path(tempfile.mkdtemp(prefix="streamproof-mutants-"))
    try:
        results, alarms = _proved(mutants, asked.side_by_side, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    _summary(results, left_out, alarms)
    return 1 if alarms or any(result.mend for result in results) else 0


def _wanted(mutants: Sequence[Mutant], only: str) -> list[Mutant]:
    return [mutant for mutant in mutants if any(fnmatch.fnmatchcase(mutant.name, part) for part in only.split(","))]


def _proved(mutants: Sequence[Mutant], side_by_side: int, scratch: Path) -> tuple[list[Result], list[str]]:
    """First what the sound product does in the same scenarios, which are proved together; then every mutant.

    Gives the results, and where the sound product does not pass although its job does not change at the restart.
    """
    sound: dict[tuple[object, ...], dict[str, Any]] = {}
    results: list[Result] = []
    alarms: list[str] = []
    groups = in_groups(mutants)
    on_services = any(mutant.services for mutant in mutants)
    print(f"{len(mutants)} mutants; first the sound product, in {len(groups)} proofs of the same scenarios", flush=True)

    def of_sound(done: Done) -> None:
        group, said = list(groups)[int(done.key)], done.answer
        sound[group] = said
        selection = groups[group]
        shown = _sound_shown(said)
        print(f"sound  {len(sound)} of {len(groups)}  {selection.job}: {shown}  {done.seconds:.0f} s", flush=True)
        if selection.rate_at_restart is None and said.get("verdict") != "pass":
            alarms.append(f"{selection}: {shown}")

    questions = [(str(n), {"sound": asdict(selection)}) for n, selection in enumerate(groups.values())]
    by_name = {mutant.name: mutant for mutant in mutants}

    def of_mutant(done: Done) -> None:
        mutant = by_name[done.key]
        result = judged(mutant, done.answer, sound[mutant.selection.group], done.seconds)
        results.append(result)
        print(f"{len(results)} of {len(mutants)}  {mutant.name}: {result}  {done.seconds:.0f} s", flush=True)
        _write(results)

    began = monotonic_seconds()
    ask_all(questions, min(side_by_side, len(questions)), scratch, of_sound, on_services=on_services)
    ask_all(
        [(mutant.name, {"mutant": mutant.name}) for mutant in mutants], side_by_side, scratch, of_mutant, on_services=on_services
    )
    print(f"{monotonic_seconds() - began:.0f} seconds")
    return results, alarms


def _sound_shown(said: dict[str, Any]) -> str:
    """What a proof of the sound product says, in a line."""
    if "problem" in said:
        return str(said["problem"])
    return "; ".join([said["verdict"], *(f"{checker} in {', '.join(where[:3])}" for checker, where in said["failing"].items())])


def _write(results: Sequence[Result]) -> None:
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    red = sum(result.fate is Fate.RED for result in results)
    REPORT.write_text(json.dumps({"red": red, "of": len(results), "mutants": [result.as_dict() for result in results]}, indent=1))


def _summary(results: Sequence[Result], left_out: Sequence[Mutant], alarms: Sequence[str]) -> None:
    red = [result for result in results if result.fate is Fate.RED]
    print(f"\n{len(red)} of {len(results)} turned red by a proof; {REPORT.relative_to(ROOT)}")
    for result in results:
        if result.fate is not Fate.RED:
            print(f"  {result.fate}: {result.mutant.name} ({result.mutant.rule}): {result.why}")
    for result in results:
        if result.mend:
            print(
                f"  the catalogue is to be mended: {result.mutant.name}: {result.mend}; seen: {', '.join(result.by) or result.fate}"
            )
    for alarm in alarms:
        print(f"  the sound product does not pass {alarm}")
    if left_out:
        print(f"  not tried, since they take services (SERVICES=1): {', '.join(mutant.name for mutant in left_out)}")


if __name__ == "__main__":
    sys.exit(main())
