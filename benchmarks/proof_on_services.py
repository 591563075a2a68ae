"""5,000 trades from Kafka (three brokers, Avro) to PostgreSQL and Kafka, standard plan: scenarios, minutes, what one of each fault costs."""

from collections import defaultdict
from pathlib import Path
from statistics import mean

import streamproof as sp

proof = sp.prove(Path(__file__).parents[1] / "examples" / "risk_exposure", profile="services", events=5_000, brokers=3)
report = proof.report
scenarios = report["scenarios"]
each = report["seconds"] / len(scenarios)
print(f"{report['verdict']}: {report['events']:,} events, {len(scenarios)} scenarios, {report['fired']} faults fired")
print(
    f"{report['seconds']:.0f} s in all, recording included: {each:.1f} s a scenario; 200 in {200 * each / 60:.1f} minutes (limit: 20)"
)
took = defaultdict(list)
for scenario in scenarios:
    took[scenario["fault"]].append(scenario["seconds"])
print("From a scenario's start to its verdict, several of them side by side:")
for fault, seconds in sorted(took.items(), key=lambda item: -mean(item[1])):
    print(f"  {fault:<22} {len(seconds):>4} x {mean(seconds):>6.1f} s")
