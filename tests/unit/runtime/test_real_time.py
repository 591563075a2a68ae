"""What the real-time trigger refuses, each with the reason, before anything starts (S18)."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import streamproof as sp
from streamproof.config import JobConfig, load
from streamproof.connectors.kafka import source as kafka
from streamproof.errors import ConfigurationError, EnvironmentProblem
from streamproof.runtime.real_time.possible import require_possible
from streamproof.runtime.real_time.slots import require_slots
from streamproof.stream.recipe import Recipe
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
PAYMENTS = Stream(Recipe("payments"))
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

    assert (trigger.real_time, trigger.interval, str(trigger), trigger.available_now) == (True, length, said, False)


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


@pytest.mark.parametrize(("cores", "enough"), [(4, True), (3, False)])
def test_each_partition_of_each_output_takes_a_core(configured, monkeypatch, cores, enough):
    monkeypatch.setattr(kafka, "partitions", lambda *_: 2)
    bound = SimpleNamespace(config=configured(), outputs=sp.Outputs(large=ROWS, all=PAYMENTS))
    spark = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=cores))
    if enough:
        require_slots(bound, spark)
        return

    with pytest.raises(EnvironmentProblem, match=r"4 partitions are .* \(payments 4\), and Spark has 3 cores") as raised:
        require_slots(bound, spark)

    assert "local[4]" in str(raised.value.remedy)
