"""How findings speak of windows, rows, batches and accounts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from streamproof.core.clock import from_micros
from streamproof.prove.artifacts.history import OutputRow
from streamproof.prove.oracle.operators.twin import Grouped
from streamproof.prove.oracle.rows import WindowKey
from streamproof.prove.oracle.trace import Vector

_DAY_US = 86_400_000_000
_RANDOM_TAIL = re.compile(r"(-[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f-]{22}\S*\.(\w+)$")


def instant(micros: int) -> str:
    """ "09:01:30" of this day's events: times are read side by side, the day is the scenario's; with fractions where there are any."""
    moment = from_micros(micros)
    return moment.strftime("%H:%M:%S") + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "")


def full_instant(micros: int) -> str:
    """ "2026-01-05 09:01:30Z"."""
    return f"{from_micros(micros).strftime('%Y-%m-%d')} {instant(micros)}Z"


def window(grouped: Grouped, key: WindowKey) -> str:
    """ "client c17  09:01:00-09:01:30"; of a session its beginning only: its end is a matter of what is in it."""
    by, start = key
    named = [f"{column} {value}" for column, value in zip(grouped.by, by, strict=True)]
    kind = grouped.window
    word = instant if kind.at_least_us < _DAY_US else full_instant
    end = next((end for begins, end in kind.assign(start) if begins == start), start)
    return "  ".join([*named, f"session from {word(start)}" if kind.merges else f"{word(start)}-{word(end)}"])


def window_to(grouped: Grouped, by: tuple[Any, ...], end: int) -> str:
    """A window in state, of which only the end is known: "client c17  to 09:01:30"."""
    named = [f"{column} {value}" for column, value in zip(grouped.by, by, strict=True)]
    return "  ".join([*named, f"to {full_instant(end)}"])


def value(found: Any) -> str:
    """A value of a row: 48,210.50 and 31 are easier to read than 48210.5 and 31."""
    if isinstance(found, bool) or found is None:
        return str(found)
    if isinstance(found, int):
        return f"{found:,}"
    if isinstance(found, float):
        if not isfinite(found * 100):
            return f"{found:.9g}"
        return f"{found:,.2f}" if abs(found * 100 - round(found * 100)) < 1e-6 else f"{found:,.9g}"
    return str(found)


def values(columns: Mapping[str, Any], names: Iterable[str]) -> str:
    """ "exposure 48,210.50  trades 31" for the named columns that are there."""
    return "  ".join(f"{name} {value(columns[name])}" for name in names if name in columns)


def events(vector: Vector) -> str:
    """ "31 events"."""
    return f"{vector.count:,} event{'' if vector.count == 1 else 's'}"


def published(rows: Sequence[OutputRow]) -> str:
    """Who published rows that there should be one of: "batch 3 in a.parquet, and again batch 3 in b.parquet"."""
    places = [f"batch {row.batch} in {short(row.file)}" if row.batch is not None else short(row.file) for row in rows]
    if len(set(places)) == 1:
        return f"{len(rows)} rows in {places[0]}"
    lead = f"batch {next(iter(_batches(rows)))} was published {len(rows)} times: " if published_again(rows) else ""
    return lead + ", and again ".join(dict.fromkeys(places))


def published_again(rows: Sequence[OutputRow]) -> bool:
    """Whether one batch was published several times: its rows lie in several files."""
    return len({(row.batch, row.file) for row in rows}) > 1 and len(_batches(rows)) == 1


def _batches(rows: Sequence[OutputRow]) -> set[int]:
    return {row.batch for row in rows if row.batch is not None}


def short(file: str) -> str:
    """ "batch=000003/part-00000-68c28c26….parquet": the first part of a random id tells two files apart, the rest only takes room."""
    return _RANDOM_TAIL.sub(r"\1….\2", file)


def others(number: int) -> str:
    """ " and 11 more", or nothing."""
    return f" and {number:,} more" if number > 0 else ""
