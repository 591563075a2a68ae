"""What a transform may not hold is refused when the plan is built, with its place; what no plan tells, the account does (R31)."""

import inspect
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import streamproof as sp
from full_tables import full
from spark.small_job import KEPT, WINDOWED, Binding, SmallJob, assert_readable, event
from streamproof.core.account import Account
from streamproof.errors import AccountError, JobDefinitionError
from streamproof.stream.graph import Read, build
from streamproof.stream.node import source
from streamproof.stream.operators import Transform
from streamproof.stream.operators.operator import EventTimeColumn

Function = Callable[[DataFrame], DataFrame]


@pytest.fixture
def events(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """A stream of files; nothing reads it."""
    return spark.readStream.schema("id string, client string, v double, at timestamp, list array<int>").json(str(tmp_path))


def planned(function: Function, events: DataFrame) -> DataFrame:
    return build(source("events").then(Transform(function)), {"events": Read(events)}, None).rows


def refused(function: Function, events: DataFrame) -> JobDefinitionError:
    with pytest.raises(JobDefinitionError) as error:
        planned(function, events)
    assert_readable(error.value)
    return error.value


def in_sql(query: str) -> Function:
    """A function that asks for the rows in SQL."""

    def asked(rows: DataFrame) -> DataFrame:
        rows.createOrReplaceTempView("asked")
        return rows.sparkSession.sql(query)

    return asked


def same(batches):
    yield from batches


CLIENTS = "values ('a', 1), ('b', 2) as clients(client, number)"


@pytest.mark.parametrize(
    ("function", "does", "operator", "instead"),
    [
        (lambda rows: rows.groupBy("client").count(), "aggregates rows", "Aggregate", "window("),
        (lambda rows: rows.groupBy(F.window("at", "1 minute")).count(), "aggregates rows", "Aggregate", "window("),
        (lambda rows: rows.groupBy(F.session_window("at", "1 minute")).count(), "aggregates rows", "Aggregate", "window("),
        (lambda rows: rows.groupBy("client").applyInPandas(same, rows.schema), "groups rows", "FlatMapGroupsInPandas", "window("),
        (lambda rows: rows.groupBy("client").applyInArrow(same, rows.schema), "groups rows", "FlatMapGroupsInArrow", "window("),
        (
            lambda rows: rows.groupBy("client").applyInPandasWithState(same, "a int", "a int", "append", "NoTimeout"),
            "groups rows, or keeps state",
            "FlatMapGroupsInPandasWithState",
            "window(",
        ),
        (lambda rows: rows.dropDuplicates(["id"]), "drops duplicates", "Deduplicate", "deduplicate("),
        (lambda rows: rows.distinct(), "drops duplicates", "Deduplicate", "deduplicate("),
        (in_sql("select distinct id from asked"), "drops duplicates", "Distinct", "deduplicate("),
        (
            lambda rows: rows.withWatermark("at", "1 second").dropDuplicatesWithinWatermark(["id"]),
            "drops duplicates",
            "DeduplicateWithinWatermark",
            "deduplicate(",
        ),
        (
            lambda rows: rows.withWatermark("at", "1 second"),
            "declares a watermark",
            "EventTimeWatermark",
            "event_time of the source",
        ),
        (lambda rows: rows.withColumn("one", F.explode("list")), "makes several rows of one", "explode", "as an array"),
        *full(
            (lambda rows: rows.select("*", F.posexplode_outer("list")), "makes several rows of one", "posexplode", "as an array"),
            (
                in_sql("select * from asked lateral view explode(list) as one"),
                "makes several rows of one",
                "explode",
                "as an array",
            ),
            (
                lambda rows: rows.select(F.inline(F.array(F.struct("id"), F.struct("id")))),
                "makes several rows of one",
                "inline",
                "as an array",
            ),
            (lambda rows: rows.select(F.stack(F.lit(2), "v", "v")), "makes several rows of one", "stack", "as an array"),
            (lambda rows: rows.select(F.json_tuple("id", "a")), "makes several rows of one", "json_tuple", "as an array"),
            (lambda rows: rows.unpivot(["id"], ["v"], "what", "value"), "makes several rows of one", "Expand", "as an array"),
            (
                lambda rows: rows.withColumn("w", F.window("at", "1 minute", "30 seconds")),
                "makes several rows of one",
                "Expand",
                "as an array",
            ),
            (lambda rows: rows.union(rows), "puts streams together", "Union", "an output of each"),
            (lambda rows: rows.join(rows.select("id"), "id"), "joins streams", "Join", "with tables only"),
            (
                in_sql("with x as (select * from asked) select x.* from x join x y using (id)"),
                "joins streams",
                "Join",
                "with tables only",
            ),
            (lambda rows: rows.intersect(rows), "compares rows with others", "Intersect", "an output of each"),
            (lambda rows: rows.exceptAll(rows), "compares rows with others", "Except", "an output of each"),
            (
                lambda rows: rows.withColumn("n", F.row_number().over(Window.partitionBy("client").orderBy("at"))),
                "computes over other rows",
                "Window",
                "window(",
            ),
            (lambda rows: rows.sample(0.5, 1), "takes some of the rows", "Sample", "filter("),
            (lambda rows: rows.limit(1), "takes some of the rows", "GlobalLimit", "filter("),
            (lambda rows: rows.offset(1), "takes some of the rows", "Offset", "filter("),
            (lambda rows: rows.orderBy("id"), "sorts rows", "Sort", "where the output is read"),
            (lambda rows: rows.sortWithinPartitions("id"), "sorts rows", "Sort", "where the output is read"),
            (
                in_sql(f"select asked.* from asked, lateral (select * from {CLIENTS} where number > asked.v)"),
                "does what is not known to work row by row",
                "LateralJoin",
                "where the output is read",
            ),
        ),
    ],
)
def test_what_no_transform_may_hold(events, function, does, operator, instead):
    error = refused(function, events)

    assert f" {does}" in error.message
    assert error.message.endswith(f": {operator} in Spark's plan.")
    assert instead in error.remedy


def test_a_processor_with_state_is_refused(events):
    from pyspark.sql.streaming import StatefulProcessor

    class Counting(StatefulProcessor):
        def init(self, handle): ...
        def handleInputRows(self, key, rows, timers): ...
        def close(self): ...

    def counted(rows: DataFrame) -> DataFrame:
        return rows.groupBy("client").transformWithState(Counting(), "client string", "append", "None")

    assert refused(counted, events).message.endswith(" groups rows, or keeps state: TransformWithStateInPySpark in Spark's plan.")


@pytest.mark.parametrize(
    "function",
    [
        lambda rows: rows,
        lambda rows: rows.withColumn("more", F.col("v") + 1).drop("list").withColumnRenamed("v", "w").alias("x"),
        lambda rows: rows.where("v > 0"),
        lambda rows: rows.fillna(0).replace(1, 2),
        lambda rows: rows.withColumn("more", F.transform("list", lambda each: each + 1)),
        lambda rows: rows.withColumn("minute", F.window("at", "1 minute")),
        lambda rows: rows.withColumn("file", F.col("_metadata.file_name")),
        lambda rows: rows.withColumn("more", F.udf(lambda v: v, "double")("v")),
        lambda rows: rows.withColumn("more", F.pandas_udf(lambda v: v, "double")("v")),
        lambda rows: rows.mapInArrow(same, rows.schema),
        lambda rows: rows.mapInPandas(same, rows.schema),
        lambda rows: rows.repartition(2),
        lambda rows: rows.repartition(2, "client").coalesce(1).hint("rebalance"),
        lambda rows: rows.observe("seen", F.count(F.lit(1))),
        in_sql("with x as (select *, v + 1 as more from asked) select * from x where v > 0"),
        in_sql(f"select *, (select max(number) from {CLIENTS}) as most from asked"),
        in_sql(f"select * from asked where client in (select client from {CLIENTS} group by client)"),
        in_sql(f"select /*+ broadcast(n) */ * from asked left join (select client, sum(number) from {CLIENTS} group by client) n using (client)"),
        in_sql(f"select * from asked join (select client, explode(array(number)) from {CLIENTS} limit 2) n using (client)"),
    ],
)  # fmt: skip
def test_what_a_transform_may_hold(events, function):
    assert planned(function, events).isStreaming


def test_a_transform_behind_another_is_judged_by_itself(events):
    """Spark changes the plan below it for a column of metadata."""
    root = sp.Stream(source("events")).transform(lambda rows: rows.where("v > 0")).node
    rows = build(root, {"events": Read(events)}, None).rows

    assert planned(lambda rows: rows.withColumn("file", F.col("_metadata.file_name")), rows).isStreaming
    assert "Union" in refused(lambda rows: rows.unionByName(rows), rows).message


def aggregated(root, rows):
    """What a query makes of rows after its late door, which lets all pass."""
    read = Read(rows, EventTimeColumn("at", timedelta(seconds=1)))
    return build(root, {root.sources[0]: read}, Mock(late=lambda rows, *_: rows, watched=lambda rows, *_: rows)).rows


def test_behind_an_aggregate_too(events):
    rows = events
    counts = sp.Stream(source("events")).window(sp.tumbling("1 minute"), by="client").aggregate(n=F.count("*"))

    assert aggregated(counts.transform(lambda rows: rows.withColumn("m", F.col("n") + 1)).node, rows).isStreaming
    for function, operator in (
        (lambda rows: rows.groupBy("window_end", "_records").agg(F.sum("n").alias("n")), "Aggregate"),
        (lambda rows: rows.withColumn("each", F.explode(F.array("n", "n"))), "explode"),
        (lambda rows: rows.withWatermark("window_end", "1 second"), "EventTimeWatermark"),
    ):
        with pytest.raises(JobDefinitionError) as error:
            aggregated(counts.transform(function).node, rows)
        assert error.value.message.endswith(f": {operator} in Spark's plan.")


def test_rows_that_are_no_stream_are_refused(events):
    error = refused(lambda rows: rows.sparkSession.createDataFrame([], rows.schema), events)

    assert error.message.endswith(" returned a DataFrame that is no stream.")


def doubled(times: int, rows: DataFrame) -> DataFrame:
    return rows.withColumn("one", F.explode(F.array_repeat("v", times)))


def test_the_function_is_named_with_its_place(events):
    line = inspect.getsourcelines(doubled)[1]

    error = refused(partial(doubled, 2), events)

    assert error.message.startswith("transform(doubled) in ")
    assert f"test_transform_limits.py line {line} makes several rows of one" in error.message


def line_of(job: SmallJob, text: str) -> int:
    """The line of the job's file, from 1, on which a text first stands."""
    return next(number for number, line in enumerate((job.folder / "job.py").read_text().splitlines(), start=1) if text in line)


def test_a_run_refuses_it_before_it_reads_anything(small_job):
    job = small_job(KEPT.replace("checked,", 'checked.transform(lambda rows: rows.withColumn("w", F.explode(F.array("v", "v")))),'))
    job.feed([event("e1", 1)])

    error = job.stopped(JobDefinitionError)

    assert "transform(lambda) in " in error.message
    assert f"{job.folder}/job.py line {line_of(job, 'lambda')} makes several rows of one" in error.message
    assert not (job.checkpoint() / "offsets").exists()


CHANGED = """
def twice(batches):
    for batch in batches:
        yield batch
        yield batch.slice(0, 1)


def doubling(rows):
    return rows.mapInArrow(twice, rows.schema)


def dropping(rows):
    return rows.where("id != 'e2'")


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(dropped=events.transform(dropping), doubled=events.transform(doubling))
"""


def test_r31_a_transform_that_drops_or_doubles_a_row_fails_the_run_behind_its_end(small_job):
    job = small_job(CHANGED, Binding(sinks={"dropped": "parquet", "doubled": "parquet"}))
    job.feed([event("e1", 1), event("e2", 2), event("e3", 3)])

    error = job.stopped(AccountError)

    assert error.exit_code == 4
    assert error.message.splitlines() == [
        "The account of dropped does not add up, 1 missing: 3 records were read, 2 are accounted for.",
        "The account of doubled does not add up, 1 too many: 3 records were read, 4 are accounted for.",
    ]
    for name in ("dropping", "doubling"):
        assert f"  transform({name}) in {job.folder}/job.py line {line_of(job, f'def {name}')}" in error.remedy.splitlines()
    assert [each.account for each in error.result.accounts] == [Account(emitted=2), Account(emitted=4)]
    assert job.ids("dropped") == ["e1", "e3"]  # what was published stands


HAVING = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    sums = events.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v"))
    return sp.Outputs(sums=sums.transform(lambda rows: rows.where("total > 1")))
"""


def test_r31_windows_that_a_transform_behind_them_drops_are_missing(small_job):
    job = small_job(HAVING, Binding(**{**vars(WINDOWED), "sinks": {"sums": "parquet"}}))
    job.feed([event("e1", 1), event("e2", 2, client="b"), event("e3", 3)])
    job.feed([event("e4", 100)])

    error = job.stopped(AccountError)

    assert error.message == "The account of sums does not add up, 1 missing: 4 records were read, 3 are accounted for."
    assert f"  transform(lambda) in {job.folder}/job.py line {line_of(job, 'lambda')}" in error.remedy.splitlines()
    assert error.result.account == Account(emitted=2, open_state=1)
