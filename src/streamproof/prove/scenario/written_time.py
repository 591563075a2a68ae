"""How an event time is written in a record: as a number in a unit, as a text in a pattern, or as ISO 8601."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from streamproof.config.columns import columns_of
from streamproof.core.clock import from_micros
from streamproof.errors import ScenarioError

if TYPE_CHECKING:
    from streamproof.config import SourceConfig

_MICROS_PER_UNIT = {"seconds": 1_000_000, "milliseconds": 1_000, "microseconds": 1}
_TOKEN = re.compile(r"yyyy|uuuu|MM|dd|HH|mm|ss|S+|X{1,3}|'(?:[^']|'')*'|[^A-Za-z']|(?P<other>.)")


@dataclass(frozen=True, slots=True)
class SourceShape:
    """How the records of a source are written, from its configuration.

    Parameters
    ----------
    format
        "json" (one object a line), "csv", "text", "parquet" (for all files that say their types), or one of a registry's formats.
    time_column
        The column of the event time; None if the source has none.
    time_unit
        What a number counts since 1970-01-01T00:00:00Z: seconds, milliseconds, microseconds or nanoseconds.
    time_format
        Spark's datetime pattern of a text. With neither unit nor format: ISO 8601 with Z in JSON, a timestamp in Parquet.
    zone
        IANA zone of texts that carry none.
    """

    format: str = "json"
    time_column: str | None = None
    time_unit: str | None = None
    time_format: str | None = None
    zone: str = "UTC"
    in_quotes: bool = False

    @property
    def resolution_us(self) -> int:
        """The smallest step, at least a millisecond, that the way of writing can tell."""
        if self.time_unit == "seconds":
            return 1_000_000
        if self.time_format is None:
            return 1_000
        fraction = max((len(token) for token in _tokens(self.time_format) if token.startswith("S")), default=0)
        if fraction:
            return int(10 ** (6 - min(fraction, 3)))
        return 1_000_000 if "ss" in self.time_format else 60_000_000

    @property
    def tick_us(self) -> int:
        """The smallest step that the way of writing can tell, microseconds: `resolution_us`, or less where a number or a timestamp can."""
        if self.time_unit in ("microseconds", "nanoseconds"):
            return 1
        if self.time_unit is None and self.time_format is None:
            return 1
        return self.resolution_us

    @property
    def far_future(self) -> datetime:
        """An instant far beyond any wall clock that the unit can still hold: nanoseconds end in 2262."""
        return datetime(2200 if self.time_unit == "nanoseconds" else 2999, 1, 1, tzinfo=UTC)

    def written(self, time_us: int) -> int | str | datetime:
        """The event time, microseconds UTC, in its raw form.

        Raises
        ------
        ScenarioError
            If the pattern has letters that the generator cannot write.
        """
        if self.time_unit is not None:
            number = time_us * 1_000 if self.time_unit == "nanoseconds" else time_us // _MICROS_PER_UNIT[self.time_unit]
            return str(number) if self.in_quotes else number
        instant = from_micros(time_us)
        if self.time_format is not None:
            return _in_pattern(instant.astimezone(ZoneInfo(self.zone)), self.time_format)
        if self.format in ("parquet", "avro"):
            return instant
        millis, micros = divmod(instant.microsecond, 1_000)
        return instant.strftime("%Y-%m-%dT%H:%M:%S.") + f"{millis:03d}{f'{micros:03d}' if micros else ''}Z"


def shape_of_source(source: "SourceConfig") -> SourceShape:
    """How the records of a source are written."""
    time = source.event_time
    columns = columns_of(source.schema_ddl) if source.schema_ddl else {}
    in_quotes = time is not None and time.unit is not None and columns.get(time.column) in ("string", "char", "varchar")
    is_date = time is not None and columns.get(time.column) == "date" and source.format in ("json", "csv", "json_schema")
    return SourceShape(
        format="parquet" if source.says_columns else source.format,
        time_column=time.column if time else None,
        time_unit=time.unit if time else None,
        time_format="yyyy-MM-dd" if is_date else time.format if time else None,
        zone=time.zone if time else "UTC",
        in_quotes=in_quotes,
    )


def _tokens(pattern: str) -> list[str]:
    tokens = []
    for found in _TOKEN.finditer(pattern):
        if found["other"]:
            raise ScenarioError(
                f'The generator cannot write event times in the format "{pattern}": it does not know "{found["other"]}".',
                required="It knows yyyy, uuuu, MM, dd, HH, mm, ss, S to SSSSSSSSS, X to XXX and texts in single quotes.",
            )
        tokens.append(found[0])
    return tokens


def _in_pattern(instant: datetime, pattern: str) -> str:
    return "".join(_in_token(instant, token) for token in _tokens(pattern))


def _in_token(instant: datetime, token: str) -> str:
    match token[0]:
        case "y" | "u":
            return f"{instant.year:04d}"
        case "M":
            return f"{instant.month:02d}"
        case "d":
            return f"{instant.day:02d}"
        case "H":
            return f"{instant.hour:02d}"
        case "m":
            return f"{instant.minute:02d}"
        case "s":
            return f"{instant.second:02d}"
        case "S":
            return f"{instant.microsecond:06d}000"[: len(token)]
        case "X":
            return _offset(instant, len(token))
        case "'":
            return token[1:-1].replace("''", "'") or "'"
        case _:
            return token


def _offset(instant: datetime, letters: int) -> str:
    """The offset as X (+01), XX (+0100) or XXX (+01:00); Z for none."""
    offset = instant.utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    if minutes == 0:
        return "Z"
    sign, (hours, rest) = ("-" if minutes < 0 else "+"), divmod(abs(minutes), 60)
    return f"{sign}{hours:02d}" + {1: f"{rest:02d}" if rest else "", 2: f"{rest:02d}", 3: f":{rest:02d}"}[letters]
