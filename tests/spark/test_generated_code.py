"""The generated loop over the records stays short enough for Java to compile it."""

from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructField, StructType

from full_tables import full
from spark.small_job import WINDOWED, Binding
from streamproof import _jvm
from streamproof.config import load
from streamproof.core.sides import DUPLICATE, LATE, REJECTED
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.rows.doors import SideDoors
from streamproof.runtime.rows.tally import tallied
from streamproof.runtime.start.plan import reads
from streamproof.stream.graph import build
from streamproof.stream.names import DUE

COMPILED = 8_000
"""Bytes of a method above which HotSpot interprets it for ever (its DontCompileHugeMethods)."""

CHAIN = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0", known="client is not null").filter("client != 'test'", name="no test clients")
    sums = checked.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v"))
    return sp.Outputs(sums=sums, late=sums.late, rejected=checked.rejected)
"""

THROUGH = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0", known="client is not null").filter("client != 'test'", name="no test clients")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
"""Doors, hashes and sums of every column are in one loop."""

KEPT_SINKS = {"kept": "parquet", "rejected": "json"}


FUTURE, ANY_FUTURE = ', max_future = "5 minutes"', ', max_future = "none"'


@pytest.mark.parametrize("form", ["json", "parquet"])
@pytest.mark.parametrize(
    ("more", "future", "trace"), [(0, FUTURE, True), *full((0, ANY_FUTURE, False), (16, FUTURE, False), (16, ANY_FUTURE, False))]
)
def test_the_loop_over_the_records_is_compiled(small_job, form, more, future, trace):
    schema = ", ".join(["id string, client string, v double, ts long", *[f"c{number} string" for number in range(more)]])
    declared = 'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds"' + future + " }"
    for text, query, sinks in ((CHAIN, "sums", WINDOWED.sinks), (THROUGH, "kept", KEPT_SINKS)):
        job = small_job(text, Binding(format=form, schema=schema, event_time=declared, sinks=sinks))
        sizes = methods(job, query, trace=trace)
        assert min(sizes) > 0, "a size that is not known is no size"
        assert max(sizes) < COMPILED, query


def methods(job, query: str, *, trace: bool) -> list[int]:
    """The bytes of the longest method of each generated stage of the job's plan, as a batch query over the same steps."""
    spark = job.spark.newSession()
    spark.conf.set("spark.sql.adaptive.enabled", "false")  # as in a stream: the plan is final before it runs
    bound = bind(load(job.folder))
    root = bound.outputs.main[query]
    jvm_doors = _jvm.Doors(spark, str(job.folder / "checkpoint"), "run")
    doors = SideDoors(jvm_doors, {side: str(job.folder / str(side)) for side in (LATE, REJECTED, DUPLICATE)})
    built = build(root, reads(bound.query(query), spark, doors, stream=False, trace=trace), doors).rows
    planned = tallied(built, jvm_doors, query, sums=root.stateful).rows
    stages = stages_of(planned)
    assert any("divert_rejected" in stage._1() for stage in stages), "the doors are in a generated stage"
    return [stage._3().maxMethodCodeSize() for stage in stages]


def stages_of(rows: DataFrame) -> list[Any]:
    """Each generated stage of a plan: its operators, its code, and the sizes of its methods."""
    debug = getattr(rows.sparkSession._jvm, "org.apache.spark.sql.execution.debug.package$").__getattr__("MODULE$")
    generated = debug.codegenStringSeq(rows._jdf.queryExecution().executedPlan())
    return [generated.apply(number) for number in range(generated.size())]


def test_rows_that_wait_are_read_by_the_same_code_in_every_batch(spark, tmp_path):
    """Spark finds compiled code again by its text: neither the bounds of a batch nor its files are in it."""
    columns = StructType([StructField(DUE, LongType())])
    waiting = _jvm.WaitingRows(spark, DUE, columns, {"mode": "FAILFAST"})
    codes, given = [], []
    for name, bounds in (("1", (1, 5)), ("2", (5, 8))):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(f'{{"{DUE}":{end}}}\n' for end in range(10)))
        waiting.of({str(file): file.stat().st_size}, *bounds)
        codes.append([stage._2() for stage in stages_of(waiting.rows().select(DUE))])
        _jvm.write_rows(waiting.rows(), "json", str(tmp_path / f"out-{name}"), {})
        given.append(sorted(row[DUE] for row in spark.read.json(str(tmp_path / f"out-{name}")).collect()))

    first, second = codes
    assert first
    assert first == second
    assert given == [[2, 3, 4, 5], [6, 7, 8]]
