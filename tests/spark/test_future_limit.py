"""R28: the limit on future event times is the one that the user's file says, to the tick."""

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from full_tables import full
from streamproof.config import JobConfig, load
from streamproof.core.verdict import Verdict
from streamproof.prove.subjects.job.future_limit import future_limit

CONFIG = """
[job]
entry = "job.py:totals"
checkpoint = "checkpoint"

[source.s]
connector = "files"
path = "in"
format = "json"
schema = "id string, ts {type}"
event_time = {{ column = "ts", {declared} lag = "1 second", max_future = "90 seconds" }}

[sink.totals]
connector = "files"
path = "out"
format = "json"
"""


def config_of(folder: Path, type_: str, declared: str) -> JobConfig:
    (folder / "job.py").write_text("import streamproof as sp\n\n@sp.job\ndef totals(s):\n    return sp.Outputs(totals=s)\n")
    (folder / "streamproof.toml").write_text(CONFIG.format(type=type_, declared=declared))
    return load(folder)


@pytest.mark.parametrize(
    ("type_", "declared"),
    [
        ("long", 'unit = "seconds",'),
        ("long", 'unit = "milliseconds",'),
        ("long", 'unit = "nanoseconds",'),
        *full(("string", ""), ("string", 'format = "yyyy-MM-dd HH:mm:ss", zone = "Europe/Berlin",'), ("timestamp", "")),
    ],
)
def test_a_limit_that_is_kept_to_the_tick_passes(type_: str, declared: str, spark: SparkSession, tmp_path: Path) -> None:
    assert future_limit(config_of(tmp_path, type_, declared), spark).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("off", "found"),
    [(timedelta(hours=25), "accepted"), (timedelta(milliseconds=1), "accepted"), (-timedelta(milliseconds=1), "rejected")],
)
def test_a_limit_that_is_another_one_than_the_file_says_is_found(
    off: timedelta, found: str, spark: SparkSession, tmp_path: Path
) -> None:
    config = config_of(tmp_path, "long", 'unit = "milliseconds",')
    source = config.source["s"]
    assert source.event_time is not None
    moved = source.event_time.model_copy(update={"max_future": timedelta(seconds=90) + off})

    result = future_limit(config.model_copy(update={"source": {"s": source.model_copy(update={"event_time": moved})}}), spark)

    assert result.verdict is Verdict.FAIL
    assert result.total == 1
    assert result.findings[0].what.endswith(f"is {found}")
