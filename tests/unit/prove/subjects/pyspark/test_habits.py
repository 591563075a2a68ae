"""What public jobs do beside streams: told without Spark as far as it can be."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery, StreamingQueryManager

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.sample import read_sample
from streamproof.prove.subjects.pyspark.batch_reads import BatchReads
from streamproof.prove.subjects.pyspark.child import _stopped
from streamproof.prove.subjects.pyspark.cut_lines import SAYS
from streamproof.prove.subjects.pyspark.ending import JOB_THREAD, bind_ends
from streamproof.prove.subjects.pyspark.kafka_headers import headers_of, require_headers
from streamproof.prove.subjects.pyspark.notebook import _Tool
from streamproof.prove.subjects.pyspark.places import Places
from streamproof.prove.subjects.pyspark.redirect import _reading_back
from streamproof.prove.subjects.pyspark.tables import Tables
from streamproof.prove.subjects.pyspark.told import Told, ToldInput

CLICKS, ORDERS = ToldInput("clicks", "json", "id long"), ToldInput("orders", "parquet", "id long")


def in_the_job(do):
    found = []
    thread = threading.Thread(target=lambda: found.append(do()), name=JOB_THREAD)
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def calls(monkeypatch):
    """The methods of queries, replaced by ones that are noted."""
    noted = []

    def waits(self, timeout=None):
        noted.append(("waits", timeout))
        return True

    for owner, name in ((StreamingQuery, "awaitTermination"), (StreamingQueryManager, "awaitAnyTermination")):
        monkeypatch.setattr(owner, name, waits)
    monkeypatch.setattr(StreamingQuery, "stop", lambda self: noted.append("stops"))
    bind_ends()
    return noted


def test_a_query_that_is_stopped_comes_to_its_end_first(calls):
    query = SimpleNamespace()

    assert in_the_job(lambda: StreamingQuery.awaitTermination(query, 1)) is True
    assert StreamingQuery.awaitTermination(query) is None
    in_the_job(lambda: StreamingQuery.stop(query))

    assert calls == [("waits", None)] * 3 + ["stops"]


class Manager:
    """Queries as Spark has them: one that ended is told of until `resetTerminated`; without one it waits for the next."""

    def __init__(self, rounds: int) -> None:
        self.left, self.told = rounds, False

    @property
    def active(self):
        return [self] * (self.left > 0)

    def waits(self, timeout=None):
        if self.left:
            self.left -= 1
            self.told = self.left == 0
        assert self.told or timeout is not None, "it would wait for ever"
        return self.told


def test_after_the_last_query_a_wait_for_any_has_an_end(monkeypatch):
    monkeypatch.setattr(StreamingQuery, "awaitTermination", lambda *_: None)
    monkeypatch.setattr(StreamingQuery, "stop", lambda *_: None)
    monkeypatch.setattr(StreamingQueryManager, "awaitAnyTermination", Manager.waits)
    bind_ends()
    streams = Manager(rounds=3)

    assert StreamingQueryManager.awaitAnyTermination(streams, timeout=0.01) is True, "it goes on to the end of what there is"
    streams.told = False
    began = time.monotonic()
    assert StreamingQueryManager.awaitAnyTermination(streams, timeout=0.4) is False
    assert time.monotonic() - began >= 0.4, "a loop of such waits is no work"
    streams.told = True
    assert StreamingQueryManager.awaitAnyTermination(streams) is None


def test_a_function_that_stops_its_own_query_does_not_wait_for_itself(calls):
    StreamingQuery.stop(SimpleNamespace())

    assert calls == []


def test_a_batch_reader_of_an_inputs_folder_gets_its_events(tmp_path):
    reads = BatchReads([CLICKS, ORDERS], {"clicks": "/events/clicks", "orders": "/events/orders"})
    there = tmp_path / "clicks"
    there.mkdir()

    assert reads.bound("/landing/clicks", "json") == "/events/clicks"
    assert reads.bound("s3a://bucket/clicks/*.json", "json") == "/events/clicks"
    assert reads.bound("/landing/clicks/date=2026-01-01/", "text") == "/events/clicks"
    assert reads.bound("/landing/orders.parquet", "parquet") == "/events/orders"
    assert reads.bound(str(there), "json") == str(there), "what is there is read there"
    assert reads.bound("/clicks/customers", "json") == "/clicks/customers"
    with pytest.raises(ScenarioError, match="the sample of orders is parquet"):
        reads.bound("/landing/orders", "json")


def test_a_place_that_is_not_there_is_the_inputs_if_a_stream_reads_it():
    reads = BatchReads([CLICKS], {"clicks": "/events/clicks"})

    assert reads.bound("/landing/in/*", "json") == "/landing/in/*", "in foreachBatch nothing is guessed"
    assert in_the_job(lambda: reads.bound("/landing/in/*", "json")) == "/events/clicks"
    assert in_the_job(lambda: reads.bound("/lake/rows", "parquet")) == "/lake/rows"
    reads.require_streamed(["/landing/in"])
    with pytest.raises(ScenarioError, match=r"/landing/in/\* by spark.read, and it is not there"):
        reads.require_streamed(["/landing/other"])


def test_the_format_of_a_batch_reader_is_known(tmp_path):
    asked = []
    reads = SimpleNamespace(bound=lambda place, form: asked.append((place, form)) or "/events")
    places = Places("sp-record://1/x", tmp_path)

    def read(self, *arguments, **options):
        return arguments, options

    load = _reading_back(read, places, reads, "")
    assert load(SimpleNamespace(), "/a", "json") == (("/events", "json"), {})
    assert load(SimpleNamespace(_streamproof_format="csv"), path="/b") == ((), {"path": "/events"})
    assert _reading_back(read, places, reads, "json")(None, "/c", "id int") == (("/events", "id int"), {})
    assert _reading_back(read, places, reads, "json")(None, "sp-record://1/x/out/clicks") == (("sp-record://1/x/out/clicks",), {})
    assert load(SimpleNamespace(_streamproof_format="delta"), "/d") == (("/d",), {})
    assert asked == [("/a", "json"), ("/b", "csv"), ("/c", "json")]


def test_a_statement_reads_the_tables_that_the_job_fills(tmp_path):
    tables, made = Tables(Places("/base", tmp_path)), []
    frame = SimpleNamespace(createOrReplaceTempView=made.append)
    spark = SimpleNamespace(createDataFrame=lambda rows, schema: frame)
    for name in ("per_user", "shop.rows"):
        tables.fills(name, "/out", tmp_path / "out", "schema", SimpleNamespace(), complete=False)

    assert (
        tables.named_in(spark, "select * from per_user p join other o on 1=1") == "select * from `per_user` p join other o on 1=1"
    )
    assert tables.named_in(spark, "SELECT shop.rows.id FROM shop.rows") == "SELECT `rows`.id FROM `rows`"
    assert made == ["per_user", "rows"]


@pytest.mark.parametrize(
    "problem",
    [
        TypeError("float() argument must be a string or a real number, not 'NoneType'"),
        StreamingQueryException("[NOT_NULL_CONSTRAINT_VIOLATION] null in a column"),
        AnalysisException("java.lang.NullPointerException"),
    ],
    ids=str,
)
def test_a_null_may_come_of_a_line_that_the_proof_has_cut(problem, tmp_path):
    if isinstance(problem, TypeError):
        (tmp_path / "job.py").write_text("def write(x):\n    return float(x)\n")
        space = {}
        exec(compile((tmp_path / "job.py").read_text(), str(tmp_path / "job.py"), "exec"), space)
        problem = _raised(space["write"])
    cut = _stopped(problem, [], Told("job.py", cuts=True))

    assert SAYS in cut.remedy
    assert "--as-is" in cut.remedy
    assert SAYS not in (_stopped(problem, [], Told("job.py")).remedy or "")


def test_what_is_no_null_has_nothing_to_do_with_cut_lines():
    assert SAYS not in (_stopped(AnalysisException("[NOT_SO] x"), [], Told("job.py", cuts=True)).remedy or "")


def _raised(function):
    from streamproof.prove.subjects.pyspark import writers

    noted = writers.Started("/x", Path("/x")).noting(lambda rows, batch: function(None), lambda: "out")
    try:
        noted(None, 0)
    except TypeError as problem:
        return problem
    raise AssertionError


@pytest.mark.parametrize(
    "headers",
    [{"trace": "a", "other": None}, [{"key": "trace", "value": "a"}], ["trace", "a"]],
    ids=["an object", "a list", "in turn"],
)
def test_headers_of_a_record_come_from_the_sample(headers):
    assert headers_of({"headers": headers}) == [{"key": "trace", "value": b"a"}]


def test_a_sample_without_headers_is_refused_where_the_job_asks_for_them():
    assert headers_of({"id": 1}) is None
    with pytest.raises(ScenarioError, match="the sample of clicks has none"):
        require_headers("clicks", ["id"])


def test_a_tool_of_a_notebook_says_what_it_is():
    with pytest.raises(ScenarioError, match=r"dbutils.widgets, which only a notebook has"):
        _Tool("dbutils").widgets.get("x")


def test_a_log_is_lines(tmp_path):
    (tmp_path / "app.log").write_text('first\n{"a": 1}\n\nthird,3\n')

    found = read_sample("app", tmp_path / "app.log")

    assert (found.format, found.schema) == ("text", "value string")
    assert [record.values["value"] for record in found.records] == ["first", '{"a": 1}', "third,3"]
