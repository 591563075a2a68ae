"""Is `max_future` what the user's file says, to the tick?

No event of a scenario can tell: events are the same bytes for every proof, and in a run the limit moves with the clock of each batch. So the
job's own reading is asked in a batch query whose clock stands still (R13, R28).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, StructType, TimestampNTZType

from streamproof.connectors.event_time import accepted
from streamproof.core.clock import from_micros, to_micros
from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.oracle.durations import micros
from streamproof.prove.scenario.written_time import shape_of_source
from streamproof.prove.subjects.job.as_written import event_time_asked

if TYPE_CHECKING:
    from streamproof.config import JobConfig

NAME = "max-future"
_CLOCK_US = to_micros(datetime(2026, 1, 5, tzinfo=UTC))
_NUMBER, _RAW = "_n", "_raw"


class Code(StrEnum):
    """What is found here."""

    OTHER_LIMIT = "other-limit"


@dataclass
class _StandingClock:
    """Doors whose clock stands still; they keep what is said of every row."""

    said: list[DataFrame] = field(default_factory=list)

    def clock(self) -> Column:
        return F.lit(_CLOCK_US)

    def reject(self, rows: DataFrame, reason: Column) -> DataFrame:
        self.said.append(rows.select(_NUMBER, reason.alias("reason")))
        return rows.filter(reason.isNull())


def future_limit(config: "JobConfig", spark: SparkSession) -> CheckResult:
    """Offers each source event times at its limit, a tick below and a tick above."""
    findings = tuple(finding for name in config.source for finding in _of_source(config, name, spark))
    return CheckResult(NAME, Verdict.FAIL if findings else Verdict.PASS, findings, len(findings))


def _of_source(config: "JobConfig", name: str, spark: SparkSession) -> Iterator[Finding]:
    asked, source = event_time_asked(config, name), config.source[name]
    if asked is None or asked.max_future is None or not source.schema_ddl:
        return
    schema = StructType.fromDDL(source.schema_ddl)
    assert isinstance(schema, StructType), "columns with their types parse to a struct"
    kind = schema[asked.column].dataType
    if isinstance(kind, TimestampNTZType | DateType):
        return  # the generator writes instants, and these have none
    shape = shape_of_source(source)
    tick = shape.tick_us
    limit_us = (_CLOCK_US + micros(asked.max_future)) // tick * tick
    times = (limit_us - tick, limit_us, limit_us + tick)
    raw = [(number, str(shape.written(time_us))) for number, time_us in enumerate(times)]
    rows = spark.createDataFrame(raw, f"{_NUMBER} int, {_RAW} string")
    doors = _StandingClock()
    accepted(rows.select(_NUMBER, F.col(_RAW).cast(kind).alias(asked.column)), name, source, doors)
    reasons = {row[0]: row[1] for left in doors.said for row in left.collect() if row[1] is not None}
    for number, time_us in enumerate(times):
        meant = "rejected" if time_us > limit_us else "accepted"
        found = "rejected" if number in reasons else "accepted"
        if found != meant:
            at = f"{from_micros(time_us).isoformat()}, read by a batch of {from_micros(_CLOCK_US).isoformat()}"
            what = f"[source.{name}] max_future is {asked.max_future}, and an event of {at}, is {found}"
            yield Finding(Code.OTHER_LIMIT, None, what, None, meant, reasons.get(number, found))
