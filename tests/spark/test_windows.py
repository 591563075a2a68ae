"""Spark's windows beside their twins in plain Python: the same bounds for the same instants, summer time and its end among them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import streamproof as sp
from streamproof.core.clock import to_micros
from streamproof.core.randomness import Seeded
from streamproof.errors import JobDefinitionError
from streamproof.prove.oracle.windows import PlainWindow
from streamproof.prove.oracle.windows.written import plain_window
from streamproof.stream.windows import Window

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/Havana",
    "Africa/Cairo",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "America/St_Johns",
)
KINDS = [
    sp.tumbling("90 seconds"),
    sp.tumbling("1 day", offset="6 hours"),
    sp.hopping("10 minutes", every="3 minutes"),
    sp.hopping("1 hour", every="20 minutes", offset="7 minutes"),
    sp.session("5 minutes"),
    sp.session("5 minutes", longest="1 hour"),
    *(sp.calendar(unit, zone=zone) for zone in ZONES for unit in ("day", "week", "month")),
    sp.shifts("06:00", "14:00", "22:00", zone="Europe/Berlin"),
    sp.shifts("02:00", "02:30", "03:00", zone="Europe/Berlin"),
    sp.shifts("02:30", "14:00", zone="Europe/Berlin"),
    sp.shifts("00:00", "00:30", zone="America/Havana"),
    sp.shifts("12:00", zone="UTC"),
    sp.shifts("00:15", "18:00", zone="Pacific/Apia"),
    sp.shifts("00:00", "00:30", "12:00", zone="America/St_Johns"),
    sp.shifts(*(f"{hour:02}:{minute}" for hour in range(24) for minute in ("00", "30")), zone="Africa/Cairo"),
]


class Pass:
    """Doors that let everything pass, and mark what they are told is a further window."""

    def late(self, rows: DataFrame, decides: Column, *_: int, **__: object) -> DataFrame:
        return rows.withColumn("decides", decides)

    def expanded(self, rows: DataFrame, further: Column) -> DataFrame:
        return rows.withColumn("further", further)


def instants() -> Iterator[datetime]:
    """Around the hours at which clocks change in those zones, at ends of months and leap days, before 1970, and in between."""
    for text in (
        "1965-05-31T23:59:59.999999",
        "1969-12-31T23:59:59.999999",
        "1970-01-01",
        "2006-10-29T02:31",  # back over midnight in Newfoundland
        "2011-12-30T09:59:59",  # Samoa left a day out
        "2018-11-04T02:59:59",  # midnight left out in Brazil
        "2024-02-29",
        "2024-04-25T21:59:59",
        "2026-03-29T00:59:59.999",
        "2026-10-25T01:00",
        "2026-11-01T04:59:59",
    ):
        around = datetime.fromisoformat(text).replace(tzinfo=UTC)
        yield from (
            around + timedelta(minutes=minutes, microseconds=micros) for minutes in range(-1500, 1500, 97) for micros in (0, 1)
        )


def shown(window: Window, rows: DataFrame) -> list[tuple[int, int, int, int]]:
    """Of each instant and window: the instant, start, end, and what is held against the late bound, microseconds."""
    diverted = window.divert(window.assigned(rows, "ts", Pass()), "ts", Pass())
    grouped = window.grouped(window.placed(diverted, "ts"), "ts", ("id",)).agg(
        F.max("decides").alias("decides"), F.max("ts").alias("ts")
    )
    micros = [F.unix_micros(column) for column in (F.col("ts"), window.start, window.end)]
    return sorted(tuple(row) for row in grouped.select(*micros, "decides").collect())


@pytest.mark.parametrize("window", KINDS, ids=str)
def test_spark_and_the_twin_cut_time_alike(spark: SparkSession, window: Window) -> None:
    times = sorted({to_micros(instant) for instant in instants()})
    mixed = Seeded(7, "instants").shuffled(times)  # the window of the row before is seldom the right one
    table = pa.table({"id": pa.array(range(len(mixed)), pa.int64()), "us": pa.array(mixed, pa.int64())})
    rows = spark.createDataFrame(table).select("id", F.timestamp_micros("us").alias("ts"))
    twin: PlainWindow = plain_window(window)
    tumbles = (
        isinstance(window, sp.stream.Tumbling) and not window.offset
    )  # there the event time is held against the bound's window

    expected = sorted((time, start, end, time if tumbles else end) for time in times for start, end in twin.assign(time))

    assert shown(window, rows) == expected


def test_r11_all_but_the_newest_window_of_an_event_are_counted_as_further_ones(spark: SparkSession) -> None:
    rows = spark.range(300).select("id", F.timestamp_seconds(F.col("id") * 7).alias("ts"))

    pairs = (
        sp.hopping("10 minutes", every="3 minutes")
        .assigned(rows, "ts", Pass())
        .groupBy("id")
        .agg(F.count("*").alias("n"), F.count_if(~F.col("further")).alias("first"), F.max("_window_end").alias("newest"))
    )

    assert pairs.filter("first <> 1 or n not between 3 and 4").count() == 0


def test_an_instant_at_the_edge_of_time_does_not_move_the_windows_of_others(spark: SparkSession) -> None:
    day = sp.calendar("day", zone="Europe/Berlin")
    times = [-(2**63), -(2**63) + 1, 1_767_603_600_000_000, 2**63 - 1, 1_767_603_600_000_001, -(2**63) + 10**12, 0]
    rows = spark.createDataFrame([(number, time) for number, time in enumerate(times)], "id long, us long").coalesce(1)

    found = day.assigned(rows.withColumn("ts", F.timestamp_micros("us")), "ts", Pass()).select("us", F.unix_micros("_window_end"))

    twin = plain_window(day)
    ends = {row[0]: row[1] for row in found.collect()}
    assert {time: ends[time] for time in times if abs(time) < 2**62} == {
        time: twin.assign(time)[0][1] for time in times if abs(time) < 2**62
    }
    assert all(end >= time for time, end in ends.items())


def test_a_zone_that_java_does_not_have_is_told_when_the_plan_is_built(spark: SparkSession) -> None:
    rows = spark.range(1).select(F.timestamp_micros("id").alias("ts"))

    with pytest.raises(JobDefinitionError, match='no time zone "right/Europe/Berlin"'):
        sp.stream.Calendar("day", "right/Europe/Berlin").assigned(rows, "ts", Pass())
