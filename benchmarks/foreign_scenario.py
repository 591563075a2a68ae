"""A scenario of a job that was not written for us, against the same job running through once: both in the same warm JVM.

    python -m benchmarks.foreign_scenario
    python -m benchmarks.foreign_scenario --batches 5

The job is examples/plain_pyspark/sessions.py, with 1,000 clicks in ten batches. A run goes through without a fault and without a recording. A
scenario takes the disk of a crash, lets the job recover, reads back what it left, and compares it. The first line is the wall time of all disks of the
standard plan by their number, as a proof runs them, three side by side, against runs three side by side; the runs without a fault that they are compared
with are in it, one for each batch. The second takes some disks one after the other, against runs one after the other.

A scenario does three batches whatever the number: the one that is done again, one with all that is left, and Spark's last one without data. A run of
five batches, the default of a proof, does six, and both start a query: the ratio is above a half there. With more batches it falls.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.foreign_jobs import SESSIONS
from streamproof.core.clock import monotonic_seconds
from streamproof.prove.execution import SIDE_BY_SIDE, Executor
from streamproof.prove.options import Options
from streamproof.prove.plan.planning import ScenarioPlan
from streamproof.prove.session import Prepared, Session
from streamproof.prove.subjects.pyspark.preparation import PysparkPreparation

LIMIT = 0.5
RUNS, BATCHES = 9, 10


def through(prepared: Prepared, name: str, side_by_side: int) -> float:
    """Seconds that a run of the job takes that nothing interrupts."""
    started = monotonic_seconds()
    running = [prepared.executor._children.start(one, prepared.subject.binding(one)) for one in _names(name, side_by_side)]
    for one in running:
        assert not one.result().code, one.result()
    return (monotonic_seconds() - started) / side_by_side


def _names(name: str, count: int) -> Sequence[str]:
    return [f"through-{name}-{number}" for number in range(count)]


def all_of(executor: Executor, prepared: Prepared, plans: Sequence[ScenarioPlan]) -> float:
    """Seconds that a scenario takes, of several side by side."""
    started = monotonic_seconds()
    outcomes = list(executor.run_all(plans, prepared.recordings, lambda: False))
    seconds = (monotonic_seconds() - started) / len(plans)
    assert all(outcome.verdict == "pass" for outcome in outcomes), [
        outcome.plan.id for outcome in outcomes if outcome.verdict != "pass"
    ]
    return seconds


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.foreign_scenario")
    asked.add_argument("--batches", type=int, default=BATCHES, help="that the clicks are spread over (10)")
    batches = asked.parse_args().batches
    with tempfile.TemporaryDirectory(prefix="streamproof-benchmark-") as folder:
        options = Options(SESSIONS.target)
        with Session(PysparkPreparation(SESSIONS, batches=batches), Path(folder), options, lambda _: None) as proof:
            prepared = proof.prepare()
            disks = [plan for plan in prepared.plans if plan.is_disk]
            all_of(prepared.executor, prepared, disks[: 3 * SIDE_BY_SIDE])
            through(prepared, "warm", SIDE_BY_SIDE)
            alone, scenarios_alone = [], []
            beside = [through(prepared, f"beside-{number}", SIDE_BY_SIDE) for number in range(RUNS // SIDE_BY_SIDE)]
            prepared.subject._references._known.clear()  # what the first scenarios have left is made again
            scenario = all_of(prepared.executor, prepared, disks)
            beside += [through(prepared, f"again-{number}", SIDE_BY_SIDE) for number in range(RUNS // SIDE_BY_SIDE)]
            every = max(1, len(disks) // RUNS)
            for number, plan in enumerate(disks[::every][:RUNS]):
                scenarios_alone.append(all_of(prepared.executor, prepared, [plan]))
                alone.append(through(prepared, f"alone-{number}", 1))
    run = statistics.median(beside)
    print(
        f"{scenario / run:.2f}   a scenario against a run, {SIDE_BY_SIDE} side by side: {scenario:.2f} s of {len(disks)} scenarios against "
        f"{run:.2f} s; runs {min(beside):.2f} to {max(beside):.2f} s (limit: {LIMIT})"
    )
    mine, other = statistics.median(scenarios_alone), statistics.median(alone)
    print(f"{mine / other:.2f}   one after the other: {mine:.2f} s, median of {len(alone)}, against {other:.2f} s")


if __name__ == "__main__":
    main()
