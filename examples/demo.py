"""`make demo`: proves risk_exposure with a mistake planted (red), then as it is (green), and leaves reports/demo/."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from demo_page import board_of, picture
from rich.console import Console

import streamproof as sp
from streamproof.cli.prove_screen import Told
from streamproof.progress import progress_on
from streamproof.prove.events import Event
from streamproof.report.terminal import print_summary

EXAMPLES = Path(__file__).parent.relative_to(Path.cwd()) if Path(__file__).is_relative_to(Path.cwd()) else Path(__file__).parent
REPORTS = Path("reports/demo")
FEW_EVENTS = 5_000
TWO_BATCHES = "fault-free,*@2:*,*@3:*"
"""The standard plan repeats itself batch by batch: two of the five have each kind of step, and are over in minutes on slow cores too."""
PLANS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "quick": ("One crash at each kind of step: about a minute.", {"quick": True, "events": FEW_EVENTS}),
    "two batches": (
        "A crash at every step of two of its five batches: some two minutes.",
        {"only": TWO_BATCHES, "events": FEW_EVENTS},
    ),
    "all": ("A crash at every step, over 50,000 trades. This takes some minutes, on a slow machine more than ten.", {}),
}
"""By name what is said of a plan for the correct job, and what `sp.prove` is asked for."""


def main() -> int:
    """0 if the mistake was caught and the correct job passed."""
    parser = argparse.ArgumentParser(prog="demo", description="Proves risk_exposure with a mistake planted, then as it is.")
    parser.add_argument("--plan", choices=PLANS, default="two batches", help="of the correct job; CI takes the quick one")
    said, options = PLANS[parser.parse_args().plan]
    console = Console(highlight=False)
    console.rule("1 of 2: a mistake is planted")
    console.print("The sink appends its rows again when a batch is replayed.")
    red = proved(console, EXAMPLES / "risk_exposure_broken", REPORTS / "mistake", stop_at_first=True)
    console.print("  here        the command of a checkout is .venv/bin/streamproof")
    console.rule("2 of 2: no mistake")
    console.print(f"The same job with the sink as shipped. {said}")
    board = board_of(EXAMPLES / "risk_exposure")
    green = proved(console, EXAMPLES / "risk_exposure", REPORTS, board, **options)
    console.rule()
    if red.verdict != "fail" or green.verdict != "pass":
        console.print(f"The demo did not go as it should: the mistake was {red.verdict}, the correct job {green.verdict}.")
        return 1
    console.print(
        f"The mistake was caught, the correct job passed. Look at {REPORTS / 'report.html'} and {REPORTS / 'mistake' / 'report.html'}."
    )
    console.print(f"This proof as a page in a browser shows it: {picture(board, green, REPORTS / 'live-page.png')}")
    console.print("To look at such a page while it fills up, start one of these and open http://127.0.0.1:9465:")
    console.print(f"  .venv/bin/streamproof prove {EXAMPLES / 'risk_exposure'} --quick --live 9465")
    console.print(f"  .venv/bin/streamproof run {EXAMPLES / 'risk_exposure'} --live 9465")
    console.print("Next, a job of your own:")
    console.print("  .venv/bin/streamproof init my_job && .venv/bin/streamproof prove my_job")
    return 0


def proved(console: Console, job: Path, report: Path, *listeners: Callable[[Event], None], **options: Any) -> sp.Proof:
    """One proof with its progress and summary on the console; `options` are those of `sp.prove`."""
    with progress_on(console) as progress:
        proof = sp.prove(job, report=report, listener=Told(progress, *listeners), **options)
    console.print()
    print_summary(proof.report, console, where=str(report / "report.html"))
    return proof


if __name__ == "__main__":
    sys.exit(main())
