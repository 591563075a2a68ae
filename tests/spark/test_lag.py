"""What `streamproof lag` says a lag loses is what a job with this lag loses on Spark, on the same batches."""

import json
import random

import pytest

from spark.small_job import Binding, event
from streamproof.cli.main import main

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    once = events.deduplicate("id")
    return sp.Outputs(kept=once, late=once.late)
"""
IN_A_BATCH = 40


def batches(seed: int) -> list[list[dict[str, object]]]:
    """Five files of events, a fourth of them up to 40 seconds behind."""
    dice = random.Random(seed)
    behind = [dice.uniform(0, 40) if dice.random() < 0.25 else 0.0 for _ in range(5 * IN_A_BATCH)]
    events = [event(f"e{place}", 100 + place / 2 - behind[place]) for place in range(5 * IN_A_BATCH)]
    return [events[start : start + IN_A_BATCH] for start in range(0, len(events), IN_A_BATCH)]


@pytest.mark.full
def test_a_lag_loses_on_spark_what_was_measured(small_job, capsys, monkeypatch):
    """With a pause after each batch Spark judges by all batches before, as the measure does; without one by one less, and loses no more."""
    binding = Binding(sinks={"kept": "json", "late": "json"})
    without_pause, with_pauses = (small_job(JOB, binding, folder=name) for name in ("without", "with"))
    for rows in batches(7):
        with_pauses.feed(rows)
        with_pauses.run()
        without_pause.feed(rows)
    without_pause.run()
    monkeypatch.chdir(with_pauses.folder)

    main(["lag", "data", "--batch", str(IN_A_BATCH), "--lag", "10 seconds", "--lose", "10%", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert found["events"] == 5 * IN_A_BATCH
    assert len(with_pauses.ids("late")) == found["asked"]["late"] > 10
    assert 0 < len(without_pause.ids("late")) < found["asked"]["late"]
