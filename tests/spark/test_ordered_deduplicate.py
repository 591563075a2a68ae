"""Which row of a key stays by a column, on real Spark: whatever the order in which rows come, once no other can come."""

import pytest

from full_tables import full
from spark.small_job import Binding, dies, event
from streamproof.config import load
from streamproof.errors import JobDefinitionError, PlanChanged
from streamproof.replay.bounded.run import run_bounded

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    kept = events.deduplicate({key}, within="{within}", order_by="{order}", keep="{keep}")
    return sp.Outputs(kept=kept, late=kept.late)
"""
BOUND = Binding(sinks={"kept": "parquet", "late": "json"})


def asked(key='"id"', within="20 seconds", order="v", keep="last"):
    return JOB.format(key=key, within=within, order=order, keep=keep)


COPIES = [
    event("a", 0, v=2.0),
    event("a", 15, v=7.0),
    event("b", 5, v=None),
    event("a", 28, v=7.0, client="z"),
    event("b", 6, v=1.0),
]
"""Of a the last by v are two, of which one is later; one row of b has no v."""


def shown(rows):
    return sorted((row["id"], row["v"], row["client"], row["ts"].minute * 60 + row["ts"].second) for row in rows)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("keep", "stay"),
    [("last", [("a", 7.0, "z", 28), ("b", 1.0, "a", 6)]), *full(("first", [("a", 2.0, "a", 0), ("b", 1.0, "a", 6)]))],
)
def test_the_row_that_stays_is_by_the_column_and_not_by_what_comes_first(small_job, keep, stay, reverse):
    job = small_job(asked(keep=keep), BOUND)
    rows = [*reversed(COPIES)] if reverse else COPIES
    for row in rows:
        job.feed([row])

    (found,) = job.run().accounts
    assert job.rows("kept") == [], "the last of them may still be followed by another"
    assert (found.adds_up, found.account.open_state, found.account.duplicate) == (True, 5, 0)

    job.feed([event("z", 60)])
    (found,) = job.run().accounts
    assert shown(job.rows("kept")) == stay
    assert (found.adds_up, found.account.emitted, found.account.duplicate, found.account.open_state) == (True, 2, 3, 1)


@pytest.mark.parametrize(("apart", "kept"), [(20_000, "a"), (20_001, "aa")])
def test_rows_of_a_key_a_horizon_apart_are_one_and_a_tick_more_are_two(small_job, apart, kept):
    first = event("a", 0)
    job = small_job(asked(), BOUND)
    job.feed([first, {**first, "ts": first["ts"] + apart}])
    job.feed([event("z", 100)])

    (found,) = job.run().accounts

    assert "".join(job.ids()) == kept
    assert (found.adds_up, found.account.duplicate) == (True, 2 - len(kept))


def test_r10_a_row_whose_horizon_is_over_is_late(small_job):
    job = small_job(asked(), BOUND)
    for times in ((100,), (110,), (70, 70.002)):  # the bound of the third batch is 90
        job.feed([event(f"e{at}", at) for at in times])

    (found,) = job.run().accounts

    assert [row["id"] for row in job.rows("late")] == ["e70"]
    assert (found.adds_up, found.account.late) == (True, 1)


@pytest.mark.full
def test_rows_are_whole_with_nulls_and_nested_values_and_nobody_declares_a_watermark_for_their_readers(small_job, spark):
    binding = Binding(
        sinks={"kept": "parquet", "late": "json"},
        schema="id string, v double, ts long, deep struct<list:array<int>>, map map<string,int>, `odd name` string",
    )
    job = small_job(asked(), binding)
    rest = {"deep": {"list": [1, None]}, "map": {"k": 1}, "odd name": None}
    job.feed([{**event("a", 0, v=1.0), **rest}, {**event("a", 1, v=0.0), "deep": None}, event("z", 100)])
    job.feed([event("y", 130)])

    job.run()

    (row,) = [row for row in job.rows("kept") if row["id"] == "a"]
    assert (row["v"], row["deep"]["list"], dict(row["map"]), row["odd name"]) == (1.0, [1, None], {"k": 1}, None)
    files = spark.read.parquet(str(job.out("kept")))
    assert [name for name in files.columns if name.startswith("_")] == []
    assert files.schema["ts"].metadata == {}


def test_r8_a_row_comes_once_however_the_process_dies(small_job):
    job = small_job(asked(), BOUND)
    for begin in range(4):
        job.feed([event(f"e{number}", 60 * begin + number, v=float(copy)) for number in range(9) for copy in (2, 1)])
    dies(job, "rename", "/out/kept/batch=000002$")
    dies(job, "create", "/commits/")

    (found,) = job.run().accounts

    assert [(row["id"], row["v"]) for row in job.rows("kept")].count(("e3", 2.0)) == 3
    assert (len(job.rows("kept")), found.adds_up) == (27, True)
    assert (found.account.emitted, found.account.duplicate, found.account.open_state) == (27, 27, 18)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"order": "ts"}, "deduplication keeps: the last by ts timestamp now, the last by v double before"),
        *full(
            ({"keep": "first"}, "deduplication keeps: the first by v double now, the last by v double before"),
            ({"within": "1 minute"}, "deduplication within: 1 minute now, 20 seconds before"),
        ),
    ],
)
def test_r25_another_order_on_an_old_checkpoint_is_refused(small_job, change, said):
    job = small_job(asked(), BOUND)
    job.feed([event("a", 0)])
    job.run()

    job.text = asked(**change)
    job.write()

    assert said in job.stopped(PlanChanged).message


@pytest.mark.full
def test_r25_a_deduplication_without_an_order_does_not_go_on_from_one_with_it_nor_do_other_columns(small_job):
    job = small_job(asked(), BOUND)
    job.feed([event("a", 0)])
    job.run()

    job.text = asked().replace(', order_by="v", keep="last"', "")
    job.write()
    assert "operators: deduplicate now, ordered deduplicate before" in job.stopped(PlanChanged).message
    job.text = asked().replace("kept = events", 'kept = events.transform(lambda rows: rows.withColumn("more", F.lit(1)))')
    job.write()
    assert "deduplicated row: " in job.stopped(PlanChanged).message


def test_an_order_that_is_none_is_refused_with_what_is_one(small_job):
    job = small_job(asked(order="version"), BOUND)
    job.feed([event("a", 0)])
    assert 'deduplicate(order_by=...) needs the column "version"' in job.stopped(JobDefinitionError).message

    job.text = asked(order="all").replace(
        "kept = events", 'kept = events.transform(lambda rows: rows.withColumn("all", F.array("v")))'
    )
    job.write()
    assert job.stopped(JobDefinitionError).message == "deduplicate(order_by='all'): the column is array<double>."


@pytest.mark.full
def test_as_a_batch_the_same_rows_stay(small_job, spark):
    job = small_job(asked(), BOUND)
    job.feed(COPIES)
    job.feed([event("a", 100, v=1.0)])

    result = run_bounded(load(job.folder), spark=spark)

    (kept,) = [output for output in result.outputs if output.name == "kept"]
    rows = [row.asDict() for row in spark.read.parquet(kept.where).collect()]
    assert shown(rows) == [("a", 1.0, "a", 100), ("a", 7.0, "z", 28), ("b", 1.0, "a", 6)]
    (found,) = result.accounts
    assert (found.adds_up, found.account.emitted, found.account.duplicate) == (True, 3, 3)
