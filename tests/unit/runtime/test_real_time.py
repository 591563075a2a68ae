"""What the real-time trigger refuses, each with the reason, before anything starts (S18)."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import streamproof as sp
from streamproof import _jvm
from streamproof.config import JobConfig, load
from streamproof.connectors.kafka import reading as kafka
from streamproof.core.manifest import Digest, Fingerprint, Manifest, Section
from streamproof.core.sides import REJECTED
from streamproof.errors import CheckpointError, ConfigurationError, EnvironmentProblem
from streamproof.runtime.binding.bound import BoundJob, OutputPlace
from streamproof.runtime.binding.real_time import require_possible
from streamproof.runtime.real_time.protocol import RealTimeProtocol
from streamproof.runtime.real_time.slots import require_slots, require_still_read
from streamproof.stream.node import source
from streamproof.stream.stream import Stream

TOML = """\
[job]
entry = "job.py:alerts"
trigger = "real-time 30 seconds"
[source.payments]
connector = "kafka"
servers = "localhost:9092"
topic = "payments"
format = "json"
schema = "id string, amount double"
[sink.large]
connector = "kafka"
servers = "localhost:9092"
topic = "large"
guarantee = "at-least-once"
"""
FILES = 'connector = "files"\npath = "data"\n'
OF_KAFKA = 'connector = "kafka"\nservers = "localhost:9092"\ntopic = "payments"\n'
TO_KAFKA = 'connector = "kafka"\nservers = "localhost:9092"\ntopic = "large"\nguarantee = "at-least-once"\n'
PAYMENTS = Stream(source("payments"))
SPARK: Any = None
ROWS = PAYMENTS.filter("amount > 0", name="nothing")


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., JobConfig]:
    """Loads the file with pieces of it replaced."""

    def configured(*replacements: tuple[str, str]) -> JobConfig:
        text = TOML
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "streamproof.toml").write_text(text)
        (tmp_path / "job.py").write_text("import streamproof as sp\n")
        return load(tmp_path)

    return configured


@pytest.mark.parametrize(
    ("written", "length", "said"),
    [
        ("real-time 30 seconds", timedelta(seconds=30), "real-time 30 seconds"),
        ("real-time", timedelta(minutes=5), "real-time 5 minutes"),
    ],
)
def test_a_batch_has_a_length(configured, written, length, said):
    trigger = configured(("real-time 30 seconds", written)).trigger

    assert (trigger.real_time, trigger.interval, str(trigger)) == (True, length, said)


def test_an_interval_is_not_real_time(configured):
    assert not configured(("real-time 30 seconds", "30 seconds")).trigger.real_time


def test_rows_from_topic_to_topic_at_least_once_are_possible(configured):
    require_possible(configured(), sp.Outputs(large=ROWS))


@pytest.mark.parametrize(
    ("change", "stream", "said", "remedy"),
    [
        (("", ""), ROWS.deduplicate("id"), "and the output large has a deduplicate.", "1 second"),
        (
            ("format", "records_per_batch = 9\nformat"),
            ROWS,
            r"and \[source.payments\] has records_per_batch",
            "records_per_batch out",
        ),
        ((OF_KAFKA, FILES), ROWS, r"and \[source.payments\] is files", "1 second"),
        ((TO_KAFKA, FILES), ROWS, r"and \[sink.large\] is files", "1 second"),
        (('guarantee = "at-least-once"\n', ""), ROWS, r"and \[sink.large\] is exactly once", 'guarantee = "at-least-once"'),
        (
            ("[sink.large]", f"[sink.large.b]\n{TO_KAFKA.replace('large', 'b')}[sink.large.a]"),
            ROWS,
            "and large has 2 sinks",
            "Leave one",
        ),
    ],
)
def test_what_is_not_possible_is_said_with_its_line_and_the_reason(configured, change, stream, said, remedy):
    with pytest.raises(ConfigurationError, match=f"line 3: .* trigger is real-time 30 seconds, {said}") as raised:
        require_possible(configured(change), sp.Outputs(large=stream))

    assert remedy in str(raised.value.remedy)


@pytest.mark.parametrize("version", ["4.0.5", "4.2.1"])
def test_it_is_refused_on_a_spark_that_it_was_not_seen_on(configured, monkeypatch, version):
    monkeypatch.setattr("importlib.metadata.version", lambda name: version)

    with pytest.raises(ConfigurationError, match=f"and PySpark {version} is installed") as raised:
        require_possible(configured(), sp.Outputs(large=ROWS))

    assert raised.value.required == "It needs Spark 4.3 or later."


def bound(config: JobConfig, **sides: OutputPlace) -> Any:
    return BoundJob(config, sp.Outputs(large=ROWS, all=PAYMENTS), sides)


def cores(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(kafka, "partitions", lambda *_: 2)
    monkeypatch.setattr(_jvm, "task_slots", lambda _: number)


@pytest.mark.parametrize(("number", "enough"), [(4, True), (3, False)])
def test_each_partition_of_each_output_takes_a_core(configured, monkeypatch, number, enough):
    cores(monkeypatch, number)
    if enough:
        require_slots(bound(configured()), SPARK)
        return

    with pytest.raises(EnvironmentProblem, match=r"4 partitions are .* \(payments 4\), and Spark has 3 cores") as raised:
        require_slots(bound(configured()), SPARK)

    assert "local[4]" in str(raised.value.remedy)


@pytest.mark.parametrize(
    ("staged", "connector", "published", "free"),
    [
        ("json", "files", "json", True),
        ("json", "files", "", True),
        ("csv", "files", "csv", False),
        ("parquet", "files", "json", False),
        ("parquet", "kafka", "", False),
        ("json", "sink.py:Own", "", False),
    ],
)
def test_a_side_output_that_a_spark_job_publishes_takes_one_more(configured, monkeypatch, staged, connector, published, free):
    cores(monkeypatch, 4)
    rejected = OutputPlace("rejected", REJECTED, "out", staged, connector, bound=True, published=published)
    of_job = bound(configured(), large=OutputPlace("large", None, "out", "parquet", "kafka", bound=True), rejected=rejected)
    if free:
        require_slots(of_job, SPARK)
        return

    with pytest.raises(EnvironmentProblem, match=r"has 4 cores\. A Spark job publishes rejected meanwhile") as raised:
        require_slots(of_job, SPARK)

    assert "local[5]" in str(raised.value.remedy)


@pytest.mark.parametrize(
    ("read", "number", "said"),
    [
        (2, 2, None),
        (2, 3, None),
        (3, 9, "large reads 3 partitions, and read 2 when this run began; Spark has 9 cores now"),
        (2, 1, "large reads 2 partitions; Spark has 1 core now"),
    ],
)
def test_a_run_ends_where_a_partition_would_not_be_read_any_more(monkeypatch, read, number, said):
    cores(monkeypatch, number)
    if said is None:
        require_still_read(SPARK, "large", read, 2)
        return

    with pytest.raises(EnvironmentProblem, match=said):
        require_still_read(SPARK, "large", read, 2)


def protocol(*, lasts: int, remembers: Sequence[int]) -> RealTimeProtocol:
    """One that has accounted for batch 0; Spark says of these batches what they have read, of `lasts` last."""
    found = RealTimeProtocol.__new__(RealTimeProtocol)
    said = [SimpleNamespace(batchId=batch) for batch in remembers]
    found.commits = SimpleNamespace(stream=SimpleNamespace(lastProgress=SimpleNamespace(batchId=lasts), recentProgress=said))
    found._next, found.query = 1, SimpleNamespace(name="large")
    return found


@pytest.mark.parametrize(("lasts", "remembers", "over"), [(0, [0], []), (1, [], [1]), (3, [1, 2, 3], [1, 2, 3])])
def test_the_batches_that_are_over_come_one_after_the_other(lasts, remembers, over):
    assert [progress.batchId for progress in protocol(lasts=lasts, remembers=remembers)._over()] == over


def test_a_batch_that_spark_has_forgotten_stops_the_run_instead_of_all_that_follow_being_without_account():
    with pytest.raises(CheckpointError, match="Batch 1 of large is over, and Spark has forgotten how many records it has read"):
        list(protocol(lasts=3, remembers=[2, 3])._over())


@pytest.mark.parametrize(
    ("emitted", "staged", "sent"), [(5, 0, True), (5, 5, False), (0, 0, False)], ids=["real-time", "micro-batch", "without rows"]
)
def test_a_manifest_tells_whether_its_rows_went_out_while_the_batch_ran(emitted, staged, sent):
    sections = (Section("large", "main", "d", (), Digest(rows=staged)), Section("rejected", "rejected", "d", (), Digest(rows=2)))
    logs = Fingerprint(0, ("-",), {})
    found = Manifest("m", "job", "large", "i", 0, "a", logs, "", {}, sections, {"emitted": emitted})

    assert found.sent_while_it_ran is sent
