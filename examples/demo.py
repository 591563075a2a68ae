"""`make demo`: proves risk_exposure with a mistake planted (red), then as it is (green), and leaves reports/demo/."""

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

import streamproof as sp
from streamproof.progress import progress_on
from streamproof.report.terminal import print_summary

EXAMPLES = Path(__file__).parent.relative_to(Path.cwd()) if Path(__file__).is_relative_to(Path.cwd()) else Path(__file__).parent
REPORTS = Path("reports/demo")
QUICK_EVENTS = 5_000


def main() -> int:
    """0 if the mistake was caught and the correct job passed."""
    parser = argparse.ArgumentParser(prog="demo", description="Proves risk_exposure with a mistake planted, then as it is.")
    parser.add_argument("--quick", action="store_true", help="the quick plan and 5,000 trades for the correct job, as CI has it")
    quick = parser.parse_args().quick
    console = Console(highlight=False)
    console.rule("1 of 2: a mistake is planted")
    console.print("The sink appends its rows again when a batch is replayed.")
    red = proved(console, EXAMPLES / "risk_exposure_broken", REPORTS / "mistake", stop_at_first=True)
    console.print("  here        the command of a checkout is .venv/bin/streamproof")
    console.rule("2 of 2: no mistake")
    long = "The quick plan: about a minute." if quick else "This takes some minutes, on a slow machine more than ten."
    console.print(f"The same job with the sink as shipped. {long}")
    events = QUICK_EVENTS if quick else None
    green = proved(console, EXAMPLES / "risk_exposure", REPORTS, quick=quick, events=events)
    console.rule()
    if red.verdict != "fail" or green.verdict != "pass":
        console.print(f"The demo did not go as it should: the mistake was {red.verdict}, the correct job {green.verdict}.")
        return 1
    console.print(
        f"The mistake was caught, the correct job passed. Look at {REPORTS / 'report.html'} and {REPORTS / 'mistake' / 'report.html'}."
    )
    console.print("Next, a job of your own:")
    console.print("  .venv/bin/streamproof init my_job && .venv/bin/streamproof prove my_job")
    return 0


def proved(console: Console, job: Path, report: Path, **options: Any) -> sp.Proof:
    """One proof with its progress and summary on the console; `options` are those of `sp.prove`."""
    with progress_on(console) as progress:
        proof = sp.prove(job, report=report, listener=progress, **options)
    console.print()
    print_summary(proof.report, console, where=str(report / "report.html"))
    return proof


if __name__ == "__main__":
    sys.exit(main())
