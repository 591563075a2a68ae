"""A stage that runs again, since what it had left for the next one is lost, counts each record once (R15)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spark.small_job import WINDOWED, event, run_apart

LOSES_SHUFFLE_FILES = {"spark.testing": "true", "spark.testing.injectShuffleFetchFailures": "true"}
"""Spark's own: of every map stage the output of the first task is lost once."""

ONCE_AND_SUMS = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    once = events.require(v="v >= 0").deduplicate("id")
    return sp.Outputs(sums=once.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v")))
"""


def stages_run_again(event_log: Path) -> int:
    """How many stages Spark has begun once more."""
    events = [json.loads(line) for log in event_log.glob("*") for line in log.read_text().splitlines()]
    begun = [found["Stage Info"] for found in events if found["Event"] == "SparkListenerStageSubmitted"]
    return sum(stage["Stage Attempt ID"] > 0 for stage in begun)


@pytest.mark.full
def test_r15_what_a_stage_counts_that_runs_again_is_counted_once(small_job, tmp_path):
    event_log = tmp_path / "events"
    event_log.mkdir()
    logged = {f"spark.eventLog.{key}": "false" for key in ("compress", "rolling.enabled")}
    settings = {**LOSES_SHUFFLE_FILES, **logged, "spark.eventLog.enabled": "true", "spark.eventLog.dir": event_log.as_uri()}
    job = small_job(ONCE_AND_SUMS, replace(WINDOWED, sinks={"sums": "json"}, spark=settings))
    for minute in range(3):
        twice = 2 * [event(f"{minute}-{number}", 60 * minute + number, client=f"c{number}") for number in range(12)]
        job.feed([*twice, event(f"bad-{minute}", 60 * minute, v=-1)])

    done = run_apart(job)

    assert stages_run_again(event_log) >= 2, "both what reads the source and what deduplicates"
    assert done.returncode == 0, done.stdout + done.stderr
    counts = job.manifest(2, "sums").counts
    assert [counts[f"total.{name}"] for name in ("input", "duplicate", "rejected")] == [75, 36, 3]
