"""`make demo-services`: proves risk_exposure on Kafka and PostgreSQL, and payments on Kafka and an API, at every step; leaves reports/."""

import sys
from pathlib import Path

from rich.console import Console

import streamproof as sp
from streamproof.cli.progress import progress_on
from streamproof.report.terminal import print_summary

EXAMPLES = Path(__file__).parent.relative_to(Path.cwd()) if Path(__file__).is_relative_to(Path.cwd()) else Path(__file__).parent
REPORTS = Path("reports/demo-services")
EVENTS, BATCHES, BROKERS = 2_000, 3, 3
"""Each scenario runs the job anew, against services of its own: fewer events than in the demo on files, which starts from disks."""


def main() -> int:
    """0 if both examples passed."""
    console = Console(highlight=False)
    console.rule("1 of 2: risk_exposure, Kafka (Avro) to PostgreSQL and Kafka")
    console.print(
        "A broker, a schema registry and a database are started for it, and gone afterwards. This takes some ten minutes."
    )
    exposure = proved(console, EXAMPLES / "risk_exposure", REPORTS / "risk_exposure", profile="services", events=EVENTS)
    console.rule("2 of 2: payments, Kafka to an API without transactions")
    paid = proved(console, EXAMPLES / "payments", REPORTS / "payments")
    console.rule()
    if exposure.verdict != "pass" or paid.verdict != "pass":
        console.print(f"It did not go as it should: risk_exposure is {exposure.verdict}, payments is {paid.verdict}.")
        return 1
    console.print(f"Nothing lost, nothing doubled, in any sink. Look at {REPORTS / 'risk_exposure' / 'report.html'}.")
    return 0


def proved(console: Console, job: Path, report: Path, *, profile: str | None = None, events: int | None = None) -> sp.Proof:
    """One proof with its progress and summary on the console."""
    with progress_on(console) as progress:
        batches = BATCHES if events is not None else None
        proof = sp.prove(job, profile=profile, events=events, batches=batches, brokers=BROKERS, report=report, listener=progress)
    console.print()
    print_summary(proof.report, console, where=str(report / "report.html"))
    return proof


if __name__ == "__main__":
    sys.exit(main())
