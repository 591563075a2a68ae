"""`make demo-services`: an incident on a real Redis is caught, three examples are proved on real services, and one is watched by Prometheus; leaves reports/.

`--quick` takes the quick plan for all of them.
"""

import argparse
import sys
from pathlib import Path

from observability.watched import watched
from rich.console import Console

import streamproof as sp
from streamproof.lab import prometheus
from streamproof.progress import progress_on
from streamproof.report.terminal import print_summary

EXAMPLES = Path(__file__).parent.relative_to(Path.cwd()) if Path(__file__).is_relative_to(Path.cwd()) else Path(__file__).parent
REPORTS = Path("reports/demo-services")
INCIDENT = EXAMPLES / "mutants" / "state-outside-the-checkpoint" / "redis" / "broken"
TRADES, REQUESTS, BATCHES_OF_REQUESTS, BROKERS = 5_000, 200, 2, 3
"""Each scenario runs the job anew, in places of its own: fewer events than in the demo on files, which starts from disks. Trades come in
the scenario's own five batches: with fewer, a crash after the last one would leave more in open windows than the scenario allows."""


def main() -> int:
    """0 if the incident was caught and both examples passed."""
    parser = argparse.ArgumentParser(description="Proves examples on real services.")
    parser.add_argument("--quick", action="store_true", help="one crash for each kind of step")
    quick = parser.parse_args().quick
    console = Console(highlight=False)
    console.rule("1 of 5: totals in Redis, beside the checkpoint, are doubled by a restart")
    incident = proved(console, INCIDENT, "incident", only="publish/takings@2:after+live")
    console.rule("2 of 5: risk_exposure, Kafka (Avro, with a registry) to PostgreSQL and Kafka")
    console.print(
        "Three brokers, a registry and a database are started for it, and gone afterwards. The job is crashed at every step, then they are."
    )
    exposure = proved(
        console, EXAMPLES / "risk_exposure", "risk_exposure", profile="services", events=TRADES, brokers=BROKERS, quick=quick
    )
    console.rule("3 of 5: payments, Kafka to an API without transactions")
    paid = proved(
        console, EXAMPLES / "payments", "payments", events=REQUESTS, batches=BATCHES_OF_REQUESTS, brokers=BROKERS, quick=quick
    )
    console.rule("4 of 5: recommendations, Kafka and a table to Redis: what a key remembers, by the quick plan")
    known = proved(console, EXAMPLES / "recommendations", "recommendations", profile="services", brokers=BROKERS, quick=True)
    console.rule("5 of 5: observability as a service, watched by Prometheus: its database dies")
    if prometheus.found() is None:
        console.print("Not shown: Prometheus is not installed (Debian: apt install prometheus).")
    elif not watched(console, (REPORTS / "observability").absolute()):
        console.print("It did not go as it should: look at the lines above.")
        return 1
    console.rule()
    verdicts = [incident.verdict, exposure.verdict, paid.verdict, known.verdict]
    expected = ["fail", "pass", "pass", "pass"]
    if verdicts != expected:
        console.print(f"It did not go as it should: the verdicts are {', '.join(verdicts)}; expected were {', '.join(expected)}.")
        return 1
    console.print(
        f"The incident is caught. Nothing lost, nothing doubled, in any sink. Look at {REPORTS / 'risk_exposure/report.html'}."
    )
    return 0


def proved(
    console: Console,
    job: Path,
    name: str,
    *,
    only: str | None = None,
    profile: str | None = None,
    events: int | None = None,
    batches: int | None = None,
    brokers: int = 1,
    quick: bool = False,
) -> sp.Proof:
    """One proof with its progress and summary on the console."""
    report = REPORTS / name
    with progress_on(console) as progress:
        proof = sp.prove(
            job,
            profile=profile,
            only=only,
            events=events,
            batches=batches,
            brokers=brokers,
            quick=quick,
            report=report,
            listener=progress,
        )
    console.print()
    print_summary(proof.report, console, where=str(report / "report.html"))
    return proof


if __name__ == "__main__":
    sys.exit(main())
