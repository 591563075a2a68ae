"""R32: declared state begins with a table: its version of the first batch, once, however that batch dies."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from full_tables import full
from spark.small_job import Binding, dies, event, instant
from streamproof.config import load
from streamproof.errors import DataError, JobDefinitionError, PlanChanged
from streamproof.replay.bounded.run import run_bounded

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    kept = events.keyed(
        "client",
        state={{"n": "0L", "seen": sp.list_of("string", at_most=2)}},
        on_row=sp.step(
            set={{"n": "n + 1", "seen[]": "id", "quiet": "ts + INTERVAL 10 SECONDS"}},
            emit=sp.emit("client", "id", "n", "before.seen AS seen"),
        ),
        on_timer={{"quiet": sp.step(emit=sp.emit("client", "n", to="quiet"))}},
        ttl="{ttl}",
        initial=sp.initial("counts"{at}),
    )
    return sp.Outputs(kept=kept, late=kept.late, quiet=kept.tagged("quiet"), lost=kept.overflow("seen"))
"""
FOREVER, DAY = JOB.format(ttl="never", at=""), JOB.format(ttl="20 seconds", at=', at="latest"')
SINKS = dict.fromkeys(("kept", "late", "quiet", "lost"), "json")
COUNTS = {"client": ["a", "b", None], "n": [40, 7, 1], "seen": [["x", "y"], [], []], "further": [1, 2, 3]}


def bound():
    return Binding(sinks=SINKS, tables={"table.counts": {"connector": "files", "path": "counts"}})


def counts(job, columns, **types):
    folder = job.folder / "counts"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    made = {name: pa.array(values, types.get(name)) for name, values in columns.items()}
    pq.write_table(pa.table(made), folder / "all.parquet", coerce_timestamps="us")


def shown(job):
    return sorted((row["client"], row["id"], row["n"], tuple(row["seen"])) for row in job.rows("kept"))


def test_keys_of_the_table_go_on_from_their_fields_and_others_begin_anew(small_job):
    job = small_job(FOREVER, bound())
    counts(job, COUNTS)
    job.feed([event("1", 0), event("2", 1, client="c")])
    job.feed([event("3", 2), event("4", 30, client="b"), event("5", 60, client="d")])
    (found,) = job.run().accounts
    counts(job, {**COUNTS, "n": [1000, 2000, 3000]})
    job.feed([event("6", 61), event("7", 62, client="b"), event("8", 63, client="e")])

    (again,) = job.run().accounts

    assert shown(job) == [
        ("a", "1", 41, ("x", "y")),
        ("a", "3", 42, ("y", "1")),
        ("a", "6", 43, ("1", "3")),
        ("b", "4", 8, ()),
        ("b", "7", 9, ("4",)),
        ("c", "2", 1, ()),
        ("d", "5", 1, ()),
        ("e", "8", 1, ()),
    ]
    assert {(row["client"], row["value"]) for row in ({"client": "a", **row} for row in job.rows("lost"))} >= {
        ("a", "x"),
        ("a", "y"),
    }
    assert ("b", 8) in {(row["client"], row["n"]) for row in job.rows("quiet")}
    assert (found.adds_up, found.account.emitted, again.adds_up, again.account.emitted) == (True, 5, True, 8)


@pytest.mark.parametrize(("operation", "path"), [("rename", "/out/kept/batch=000000$"), *full(("create", "/commits/"))])
def test_r32_the_first_batch_begins_with_the_same_rows_when_it_is_done_again(small_job, operation, path):
    job = small_job(FOREVER, bound())
    counts(job, COUNTS)
    job.feed([event("1", 0)])
    dies(job, operation, path)
    counts(job, {**COUNTS, "n": [1000, 2000, 3000]})
    job.feed([event("2", 1, client="b")])

    (found,) = job.run().accounts

    assert shown(job) == [("a", "1", 41, ("x", "y")), ("b", "2", 8, ())]
    assert found.adds_up


def test_a_key_without_rows_is_forgotten_by_the_time_of_its_latest_row_in_the_table(small_job):
    job = small_job(DAY, bound())
    counts(job, {**COUNTS, "latest": [instant(0), instant(15), instant(0)]})
    job.feed([event("1", 19.9)])
    job.feed([event("2", 30, client="z")])
    job.feed([event("3", 34.9, client="b"), event("4", 60, client="z")])
    job.feed([event("5", 61)])

    job.run()

    found = [row[:3] for row in shown(job) if row[0] != "z"]
    assert found == [("a", "1", 41), ("a", "5", 1), ("b", "3", 8)]


@pytest.mark.parametrize(
    ("text", "change", "types", "error", "said"),
    [
        (FOREVER, {"client": ["a", "a", "b"]}, {}, DataError, "[table.counts] has 2 rows for one client"),
        (FOREVER, {"n": [1.5, 2.5, 3.5]}, {}, JobDefinitionError, "the column n is double, and the field is bigint"),
        (FOREVER, {"client": [1, 2, 3]}, {}, JobDefinitionError, "the column client is bigint, and that of the stream is string"),
        (DAY, {}, {}, JobDefinitionError, "latest"),
        (DAY, {"latest": [1, 2, 3]}, {}, JobDefinitionError, "the column latest is bigint"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_before_anything_is_done(small_job, text, change, types, error, said):
    job = small_job(text, bound())
    counts(job, {**COUNTS, **change}, **types)
    job.feed([event("1", 0)])

    with pytest.raises(error) as found:
        job.run()
    assert said in str(found.value)


def test_r25_state_that_has_begun_without_a_table_does_not_begin_with_one(small_job):
    job = small_job(FOREVER.replace('initial=sp.initial("counts"),', ""), Binding(sinks=SINKS))
    job.feed([event("1", 0)])
    job.run()
    job.text = FOREVER
    job.binding = bound()
    job.write()
    counts(job, COUNTS)

    with pytest.raises(PlanChanged, match="begins with"):
        job.run()


@pytest.mark.full
def test_a_batch_run_begins_with_the_same_rows(small_job, spark):
    job = small_job(FOREVER, bound())
    counts(job, COUNTS)
    job.feed([event("1", 0), event("2", 1, client="c"), event("3", 2)])

    run_bounded(load(job.folder), spark=spark, to=str(job.folder / "once"))

    rows = spark.read.parquet(str(job.folder / "once" / "kept")).collect()
    assert sorted((row["id"], row["n"]) for row in rows) == [("1", 41), ("2", 1), ("3", 42)]
