"""A run that fails says where: query, batch, what that reads, the step, a masked value at fault, what to do, and a page; no value of a row."""

import json
import traceback

import pytest
from pyspark.errors import utils

from spark.small_job import Binding, event
from streamproof.errors import StreamproofError
from streamproof.runtime.watching.events import RunEvent
from streamproof.runtime.watching.failure import Failure, Read

ONE = Binding(sinks={"kept": "parquet"})
SECRET = "anna-7f"
"""A value of a row: it is in nothing that a failure says."""

IN_A_TRANSFORM = """
def rated(rows):
    @F.udf("double")
    def third(v):
        return 1 / v
    return rows.withColumn("r", third("v"))


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.require(id="id is not null").transform(rated))
"""
OF_THE_MODULE = """
@F.udf("int")
def number(client):
    return int(client)


def once(rows):
    return rows.withColumn("n", number("client"))


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(once))
"""
TWICE = OF_THE_MODULE.replace("events.transform(once)", "events.transform(once).transform(again)").replace(
    "@sp.job", 'def again(rows):\n    return rows.withColumn("m", number("client"))\n\n\n@sp.job'
)
"""Two steps use one function: which of them it was nobody knows."""
IN_SQL = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.require(c="length(id) > 0 and cast(client as int) > 0").filter("v > 0", name="positive"))
"""
IN_A_COLUMN = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.require(v="v > 0").filter(F.col("client").cast("int") > 0, name="some"))
"""
IN_TWO_COLUMNS = IN_A_COLUMN.replace('.require(v="v > 0")', '.filter(F.col("v") > 0, name="positive")')


def failed(job) -> tuple[Failure, list[RunEvent], StreamproofError]:
    """Runs a job whose second batch fails."""
    job.feed([event("e1", 1, client="1")])
    job.feed([event("e2", 2, v=0.0 if "third" in job.text else 1.0, client=SECRET)])
    heard: list[RunEvent] = []
    error = job.stopped(StreamproofError, listener=heard.append)
    assert heard[-1].kind == "run-failed"
    return error.failure, heard, error


@pytest.mark.parametrize(
    ("text", "step", "said", "sample"),
    [
        (IN_A_TRANSFORM, "transform(rated) in {file} line 7", "third ({file} line 10)", {}),
        (OF_THE_MODULE, "transform(once) in {file} line 12", "number ({file} line 9)", {}),
        (TWICE, "", "number ({file} line 9)", {}),
        (IN_SQL, "require()", "length(id) > 0 and cast(client as int) > 0", {"client": "text of 7 characters"}),
        (IN_A_COLUMN, "filter(name='some')", "{file} line 9", {"the value to be cast to int": "text of 7 characters"}),
        (IN_TWO_COLUMNS, "", "{file} line 9", {"the value to be cast to int": "text of 7 characters"}),
    ],
    ids=["function of a transform", "function of the module", "function of two steps", "SQL", "column", "two columns"],
)
def test_a_failure_in_a_task_says_where_it_was(text, step, said, sample, small_job, monkeypatch):
    monkeypatch.setattr(utils, "_enable_debugging_cache", True)  # as outside of a proof: columns know where they were written
    job = small_job(text, ONE)
    file = job.folder / "job.py"

    failure, heard, error = failed(job)

    assert failure == heard[-1].failure
    assert (failure.job, failure.query, failure.batch) == ("small", "kept", 1)
    assert failure.reads == (Read("events", files=("002.json",), of_files=1),)
    assert failure.where.step == step.format(file=file)
    assert failure.where.said.endswith(said.format(file=file))
    assert failure.sample == sample
    assert failure.page == "docs/reference/codes.md#error-error"
    assert failure.next.startswith("Mend it and run again.")
    assert failure.cause
    everywhere = json.dumps([each.as_dict() for each in heard]) + "".join(traceback.format_exception_only(error))
    assert SECRET not in everywhere
    assert "in: query kept, batch 1" in everywhere  # whoever has called sp.run reads it in the trace


def test_a_failure_before_a_batch_is_in_none(small_job):
    job = small_job(IN_SQL, ONE)
    job.feed([event("e1", 1, client="1")])
    job.run()
    (job.checkpoint() / "metadata").write_text('{"id":"other"}')
    (job.checkpoint() / ".metadata.crc").unlink()  # with that of before the file would be torn, and made again

    error = job.stopped(StreamproofError)

    assert error.failure.query == "kept"
    assert (error.failure.batch, error.failure.reads, error.failure.where.said) == (None, (), "not known")
