"""R28: where events go is asked of the user's own conditions, by queries that share no code with the job's plan."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.config import FilesSource
from streamproof.prove.oracle.arrived import BatchRead
from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.query import query_asked
from streamproof.prove.scenario.generate import Event, Kind, record_of
from streamproof.prove.subjects.job.arrivals import Arrivals
from streamproof.prove.subjects.job.plain_rows import plain_rows
from streamproof.stream.windows import tumbling

SECOND = 1_000_000
SOURCE = FilesSource.model_validate(
    {
        "connector": "files",
        "path": "in",
        "format": "json",
        "schema": "client string, amount double, open boolean, tags array<string>, place struct<zip: int>, ts long",
        "event_time": {"column": "ts", "unit": "seconds"},
    }
)
COLUMNS = ("client", "amount", "open", "tags", "place", "ts")
ROWS = {
    "e-1": ('"a"', "10", "true", '["x"]', '{"zip": 1}', "5"),
    "e-2": ('"a"', "20", "false", "[]", '{"zip": null}', "6"),
    "e-3": ("null", "30", "true", "null", "null", "40"),
    "e-4": ('"b"', "null", "true", "null", "null", "7"),
    "e-5": ('"b"', "-1", "true", "null", "null", "8"),
    "e-6": ('"skip"', "1", "null", "null", "null", "9"),
}


def doubled(rows: DataFrame) -> DataFrame:
    return rows.withColumn("amount", 2 * F.col("amount"))


WINDOW: Any = {"window": tumbling("30 seconds"), "by": "client", "allowed_lateness": "0 seconds", "emit": "final"}


def asked() -> Asked:
    return (
        Asked("s")
        .then("require", conditions={"positive": F.col("amount") > 0, "big": "amount < 1000"})
        .then("filter", condition="client IS NULL OR client <> 'skip'", name="no skip")
        .then("transform", function=doubled)
        .then("window", **WINDOW, aggregates={"total": F.sum("amount")})
    )


def event(trace: str, texts: tuple[str, ...]) -> Event:
    return Event(trace, Kind.OK, {}, int(texts[-1]) * SECOND, record_of(trace, dict(zip(COLUMNS, texts, strict=True))), 0, 0, 0)


@pytest.fixture
def arrivals(spark: SparkSession, tmp_path: Path) -> Arrivals:
    rows = plain_rows(spark.newSession(), [event(*row) for row in ROWS.items()], SOURCE, "ts", tmp_path / "offered.json")
    query = query_asked("totals", asked(), AskedTime("ts", "0 seconds"))
    return Arrivals(query, {"s": rows}, [event("e-7", ROWS["e-1"])])


def test_each_event_goes_where_the_user_s_conditions_send_it(arrivals: Arrivals) -> None:
    found = {trace: (str(record.fate), record.reason) for trace, record in arrivals.arrived.items()}

    assert found == {
        "e-1": ("passed", None),
        "e-2": ("passed", None),
        "e-3": ("passed", None),
        "e-4": ("rejected", "positive (is null)"),
        "e-5": ("rejected", "positive"),
        "e-6": ("filtered", "no skip"),
        "e-7": ("rejected", None),
    }
    assert (tuple(arrivals.arrived["e-3"].values.values()), arrivals.arrived["e-3"].time_us) == ((None,), 40 * SECOND)


def test_rows_have_the_values_behind_the_transform_nested_ones_too(arrivals: Arrivals) -> None:
    row: Any = arrivals.rows["e-2"]

    assert (row["amount"], row["open"], row["tags"], row["ts"]) == (40.0, False, (), 6 * SECOND)
    assert row["place"] == (None,)


def test_windows_are_aggregated_over_the_events_that_the_model_has_in_them(arrivals: Arrivals) -> None:
    reads = [BatchRead(0, 0, files=("f",)), BatchRead(1, 90_000)]
    model = simulate(arrivals.query, arrivals.arrived, reads, {"f": list(ROWS)})

    assert {key: row["total"] for (key, _), row in arrivals.batch_result(model).items()} == {
        (("a",), 0): 60.0,
        ((None,), 30 * SECOND): 60.0,
    }
