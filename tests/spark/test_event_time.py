"""Event times are read as they are declared."""

import json
from datetime import UTC, datetime

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from full_tables import full
from streamproof.config import EventTime, FilesSource
from streamproof.connectors.event_time import accepted, without_zone
from streamproof.connectors.files.reading import read
from streamproof.errors import ConfigurationError, JobDefinitionError

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Collected:
    """Doors that keep the rejected rows in the plan, with the reason beside them."""

    def clock(self) -> F.Column:
        return F.unix_micros(F.current_timestamp())

    def reject(self, rows: DataFrame, reason: F.Column) -> DataFrame:
        return rows.withColumn("reason", reason)


@pytest.mark.parametrize(
    ("type_", "written", "declared", "expected"),
    [
        ("long", 1767603600, {"unit": "seconds"}, NINE),
        ("long", 1767603600000, {"unit": "milliseconds"}, NINE),
        ("long", 1767603600123456, {"unit": "microseconds"}, NINE.replace(microsecond=123456)),
        ("long", 1767603600123456789, {"unit": "nanoseconds"}, NINE.replace(microsecond=123456)),
        ("long", -1, {"unit": "nanoseconds"}, datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)),
        ("long", 1767603600123456999, {"unit": "nanoseconds"}, NINE.replace(microsecond=123456)),
        ("long", -1500, {"unit": "milliseconds"}, datetime(1969, 12, 31, 23, 59, 58, 500000, UTC)),
        ("double", 1767603600.25, {"unit": "seconds"}, NINE.replace(microsecond=250000)),
        ("string", "1767603600123", {"unit": "milliseconds"}, NINE.replace(microsecond=123000)),
        ("string", "1767603600.25", {"unit": "seconds"}, NINE.replace(microsecond=250000)),
        ("string", "1767603600123456999", {"unit": "nanoseconds"}, NINE.replace(microsecond=123456)),
        ("string", "2026-01-05T09:00:00Z", {"unit": "milliseconds"}, "event time in ts not readable"),
        ("string", "9" * 50, {"unit": "milliseconds"}, "event time in ts not readable"),
        ("string", "2026-01-05T09:00:00Z", {}, NINE),
        ("string", "2026-01-05T10:00:00.123456+01:00", {}, NINE.replace(microsecond=123456)),
        *full(
            ("string", "2026-01-05 09:00:00", {}, NINE),
            ("string", "2026-01-05 10:00:00", {"zone": "Europe/Berlin"}, NINE),
            ("string", "2026-01-05T09:00:00Z", {"zone": "Europe/Berlin"}, NINE),
            ("string", "2026-01-05 11:00:00+02", {"zone": "Europe/Berlin"}, NINE),
            ("string", "2026-01-05T11:00:00.5+02:00", {"zone": "Europe/Berlin"}, NINE.replace(microsecond=500000)),
            ("string", "2026-01-05 11:00:00 UTC+2", {"zone": "Europe/Berlin"}, NINE),
            ("string", "2026-01-05 04:00:00 America/New_York", {"zone": "Europe/Berlin"}, NINE),
            ("string", "2026-01-05 10:00", {"zone": "Europe/Berlin"}, NINE),
            ("string", "10:00 05-01-2026", {"zone": "Europe/Berlin", "format": "HH:mm dd-MM-yyyy"}, NINE),
            ("string", "10:00 AM 05-01-2026", {"zone": "Europe/Berlin", "format": "hh:mm a dd-MM-yyyy"}, NINE),
            ("string", "05-01-2026 11:00 +02", {"zone": "Europe/Berlin", "format": "dd-MM-yyyy HH:mm X"}, NINE),
            ("string", "05-01-2026 11:00+02", {"zone": "Europe/Berlin", "format": "dd-MM-yyyy HH:mm[X]"}, NINE),
            ("string", "05-01-2026 10:00", {"zone": "Europe/Berlin", "format": "dd-MM-yyyy HH:mm[X]"}, NINE),
            ("string", "20260105T110000+0200", {"zone": "Europe/Berlin", "format": "yyyyMMdd'T'HHmmss[XX]"}, NINE),
            ("string", "20260105T100000", {"zone": "Europe/Berlin", "format": "yyyyMMdd'T'HHmmss[XX]"}, NINE),
            ("string", "11:00 05-01-2026 +02:00", {"zone": "Europe/Berlin", "format": "HH:mm dd-MM-yyyy[ XXX]"}, NINE),
            ("string", "05-01-2026 10:00 AM", {"zone": "Europe/Berlin", "format": "dd-MM-yyyy hh:mm a[ XXX]"}, NINE),
            ("timestamp", 1767603600, {}, NINE),
            ("timestamp", 1767603600000, {}, "ts has a year of more than four digits"),
            ("timestamp", -999999999999999, {}, "ts has a year of more than four digits"),
            ("string", "12026-01-05T09:00:00Z", {"max_future": "none"}, "event time in ts not readable"),
            ("string", "05.01.2026 10:00", {"zone": "Europe/Berlin", "format": "dd.MM.yyyy HH:mm"}, NINE),
            ("string", "2026-01-05", {"zone": "America/New_York"}, datetime(2026, 1, 5, 5, tzinfo=UTC)),
            ("string", "2026-01-05", {}, datetime(2026, 1, 5, tzinfo=UTC)),
            ("timestamp", "2026-01-05T09:00:00Z", {"zone": "Europe/Berlin"}, NINE),
            ("timestamp_ntz", "2026-01-05T10:00:00", {"zone": "Europe/Berlin"}, NINE),
            ("date", "2026-01-05", {"zone": "Europe/Berlin"}, datetime(2026, 1, 4, 23, tzinfo=UTC)),
            ("string", "yesterday", {}, "event time in ts not readable"),
            ("string", "05.01.2026", {"format": "dd.MM.yyyy HH:mm"}, "event time in ts not readable"),
            ("long", 9223372036854775807, {"unit": "seconds"}, "event time in ts not readable"),
            ("long", -9223372036854775808, {"unit": "milliseconds"}, "event time in ts not readable"),
            ("long", 9223372036854775807, {"unit": "nanoseconds"}, "event time in ts not readable"),
            ("double", 1e300, {"unit": "nanoseconds"}, "event time in ts not readable"),
            ("long", None, {"unit": "seconds"}, "no event time in ts"),
            ("string", "2126-01-05T09:00:00Z", {"max_future": "5 minutes"}, "event time more than 5 minutes in the future"),
        ),
    ],
)
def test_event_time_is_read_as_it_is_declared(spark: SparkSession, tmp_path, type_, written, declared, expected):
    (tmp_path / "rows.json").write_text(json.dumps({"ts": written}) + "\n")
    source = FilesSource(
        connector="files", path="data", format="json", schema=f"ts {type_}", event_time=EventTime(column="ts", **declared)
    )

    rows = accepted(read(spark, "events", source, str(tmp_path), stream=False, trace=False), "events", source, Collected())
    row = rows.select(F.unix_micros("ts").alias("us"), "reason").first()

    if isinstance(expected, str):
        assert row["reason"] == expected
    else:
        assert row["reason"] is None
        assert row["us"] == round(expected.timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("schema", "declared", "said"),
    [
        ("ts long", {"column": "ts"}, "the column ts is a bigint and no unit is given"),
        ("ts boolean", {"column": "ts"}, "the column ts is a boolean"),
        ("tss long", {"column": "ts", "unit": "seconds"}, 'the column "ts", which is not there. Did you mean "tss"?'),
    ],
)
def test_an_event_time_that_cannot_be_is_refused_before_the_start(spark: SparkSession, tmp_path, schema, declared, said):
    source = FilesSource(connector="files", path="data", format="json", schema=schema, event_time=EventTime(**declared))
    with pytest.raises((ConfigurationError, JobDefinitionError)) as error:
        accepted(read(spark, "events", source, str(tmp_path), stream=False, trace=False), "events", source, Collected())
    assert said in error.value.message


@pytest.mark.parametrize(
    ("pattern", "without"),
    [
        ("HH:mm", "HH:mm"),
        ("HH:mm X", None),
        ("HH:mm[ XXX]", "HH:mm"),
        ("HH:mm[:ss[.SSS]][XXX]", "HH:mm[:ss[.SSS]]"),
        ("HH:mm[:ss[XXX]]", "HH:mm[:ss]"),
        ("'Zeit' HH:mm['[X]'][z]", "'Zeit' HH:mm['[X]']"),
    ],
)
def test_a_pattern_without_its_optional_zone(pattern, without):
    assert without_zone(pattern) == without
