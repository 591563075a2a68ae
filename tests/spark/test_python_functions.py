"""Python functions of a job: in the workers, from modules beside the job, called once a row."""

import pytest

from spark.small_job import Binding, event
from streamproof.config import load
from streamproof.core.account import Account
from streamproof.errors import JobDefinitionError
from streamproof.runtime.binding.bind import bind

PYTHON_FUNCTIONS = """
import threading

import rates

LOCK = threading.Lock()


@F.udf("double")
def doubled(v):
    return rates.in_euros(v) * 2


@F.pandas_udf("string")
def shouted(client: "pd.Series") -> "pd.Series":
    return client.str.upper()


@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    richer = events.transform(lambda rows: rows.withColumn("v", doubled("v")).withColumn("client", shouted("client")))
    return sp.Outputs(kept=richer)
"""


def test_python_functions_of_the_job_and_of_modules_beside_it_run_in_workers(small_job):
    """A worker knows neither the job's file by the name it was imported under, nor its folder."""
    job = small_job("import pandas as pd\n" + PYTHON_FUNCTIONS, Binding(sinks={"kept": "parquet"}))
    (job.folder / "rates.py").write_text(
        "import threading\n\nLOCK, RATE = threading.Lock(), 1.25\n\n\ndef in_euros(v):\n    return v * RATE\n"
    )
    job.feed([event("e1", 1, v=4.0), event("e2", 2, v=8.0, client="b")])
    job.run()
    assert [(row["id"], row["client"], row["v"]) for row in job.rows("kept")] == [("e1", "A", 10.0), ("e2", "B", 20.0)]


FORKED = """
import os

import rates

@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    rate = F.udf(lambda _: rates.RATE, "double")
    forked_from = F.udf(lambda _: str(os.getppid()), "string")
    return sp.Outputs(kept=events.transform(lambda rows: rows.withColumn("v", rate("v")).withColumn("client", forked_from("client"))))
"""


def test_jobs_share_the_process_that_workers_are_forked_from_and_import_from_their_own_folder(small_job):
    """Spark passes more than four folders on in any order, and the other jobs have a module of that name too."""
    seen = []
    for number in range(20):
        job = small_job(FORKED, Binding(sinks={"kept": "parquet"}), folder=f"job-{number}")
        (job.folder / "rates.py").write_text(f"RATE = {number}.0\n")
        job.feed([event("e1", 1)])
        if number in (0, 19):
            job.run()
            seen += [(row["v"], row["client"]) for row in job.rows("kept")]
        else:
            bind(load(job.folder))

    assert [rate for rate, _ in seen] == [0.0, 19.0]
    assert len({process for _, process in seen}) == 1


@pytest.mark.full
def test_a_function_that_no_worker_can_import_is_named_with_the_way_out(small_job):
    wrapped = """
from functools import lru_cache

@lru_cache
def slowly(v):
    return v * 2

@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.transform(lambda rows: rows.withColumn("v", F.udf(lambda v: slowly(v), "double")("v"))))
"""
    job = small_job(wrapped, Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    error = job.stopped(JobDefinitionError)

    assert "A Python worker cannot import a function of the job's file that is wrapped by an object." in error.message
    assert error.remedy == "Move the function into a module beside the job's file."


CALLED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    @F.udf("double")
    def counted(v):
        with open({path!r}, "a") as calls:
            calls.write("called\\n")
        return v

    richer = events.transform(lambda rows: rows.withColumn("v", counted("v"))).require(v="v >= 0").filter("v < 100", name="large")
    return sp.Outputs(sums=richer.window(sp.tumbling("30 seconds"), by="client").aggregate(total=F.sum("v")))
"""


def test_a_python_function_is_called_once_for_a_row_whatever_doors_stand_behind_it(small_job, tmp_path):
    """Rejected, filtered and late rows leave behind it; a filter that is pushed below it would compute it anew."""
    calls = tmp_path / "calls.txt"
    job = small_job(CALLED.format(path=str(calls)), Binding(sinks={"sums": "parquet"}))
    job.feed([event("e1", 100), event("e2", 101), event("e3", 102, v=-1), event("e4", 103, v=200)])
    job.feed([event("e5", 102)])
    job.feed([event("e6", 1)])

    result = job.run()

    assert result.account == Account(open_state=3, late=1, rejected=1, filtered=1)
    assert len(calls.read_text().splitlines()) == 6
