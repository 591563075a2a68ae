"""The join of two streams on real Spark: who meets, who leaves alone and when, and that the account adds up on the way."""

import json
import os
from typing import Any

import pytest

from full_tables import full
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
"""The watermark is 0, then 92 by l3, 190 by l5 and r5, 190 since l7 is no newer than l5, and at last 391 by l8, in a batch without data."""


def by_batch(job, output: str) -> dict[int, list[str]]:
    found = {batch: sorted(row["id"] for row in job.rows(output, batch=f"{batch:06d}")) for batch in range(6)}
    return {batch: ids for batch, ids in found.items() if ids}


def test_rows_meet_and_who_meets_none_leaves_once_no_partner_can_come(small_job):
    job = small_job(asked(), bound())
    for left, right in BATCHES:
        both(job, left, right)

    (found,) = job.run().accounts

    assert [pairs(job, batch) for batch in range(5)] == [
        [("l1", "r1")],
        [("l2", "r3"), ("l4", "r1"), ("l4", "r4")],
        [("l7", "r5"), ("l7", "r8")],
        [("l8", "r7")],
        [],
    ]
    assert (by_batch(job, "early"), by_batch(job, "late")) == ({2: ["l6"]}, {2: ["r6"]})
    assert (by_batch(job, "alone"), by_batch(job, "unknown")) == ({0: ["l3"], 4: ["l5"]}, {0: ["r2"]})
    account = found.account
    assert (account.emitted, account.open_state, account.late, account.unmatched, account.total) == (9, 3, 2, 3, 17)
    assert found.adds_up
    assert (found.open, found.open_are) == (3, "row")
    counts = [job.manifest(batch, "paid").counts for batch in range(5)]
    assert [one["emitted"] for one in counts] == [0, 0, 6, 0, 3]
    assert [one["held"] for one in counts] == [3, 8, 5, 7, 3]
    row = next(row for row in job.rows("paid") if row["id"] == "l1")
    assert list(row) == ["id", "client", "v", "ts", "ts_right", "paid", "id_right"]


@pytest.mark.parametrize(
    ("how", "sides", "rows", "emitted", "unmatched"),
    [
        ("full", "late=paid.late_left", {("l3", ""), ("l5", ""), ("", "r2")}, 12, 0),
        *full(
            ("left", "unknown=paid.unmatched_right", {("l3", ""), ("l5", "")}, 11, 1),
            ("right", "alone=paid.unmatched_left", {("", "r2")}, 10, 2),
        ),
    ],
)
def test_rows_without_a_partner_are_part_of_the_output_where_that_was_asked(small_job, how, sides, rows, emitted, unmatched):
    job = small_job(asked(how=how, sides=sides), bound("paid", sides.partition("=")[0]))
    for left, right in BATCHES:
        both(job, left, right)

    (found,) = job.run().accounts

    met = {("l1", "r1"), ("l2", "r3"), ("l4", "r1"), ("l4", "r4"), ("l7", "r5"), ("l7", "r8"), ("l8", "r7")}
    assert pairs(job) == sorted(met | rows)
    alone = [row for row in job.rows("paid") if (row["id"], row["id_right"]) in {("l5", None), (None, "r2")}]
    assert {(row["client"], row["paid"]) for row in alone} <= {("c", None), (None, 1.0)}
    assert (found.account.emitted, found.account.unmatched, found.account.open_state) == (emitted, unmatched, 3)
    assert found.adds_up


@pytest.mark.parametrize("step", ["checkpoint/paid/commits/2$", *full("/out/paid/batch=000002$")])
def test_r4_a_batch_that_is_done_again_gives_the_same_rows_and_counts(small_job, step):
    job = small_job(asked(), bound())
    for left, right in BATCHES:
        both(job, left, right)
    dies(job, "rename", step)

    (found,) = job.run().accounts

    assert pairs(job, 2) == [("l7", "r5"), ("l7", "r8")]
    assert by_batch(job, "alone") == {0: ["l3"], 4: ["l5"]}
    account = found.account
    assert (account.emitted, account.open_state, account.late, account.unmatched, found.adds_up) == (9, 3, 2, 3, True)


@pytest.mark.full
def test_a_batch_of_all_there_is_gives_the_same_pairs(small_job, tmp_path):
    job = small_job(asked(how="left", sides="unknown=paid.unmatched_right"), bound("paid", "unknown"))
    for left, right in BATCHES:
        both(job, left, right)

    result = run_bounded(load(job.folder), spark=job.spark, to=str(tmp_path / "once"))

    rows = job.spark.read.parquet(str(tmp_path / "once" / "paid")).collect()
    assert {(row["id"], row["id_right"]) for row in rows} >= {
        ("l1", "r1"),
        ("l2", "r3"),
        ("l3", None),
        ("l5", None),
        ("l6", "r1"),
        ("l8", "r7"),
    }
    account = result.accounts[0].account
    # Nothing is late: r1 to r9 are all there, of which r2, r6 and r9 meet nobody.
    assert (account.emitted, account.unmatched, account.late, account.open_state) == (14, 3, 0, 0)


@pytest.mark.parametrize("at", [90, 130.001, *full(89.999, 130)])
def test_both_bounds_are_part_of_the_interval(small_job, at):
    job = small_job(asked(), bound())
    both(job, [event("l", 100)], [other("r", at)])
    job.run()

    assert pairs(job) == ([("l", "r")] if at in (90, 130) else [])


KEYS = [
    ("int", 1, 2),
    ("double", 0.0, 1.5),
    ("decimal(20,4)", "10.5000", "10.5001"),
    ("date", "1582-10-10", "1582-10-11"),
    ("timestamp", "2026-01-05T09:00:00.000001", "2026-01-05T09:00:00.000002"),
    ("boolean", True, False),
    ("struct<a:int,b:string>", {"a": 1, "b": None}, {"a": 1, "b": ""}),
    ("array<int>", [1, None], [1]),
]


def test_keys_of_every_type_meet_what_is_equal(small_job):
    """One column of each type; a row of the other source is equal to the first row in all of them."""
    columns = {f"k{number}": type_ for number, (type_, *_) in enumerate(KEYS)}
    schema = ", ".join(["ts long", "id string", *(f"{name} {type_}" for name, type_ in columns.items())])
    names = ("paid", "alone", "unknown")
    sides = "alone=paid.unmatched_left, unknown=paid.unmatched_right"
    job = small_job(
        asked(on=repr(tuple(columns)), sides=sides),
        Binding(sinks=dict.fromkeys(names, "json"), schema=schema, tables={"source.others": {**OTHERS, "schema": schema}}),
    )
    first = {f"k{number}": one for number, (_, one, _) in enumerate(KEYS)}
    others = [{**first, f"k{number}": another} for number, (_, _, another) in enumerate(KEYS)]
    ts = event("x", 100)["ts"]
    left = [{"id": "l", "ts": ts, **first}, *({"id": f"l{number}", "ts": ts, **keys} for number, keys in enumerate(others))]
    both(job, left, [{"id": "r", "ts": ts, **first}, {"id": "n", "ts": ts, **first, "k0": None}])

    (found,) = job.run().accounts

    assert pairs(job) == [("l", "r")]
    assert job.ids("unknown") == ["n"]
    assert found.adds_up


def test_r25_another_key_bound_or_way_is_refused_on_an_old_checkpoint(small_job):
    job = small_job(asked(), bound())
    both(job, [event("l1", 100)], [other("r1", 100)])
    job.run()
    for changed, said in (
        (asked(between='"-10 seconds", "31 seconds"'), "join between"),
        (asked(on='("client", "id")'), "join key"),
    ):
        job.text = changed
        job.write()
        assert said in str(job.stopped(PlanChanged))


@pytest.mark.parametrize(
    ("given", "schema", "said"),
    [
        ({"on": '"nobody"'}, OTHERS["schema"], 'needs the column "nobody"'),
        ({}, "ts long, paid double, client int, id string", "is string in the left stream, and int in the right one"),
        ({}, "ts long, client string, id string, id_right string, v double, ts_right long", "gives two columns"),
    ],
)
def test_what_the_types_do_not_allow_is_said_in_words(small_job, given, schema, said):
    job = small_job(asked(**given), bound(schema=schema))
    both(job, [event("l1", 100)], [other("r1", 100)])

    assert said in str(job.stopped(JobDefinitionError))


def test_r31_a_transform_behind_it_that_drops_rows_makes_the_account_wrong(small_job):
    job = small_job(asked(behind=".transform(lambda rows: rows.where(\"id <> 'l2'\"))"), bound())
    for left, right in BATCHES:
        both(job, left, right)

    assert "does not add up" in str(job.stopped(AccountError))
