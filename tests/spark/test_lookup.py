"""R32: rows are looked up in a table, in a stream: which version a batch uses is fixed before its work, and kept."""

import json
import shutil
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from full_tables import full
from spark.small_job import SCHEMA, Binding, dies, event, instant
from streamproof.config import load
from streamproof.core.notes import NoteCode
from streamproof.errors import ConfigurationError, DataError, JobDefinitionError, TornCheckpoint
from streamproof.replay.bounded.run import run_bounded
from streamproof.runtime.checks.analysis import analysed

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    found = events.lookup("prices", on="client"{more})
    return sp.Outputs(kept=found{outputs})
"""
INNER = JOB.format(more="", outputs=", unknown=found.unmatched")
PRICES = {"connector": "files", "path": "prices"}
SINKS = {"kept": "parquet", "unknown": "json"}
AT_ONCE = {**PRICES, "refresh": "0 seconds"}
KEY_A = "one client, xxhash64(client) = -8582455328737087284"
"""How a key is said whose client is "a"."""


def bound(table=PRICES, sinks=SINKS, **more):
    return Binding(sinks=sinks, tables={"table.prices": table}, **more)


def prices(job, found, columns=None):
    """The table as it is now: by client a price, or whole columns."""
    folder = job.folder / "prices"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    whole = columns or {"client": list(found), "price": pa.array(list(found.values()), pa.float64())}
    pq.write_table(pa.table(whole), folder / "all.parquet", coerce_timestamps="us")


def shown(job, output="kept"):
    return {row["id"]: row.get("price") for row in job.rows(output)}


def versions(job):
    return sorted(path.name for path in (job.checkpoint() / "_streamproof/tables/prices").iterdir() if path.name[0] not in "_.")


def pinned(job, batch):
    return json.loads((job.checkpoint() / f"_streamproof/tables/_pinned/{batch}").read_text())["tables"]["prices"]


def changing(job, *states):
    """A listener that changes the table after each batch: to prices, or by a function of the job."""
    left = list(states)

    def hear(event):
        if event.kind == "batch-staged" and left:
            state = left.pop(0)
            state(job) if callable(state) else prices(job, state)

    return hear


def test_a_row_gets_the_columns_of_its_key_and_one_without_a_row_leaves(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.5, "b": 2.5, None: 9.0})
    job.feed([event("1", 0), event("2", 1, client="b"), event("3", 2, client="c"), event("4", 3, client=None)])

    (found,) = job.run().accounts

    assert shown(job) == {"1": 1.5, "2": 2.5}
    assert {row["id"]: (row["client"], row["reason"]) for row in job.rows("unknown")} == {
        "3": ("c", "no row in prices"),
        "4": (None, "no row in prices"),
    }
    assert (found.adds_up, found.account.emitted, found.account.unmatched) == (True, 2, 2)
    assert versions(job) == [pinned(job, 0)] == [job.manifest(0).fingerprint.tables["prices"]]


@pytest.mark.full
def test_by_a_left_lookup_all_rows_go_on_and_an_unreturned_side_has_a_place_of_its_own(small_job):
    left = small_job(JOB.format(more=', how="left"', outputs=""), bound(sinks={"kept": "parquet"}), folder="left")
    inner = small_job(JOB.format(more="", outputs=""), bound(sinks={"kept": "parquet"}), folder="inner")
    for job in (left, inner):
        prices(job, {"a": 1.5})
        job.feed([event("1", 0), event("2", 1, client="b")])

    (all_of_them,), (some,) = (job.run().accounts for job in (left, inner))

    assert shown(left) == {"1": 1.5, "2": None}
    assert (all_of_them.account.emitted, all_of_them.account.unmatched) == (2, 0)
    assert (some.account.emitted, some.account.unmatched, [row["id"] for row in inner.rows("unmatched")]) == (1, 1, ["2"])


@pytest.mark.full
def test_a_composite_key_may_be_called_otherwise_and_columns_are_chosen(small_job):
    text = JOB.format(more="", outputs="").replace('on="client"', 'on={"client": "who", "v": "level"}, columns="fee"')
    job = small_job(text, bound(sinks={"kept": "parquet"}))
    prices(job, {}, {"who": ["a", "a"], "level": [1.0, 2.0], "fee": [10, 20], "id": ["x", "y"]})
    job.feed([event("1", 0, v=1.0), event("2", 1, v=2.0), event("3", 2, v=3.0)])

    job.run()

    assert {row["id"]: row["fee"] for row in job.rows("kept")} == {"1": 10, "2": 20}


def test_a_table_is_read_again_when_it_is_due_and_each_batch_has_one_version_of_it(small_job):
    job = small_job(INNER, bound(AT_ONCE))
    prices(job, {"a": 1.0})
    for number in range(3):
        job.feed([event(f"{number}", number), event(f"b{number}", number, client="b")])
    heard = []

    (found,) = job.run(listener=[changing(job, {"a": 2.0, "b": 7.0}, {"a": 2.0, "b": 7.0}), heard.append]).accounts

    assert shown(job) == {"0": 1.0, "1": 2.0, "2": 2.0, "b1": 7.0, "b2": 7.0}
    assert [row["id"] for row in job.rows("unknown")] == ["b0"]
    assert found.adds_up
    assert pinned(job, 0) != pinned(job, 1) == pinned(job, 2), "a version is its content"
    assert [(one.batch, one.rows) for one in heard if one.kind == "table-read"] == [(0, 1), (1, 2)]


@pytest.mark.full
def test_without_refresh_a_table_is_read_at_the_start_of_each_run(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.0})
    for number in range(2):
        job.feed([event(f"{number}", number)])
    job.run(listener=changing(job, {"a": 2.0}))
    job.feed([event("2", 2)])
    job.run()

    assert shown(job) == {"0": 1.0, "1": 1.0, "2": 2.0}


@pytest.mark.parametrize("table", [PRICES, AT_ONCE], ids=["at-the-start", "before-each-batch"])
def test_r32_a_batch_that_is_done_again_uses_its_own_version(small_job, table):
    job = small_job(INNER, bound(table))
    prices(job, {"a": 1.0})
    job.feed([event("1", 0), event("2", 1, client="b")])
    dies(job, "rename", "/commits/0$")
    prices(job, {"a": 2.0, "b": 3.0})
    job.feed([event("3", 2)])

    (found,) = job.run().accounts

    assert shown(job) == {"1": 1.0, "3": 2.0}
    assert (found.adds_up, found.account.unmatched) == (True, 1)


def test_r32_it_is_fixed_before_the_work_so_that_an_attempt_of_which_nothing_is_left_counts(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.0})
    job.feed([event("1", 0)])
    dies(job, "rename", "/manifests/0$")
    prices(job, {"a": 2.0})

    job.run()

    assert shown(job) == {"1": 1.0}


@pytest.mark.full
def test_r32_a_replay_of_the_newest_batch_uses_its_version_also_where_only_the_manifest_names_it(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.0})
    job.feed([event("1", 0)])
    job.run()
    prices(job, {"a": 2.0})
    job.lose("_streamproof/tables/_pinned/0")

    job.run(replay_last=True)

    assert shown(job) == {"1": 1.0}


@pytest.mark.full
def test_a_version_that_is_gone_is_said_and_nothing_is_computed_with_another(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.0})
    job.feed([event("1", 0)])
    job.run()
    prices(job, {"a": 2.0})
    shutil.rmtree(job.checkpoint() / "_streamproof/tables/prices" / pinned(job, 0))

    error = job.stopped(TornCheckpoint, replay_last=True)

    assert f"version {pinned(job, 0)} of [table.prices] is gone, which batch 0 has used" in error.message
    prices(job, {"a": 1.0})
    job.run()
    assert shown(job) == {"1": 1.0}


def gone(job):
    shutil.rmtree(job.folder / "prices")


def torn(job):
    (job.folder / "prices/all.parquet").write_bytes(b"PAR1 no table")


def twice(job):
    prices(job, {}, {"client": ["a", "a"], "price": [1.0, 2.0]})


def other_type(job):
    prices(job, {}, {"client": ["a"], "price": ["dear"]})


def without_column(job):
    prices(job, {}, {"client": ["a"], "cost": [1.0]})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (gone, "there is no such folder"),
        *full(
            (torn, "cannot be read"),
            (twice, f"has 2 rows for {KEY_A}"),
            (other_type, "its column price is string, and was double when the job was planned"),
            (without_column, "it has no column price, which the job takes from it"),
        ),
    ],
)
def test_where_a_table_cannot_be_read_again_the_former_version_stays_and_the_run_says_so_once(small_job, change, why):
    job = small_job(INNER, bound(AT_ONCE))
    prices(job, {"a": 1.0})
    for number in range(4):
        job.feed([event(f"{number}", number)])
    heard = []

    result = job.run(listener=[changing(job, change, lambda _: None, {"a": 3.0}), heard.append])

    assert shown(job) == {"0": 1.0, "1": 1.0, "2": 1.0, "3": 3.0}
    (note,) = [note for note in result.notes if note.code is NoteCode.TABLE_STAYS]
    assert why in note
    assert "before batch 1 of kept" in note
    assert [(one.batch, why in one.why) for one in heard if one.kind == "table-stays"] == [(1, True), (2, True)]
    assert result.accounts[0].adds_up


@pytest.mark.parametrize(
    ("change", "kind", "why"),
    [
        (twice, DataError, f"has 2 rows for {KEY_A}"),
        (
            lambda job: prices(job, {}, {"client": [5], "price": [1.0]}),
            JobDefinitionError,
            "the column client of the stream is string, client of the table is bigint",
        ),
        *full(
            (gone, DataError, "there is no such folder"),
            (torn, DataError, "cannot be read"),
            (
                lambda job: prices(job, {}, {"who": ["a"]}),
                JobDefinitionError,
                'the table needs the column "client", which is not there',
            ),
            (
                lambda job: prices(job, {}, {"client": ["a"], "V": [1.0]}),
                JobDefinitionError,
                "adds the column V, which the stream has",
            ),
            (lambda job: prices(job, {}, {"client": ["a"], "_trace": ["x"]}), JobDefinitionError, "_trace"),
        ),
    ],
    ids=["twice", "other-type", "gone", "torn", "no-key", "column-twice", "name-of-ours"],
)
def test_a_table_that_does_not_fit_is_refused_at_the_start_and_nothing_is_begun(small_job, change, kind, why):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.0})
    job.feed([event("1", 0)])
    change(job)

    error = job.stopped(kind)

    assert why in str(error)
    assert not (job.checkpoint() / "offsets").exists()
    prices(job, {"a": 1.0})
    job.run()
    assert shown(job) == {"1": 1.0}


def rates(job, rows):
    """Rows of (client, price, from, to) in seconds after nine."""
    instants = pa.timestamp("us", tz="UTC")
    columns = [list(column) for column in zip(*rows, strict=True)]
    since, until = ([None if at is None else instant(at) for at in column] for column in columns[2:])
    whole = {"client": columns[0], "price": columns[1], "since": pa.array(since, instants), "until": pa.array(until, instants)}
    prices(job, {}, whole)


AS_OF = JOB.format(more=', as_of="ts"', outputs=", unknown=found.unmatched")
VALID = {**PRICES, "valid_from": "since", "valid_to": "until"}


def test_as_of_event_time_a_row_gets_what_held_at_its_own_time(small_job):
    job = small_job(AS_OF, bound(VALID))
    rates(job, [("a", 1.0, 0, 10), ("a", 2.0, 10, 20), ("a", 3.0, 30, None), ("b", 9.0, 5, None)])
    job.feed([event(f"{at}", at) for at in (-0.001, 0, 9.999, 10, 19.999, 20, 29.999, 30, 9999)])
    job.feed([event("b", 4, client="b"), event("late", 9), event("b5", 5, client="b")])

    (found,) = job.run().accounts

    assert shown(job) == {"0": 1.0, "9.999": 1.0, "10": 2.0, "19.999": 2.0, "30": 3.0, "9999": 3.0, "late": 1.0, "b5": 9.0}
    assert sorted(row["id"] for row in job.rows("unknown")) == ["-0.001", "20", "29.999", "b"]
    assert found.adds_up


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("a", 1.0, 0, 10), ("a", 2.0, 9, 20)], f"two rows for {KEY_A} that hold at one instant"),
        *full(
            ([("a", 1.0, 0, None), ("a", 2.0, 9, 20)], "to this day"),
            ([("a", 1.0, 0, 10), ("a", 2.0, 0, 5)], f"two rows for {KEY_A} that hold at one instant"),
            ([("a", 1.0, 10, 10)], "that holds from"),
            ([("a", 1.0, None, 10)], "without since"),
        ),
    ],
    ids=["overlap", "endless", "nested", "empty", "no-begin"],
)
def test_rows_that_hold_for_one_key_at_one_instant_are_refused(small_job, rows, why):
    job = small_job(AS_OF, bound(VALID))
    rates(job, rows)
    job.feed([event("1", 0)])

    assert why in job.stopped(DataError).message
    rates(job, [("a", 1.0, 0, 10), ("a", 2.0, 10, 20), ("b", 1.0, 5, None), (None, 1.0, 0, None), (None, 2.0, 0, None)])
    job.run()
    assert shown(job) == {"1": 1.0}


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "table", "kind", "why"),
    [
        (AS_OF, PRICES, JobDefinitionError, "has no valid_from"),
        (INNER, VALID, JobDefinitionError, "says no as_of"),
        (AS_OF.replace('"ts"', '"v"'), VALID, JobDefinitionError, "the column v is double"),
        (AS_OF, {**VALID, "valid_from": "price"}, ConfigurationError, "names the column price for the validity, which is double"),
    ],
    ids=["no-validity", "no-as-of", "no-instant", "no-instant-in-table"],
)
def test_an_instant_and_a_validity_belong_together(small_job, text, table, kind, why):
    job = small_job(text, bound(table))
    rates(job, [("a", 1.0, 0, 10)])
    job.feed([event("1", 0)])

    assert why in job.stopped(kind).message


@pytest.mark.full
def test_a_validity_that_is_not_there_is_refused(small_job):
    job = small_job(AS_OF, bound({**VALID, "valid_to": "til"}))
    rates(job, [("a", 1.0, 0, 10)])
    job.feed([event("1", 0)])

    assert "names the column til for the validity" in job.stopped(ConfigurationError).message


@pytest.mark.full
def test_a_window_by_a_column_of_the_table_after_two_lookups_and_a_requirement(small_job):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    found = events.lookup("prices", on="client").lookup("prices", on={"client": "client"}, columns=(), how="left")
    checked = found.require(price="price > 1").transform(lambda rows: rows.withColumn("double", F.col("price") * 2))
    sums = checked.window(sp.tumbling("10 seconds"), by="price").aggregate(n=F.count("*"), total=F.sum("double"))
    return sp.Outputs(kept=sums, late=sums.late, unknown=sums.unmatched, rejected=checked.rejected)
"""
    job = small_job(text, bound(sinks={"kept": "parquet", "late": "json", "unknown": "json", "rejected": "json"}))
    prices(job, {"a": 1.0, "b": 2.0})
    job.feed([event("1", 0), event("2", 1, client="b"), event("3", 2, client="b"), event("4", 3, client="c")])
    job.feed([event("5", 100, client="b")])
    job.feed([event("7", 200, client="b")])
    job.feed([event("6", 0, client="b")])

    (found,) = job.run().accounts

    assert {(row["price"], row["n"], row["total"]) for row in job.rows("kept")} == {(2.0, 2, 8.0), (2.0, 1, 4.0)}
    assert found.adds_up
    assert (found.account.rejected, found.account.unmatched, found.account.late) == (1, 1, 1)


def newest_plan(spark):
    """The plan of the newest batch, in words."""
    executions = spark._jsparkSession.sharedState().statusStore().executionsList()
    plans = [executions.apply(number).physicalPlanDescription() for number in range(executions.size())]
    return next(plan for plan in reversed(plans) if "VersionedTable" in plan)


@pytest.mark.parametrize(
    ("settings", "join"),
    [({}, "BroadcastHashJoin"), ({"spark.sql.autoBroadcastJoinThreshold": "-1"}, "SortMergeJoin")],
    ids=["small", "large"],
)
def test_a_small_table_is_sent_to_every_task_and_a_large_one_is_not(small_job, settings, join):
    job = small_job(INNER, bound(spark=settings))
    prices(job, {"a": 1.5})
    job.feed([event("1", 0), event("2", 1, client="b")])

    (found,) = job.run().accounts

    assert (shown(job), found.account.unmatched, found.adds_up) == ({"1": 1.5}, 1, True)
    assert join in newest_plan(job.spark)


@pytest.mark.full
def test_a_table_of_csv_and_one_without_rows(small_job):
    table = {**PRICES, "format": "csv", "schema": "client string, price decimal(10,2), since date"}
    job = small_job(INNER, bound(table))
    (job.folder / "prices").mkdir()
    file = job.folder / "prices/all.csv"
    file.write_text("client,price,since\n")
    job.feed([event("1", 0)])
    job.run()
    file.write_text('client,price,since\n"a",1.50,2026-01-05\nb,,\n')
    job.feed([event("2", 1), event("3", 2, client="b")])
    job.run()

    assert {key: value and str(value) for key, value in shown(job).items()} == {"2": "1.50", "3": None}
    assert [row["id"] for row in job.rows("unknown")] == ["1"]
    file.write_text("client,price,since\na@b.de,dear,2026-01-05\n")
    error = str(job.stopped(DataError))
    assert "cannot be read: FAILED_READ_FILE" in error
    assert "prices/all.csv" in error
    assert not any(value in error for value in ("dear", "a@b.de", "2026-01-05")), "no values of rows"
    file.write_text("client,cost\na,1.0\n")
    assert "cannot be read" in job.stopped(DataError).message


def test_delta_without_its_jar_is_refused_in_a_sentence(small_job):
    job = small_job(INNER, Binding(sinks=SINKS, tables={"table.prices": {"connector": "delta", "path": "prices"}}))
    job.feed([event("1", 0)])

    with pytest.raises(ConfigurationError) as raised:  # it has a class of Spark's in it: the value of a setting, to be copied
        job.run()

    error = raised.value
    assert 'connector is "delta", and this Spark' in error.message
    for line in (
        "spark.jars.packages",
        "io.delta.sql.DeltaSparkSessionExtension",
        "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    ):
        assert line in error.remedy


def test_a_setting_of_the_process_may_stand_in_the_job_and_another_value_of_it_is_refused(small_job, spark):
    """`spark.sql.extensions` is one: Delta Lake needs it."""
    key = "spark.sql.warehouse.dir"
    job = small_job(INNER, bound(spark={key: spark.conf.get(key)}))
    prices(job, {"a": 1.5})
    job.feed([event("1", 0)])
    job.run()
    assert shown(job) == {"1": 1.5}

    job.binding = replace(job.binding, spark={key: "/elsewhere"})
    job.write()
    error = job.stopped(ConfigurationError)
    assert f"[spark] sets {key} to /elsewhere, and this Spark was started with {spark.conf.get(key)}" in error.message


@pytest.mark.full
def test_versions_that_nothing_names_any_more_are_removed(small_job, monkeypatch):
    from streamproof.runtime.journal import manifests
    from streamproof.runtime.tables import versions as of_tables

    monkeypatch.setattr(manifests, "KEPT", 2)
    monkeypatch.setattr(of_tables, "_SWEEP_EVERY", 1)
    job = small_job(INNER, bound(AT_ONCE))
    prices(job, {"a": 0.0})
    for number in range(5):
        job.feed([event(f"{number}", number)])

    job.run(listener=changing(job, *({"a": float(number)} for number in range(1, 5))))

    assert shown(job) == {f"{number}": float(number) for number in range(5)}
    assert len(versions(job)) <= 3
    assert {pinned(job, 3), pinned(job, 4)} <= set(versions(job))


@pytest.mark.full
def test_a_bounded_run_uses_the_table_as_it_is(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.5})
    job.feed([event("1", 0), event("2", 1, client="b")])

    result = run_bounded(load(job.folder), spark=job.spark)

    assert (result.account.emitted, result.account.unmatched, result.accounts[0].adds_up) == (1, 1, True)


@pytest.mark.full
def test_check_with_spark_says_the_columns(small_job):
    job = small_job(INNER, bound())
    prices(job, {"a": 1.5})
    job.feed([event("1", 0)])

    (said,) = analysed(load(job.folder), spark=job.spark).values()

    assert said == f"{SCHEMA.replace('ts long', 'ts timestamp')}, price double".replace(",  ", ", ")
