"""What a catalogue is told: OpenLineage's events of each query, made of its own classes, to a file and to a stand-in for a collector."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.generated import (
    column_lineage_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    schema_dataset,
    tags_run,
)
from openlineage.client.naming import dataset as naming

from streamproof.cli.main import main
from streamproof.cli.monitoring import catalogue_of
from streamproof.config import load
from streamproof.core.account import Account
from streamproof.core.datasets import Dataset, of_api, of_keys, of_path, of_table, of_topics
from streamproof.errors import ConfigurationError
from streamproof.observe.openlineage.run_events import PRODUCER, RUNNING_EVERY_SECONDS, RunEvents
from streamproof.observe.openlineage.sending import OpenLineage
from streamproof.runtime.watching.events import BatchCommitted, QueryEnded, QueryStarted, RunFailed
from streamproof.runtime.watching.failure import Failure
from streamproof.runtime.watching.planned_events import Data, Origin, QueryPlanned
from streamproof.runtime.watching.result import QueryAccount
from unit.cli.conftest import Clock

TRADES = Data("trades", [Dataset("kafka://broker:9092", "trades")], {"client": "string", "notional": "double", "ts": "timestamp"})
EXPOSURE = Data(
    "exposure",
    [Dataset("postgres://db:5432", "risk.public.exposure")],
    {"client": "string", "exposure": "double", "model": "string", "window_end": "timestamp"},
    {
        "client": [Origin("trades", "client", "IDENTITY")],
        "exposure": [Origin("trades", "notional", "AGGREGATION")],
        "model": [Origin("trades", "client", "TRANSFORMATION")],
        "window_end": [],
    },
    {"model": ["MapInPandas"]},
)
PLANNED = QueryPlanned("exposure", [TRADES], [EXPOSURE, Data("late", [Dataset("file", "/out/late")], {"client": "string"})])
STARTED = QueryStarted("exposure", "7c1e", "checkpoint", {})
ENDED = QueryEnded("exposure", 2, 0, 9, {}, QueryAccount("exposure", 9, Account(emitted=9)), 0, None)
FAILED = RunFailed("DataError", "The value 'ann@example.org' is wrong.", "data", Failure("risk", "exposure"))
FACETS = {
    "schema": schema_dataset.SchemaDatasetFacet,
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "tags": tags_run.TagsRunFacet,  # of OpenLineage's client itself
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
}


def committed(batch: int, rows: int = 4) -> BatchCommitted:
    return BatchCommitted("exposure", batch, {"input": rows}, {"exposure": 2}, None, {})


def told(*events, clock=None) -> list[RunEvent]:
    given: list[RunEvent] = []
    hear = RunEvents("risk", given.append, clock or Clock())
    for event in events:
        hear(event)
    return given


def require_valid(said: dict) -> None:
    """Puts an event of a file together again by OpenLineage's classes, which take the keys of its schema and no others."""

    def made(facets: dict) -> dict:
        for name, facet in facets.items():
            url = facet["_schemaURL"]
            assert url == FACETS[name]._get_schema(), url
            FACETS[name](**{key: value for key, value in facet.items() if not key.startswith("_")})
        return facets

    datasets = {"inputs": (InputDataset, "inputFacets"), "outputs": (OutputDataset, "outputFacets")}
    assert set(said) == {"eventTime", "eventType", "run", "job", "inputs", "outputs", "producer", "schemaURL"}
    for where, (kind, own) in datasets.items():
        for each in said[where]:
            kind(each["namespace"], each["name"], facets=made(each.get("facets", {})), **{own: made(each.get(own, {}))})
            assert set(each) <= {"namespace", "name", "facets", own}
    RunEvent(
        eventTime=said["eventTime"],  # checked to be an instant
        producer=said["producer"],  # and this to be a URI
        run=Run(said["run"]["runId"], made(said["run"]["facets"])),  # and this to be a UUID
        job=Job(said["job"]["namespace"], said["job"]["name"], made(said["job"]["facets"])),
        eventType=RunState[said["eventType"]],
    )


def test_a_query_starts_runs_and_completes_in_one_run():
    clock = Clock()
    given: list[RunEvent] = []
    hear = RunEvents("risk", given.append, clock)
    for event in (PLANNED, STARTED, committed(0), committed(1)):
        hear(event)
    clock.now = RUNNING_EVERY_SECONDS
    hear(committed(2))
    hear(ENDED)

    assert [each.eventType.value for each in given] == ["START", "RUNNING", "RUNNING", "COMPLETE"]
    assert len({each.run.runId for each in given}) == 1
    assert {(each.job.namespace, each.job.name) for each in given} == {("streamproof", "risk.exposure")}
    last = given[-1]
    assert (last.inputs[0].namespace, last.inputs[0].name) == ("kafka://broker:9092", "trades")
    assert last.inputs[0].inputFacets["inputStatistics"].rowCount == 12
    assert [each.name for each in last.outputs] == ["risk.public.exposure", "/out/late"]
    assert last.outputs[0].outputFacets["outputStatistics"].rowCount == 6
    assert [(field.name, field.type) for field in last.inputs[0].facets["schema"].fields] == list(TRADES.columns.items())


def test_columns_say_what_they_are_made_of_and_those_that_a_step_hides_say_nothing():
    (start,) = told(PLANNED, STARTED)

    fields = start.outputs[0].facets["columnLineage"].fields

    assert {
        column: [(each.name, each.field, each.transformations[0].subtype) for each in said.inputFields]
        for column, said in fields.items()
    } == {"client": [("trades", "client", "IDENTITY")], "exposure": [("trades", "notional", "AGGREGATION")]}
    assert "columnLineage" not in start.outputs[1].facets


def test_a_run_that_fails_says_the_error_without_its_text():
    given = told(PLANNED, STARTED, FAILED)

    assert [each.eventType.value for each in given] == ["START", "FAIL"]
    assert given[-1].run.facets["errorMessage"].message == "DataError (data)"
    assert "ann@example.org" not in repr(given)


def test_a_run_that_fails_before_a_query_has_started_says_nothing_of_it():
    assert told(PLANNED, FAILED) == []


def test_the_namespace_of_jobs_is_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "payments")

    (start,) = told(PLANNED, STARTED)

    assert start.job.namespace == "payments"


def test_a_file_has_an_event_a_line_as_openlineages_classes_want_it(tmp_path):
    file = tmp_path / "lineage.jsonl"

    for _ in range(2):
        with OpenLineage("risk", f"file:{file}", print) as hear:
            for event in (PLANNED, STARTED, committed(0), FAILED):
                hear(event)

    said = [json.loads(line) for line in file.read_text().splitlines()]
    assert [each["eventType"] for each in said] == ["START", "RUNNING", "FAIL"] * 2
    for each in said:
        require_valid(each)
        assert each["job"]["facets"]["jobType"]["_producer"] == each["producer"] == PRODUCER


class StandIn(HTTPServer):
    """Stands in for a collector: keeps what is posted to it, and answers as it is told. No real one is here."""

    def __init__(self, answer: int) -> None:
        self.taken: list[tuple[str, str, dict]] = []
        taken = self.taken

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                taken.append((self.path, self.headers.get("Authorization", ""), json.loads(body)))
                self.send_response(answer)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    def __enter__(self) -> "StandIn":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


def test_a_stand_in_for_a_collector_gets_events_with_the_token(monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "hunter2")
    said: list[str] = []
    with StandIn(201) as collector, OpenLineage("risk", f"http://127.0.0.1:{collector.server_port}", said.append) as hear:
        for event in (PLANNED, STARTED, ENDED):
            hear(event)

    assert [(path, token, body["eventType"]) for path, token, body in collector.taken] == [
        ("/api/v1/lineage", "Bearer hunter2", "START"),
        ("/api/v1/lineage", "Bearer hunter2", "COMPLETE"),
    ]
    for _, _, body in collector.taken:
        require_valid(body)
    assert said == []


def test_a_collector_that_refuses_is_said_once_and_the_run_goes_on():
    said: list[str] = []
    with StandIn(400) as collector:
        port = collector.server_port
        with OpenLineage("risk", f"http://me:secret@127.0.0.1:{port}", said.append) as hear:
            for event in (PLANNED, STARTED, committed(0), ENDED):
                hear(event)

    (once,) = said
    assert once.startswith(f"OpenLineage: http://127.0.0.1:{port} does not take what this run sends. The job goes on")


def test_a_collector_that_is_not_there_is_said_once():
    said: list[str] = []
    with StandIn(201) as collector:
        port = collector.server_port

    with OpenLineage("risk", f"http://127.0.0.1:{port}", said.append) as hear:
        for event in (PLANNED, STARTED, ENDED):
            hear(event)

    assert len(said) == 1


@pytest.mark.parametrize("target", ["lineage.jsonl", "file:", "ftp://host", "http:"])
def test_what_is_neither_a_collector_nor_a_file_is_refused(target):
    with pytest.raises(ConfigurationError, match="--openlineage got"):
        OpenLineage("risk", target, print)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (of_topics("b1:9092,b2:9092", ["trades"])[0], naming.Kafka("b1", "9092", "trades")),
        (of_table("postgresql://me:secret@db/risk", "exposure"), naming.Postgres("db", "5432", "risk", "public", "exposure")),
        (of_table("postgresql://db:6543/risk?sslmode=require", "s.t"), naming.Postgres("db", "6543", "risk", "s", "t")),
        (of_table("host=db port=6543 dbname=risk password=secret", "t"), naming.Postgres("db", "6543", "risk", "public", "t")),
        (of_path("/data/trades"), naming.LocalFileSystem("/data/trades")),
        (of_path("file:///data/trades"), naming.LocalFileSystem("/data/trades")),
        (of_path("s3a://bucket/a/b"), naming.S3("bucket", "a/b")),
        (of_path("gs://bucket/a/b"), naming.GCS("bucket", "a/b")),
        (of_path("hdfs://name:8020/a/b"), naming.HDFS("name", "8020", "/a/b")),
    ],
)
def test_data_is_named_by_openlineages_convention(ours, theirs):
    assert (ours.namespace, ours.name) == (theirs.get_namespace(), theirs.get_name())


def test_what_has_no_convention_is_named_by_its_server_without_a_password():
    assert of_keys("redis://me:secret@cache:6380/2", "fraud:") == Dataset("redis://cache:6380", "2.fraud:")
    assert of_keys("redis://cache", "fraud:") == Dataset("redis://cache:6379", "0.fraud:")
    assert of_api("https://me:secret@pay.example/v1/pay?x=1") == Dataset("https://pay.example", "/v1/pay")


def test_the_configuration_names_a_catalogue_and_the_command_line_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my_job"]) == 0
    my_job = tmp_path / "my_job"
    with (my_job / "streamproof.toml").open("a") as file:
        file.write('\n[openlineage]\nto = "file:lineage.jsonl"\n')

    config = load(my_job)

    assert catalogue_of(config, None) == f"file:{my_job / 'lineage.jsonl'}"
    assert catalogue_of(config, "http://localhost:5000") == "http://localhost:5000"
