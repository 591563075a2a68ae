"""50,000 trades, standard plan: distinct images, scenarios, seconds, recording and checkers included."""

from pathlib import Path

import streamproof as sp

proof = sp.prove(Path(__file__).parents[1] / "examples" / "risk_exposure")
report = proof.report
print(
    f"{report['verdict']}: {report['events']:,} events, {report['distinct']} distinct images, {sum(report['counts'].values())} scenarios"
)
print(f"{report['seconds']} s in all, {report['recording']['seconds']} s of it recording; {report['fired']} faults fired")
