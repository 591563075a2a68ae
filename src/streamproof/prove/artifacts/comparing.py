"""Compares the published rows of two runs, without the hidden columns of proofs and with the tolerance that float sums need."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.manifest import Digest
from streamproof.prove.artifacts.float_order import ANYTHING, Steps, alike
from streamproof.prove.artifacts.row_files import rows_of

if TYPE_CHECKING:
    from streamproof.prove.artifacts.history import History

_HIDDEN = ("_trace", "_records", "_trace_hash", "original", "original_base64")
_DIGITS, _TOLERANCE = 9, 1e-9
_TRIED = 100
"""So many rows without a partner are enough: the others are not looked for one by one."""

Row = Mapping[str, Any]
Columns = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class PublishedRows:
    """The sums of what a scenario has published, by output. They do not depend on the order of rows or of additions."""

    outputs: Mapping[str, Digest] = field(default_factory=dict)

    def agrees_with(self, other: "PublishedRows | None") -> bool:
        if other is None or self.outputs.keys() != other.outputs.keys():
            return False
        return all(digest.agrees_with(other.outputs[name]) for name, digest in self.outputs.items())


def rows_published(history: "History") -> PublishedRows:
    """The sums of every output of a scenario."""
    return PublishedRows(
        {
            output.name: _sums([_shown(row.values) for row in output.rows], view.bounded.steps if view.windowed and output.kind == "main" else None)
            for view in history.queries
            for output in view.left.outputs.values()
        }
    )


def without_partners(mine: Sequence[Row], theirs: Sequence[Row], steps: Steps) -> tuple[list[Row], list[Row]]:
    """The rows of each side that the other side lacks. Rows with the same text are paired first, then rows that are equal within tolerance."""
    left, right = _written_otherwise(mine, theirs), _written_otherwise(theirs, mine)
    candidates: dict[Columns, list[Row]] = {}
    for row in right:
        candidates.setdefault(_exact(row, steps), []).append(row)
    alone: list[Row] = []
    for row in left:
        others = candidates.get(_exact(row, steps), []) if len(alone) < _TRIED else []
        found = next((place for place, other in enumerate(others) if _alike(row, other, steps)), None)
        if found is None:
            alone.append(row)
        else:
            others.pop(found)
    return alone, [row for rows in candidates.values() for row in rows]


def _written_otherwise(mine: Sequence[Row], theirs: Sequence[Row]) -> list[Row]:
    """The rows of mine that have no row with the same text among theirs, counting repetitions."""
    written = Counter(_written(row) for row in theirs)
    left = []
    for row in mine:
        key = _written(row)
        if written[key]:
            written[key] -= 1
        else:
            left.append(row)
    return left


def _alike(one: Row, other: Row, steps: Steps) -> bool:
    pairs = zip(_loose(one, steps), _loose(other, steps), strict=True)
    return all(
        name == same and (steps.get(name) == ANYTHING or alike(value, found, steps.get(name, 0.0), _TOLERANCE))
        for (name, value), (same, found) in pairs
    )


def sums_of(rows: Sequence[Row]) -> Digest:
    """What rows sum up to whose floats are compared to their ninth digit."""
    return _sums(rows, None)


def _sums(rows: Sequence[Row], steps: Steps | None) -> Digest:
    """The sums of rows. `steps` is None if none of them is an aggregate: then all their values go into the hash."""
    found = Digest()
    for row in rows:
        exact = _written(row) if steps is None else _exact(row, steps)
        number = int.from_bytes(hashlib.sha256(repr(exact).encode(errors="surrogatepass")).digest()[:8])
        loose = {} if steps is None else {name: float(value) for name, value in _loose(row, steps) if steps.get(name) != ANYTHING}
        found += Digest(1, 0, number, {name: (value, abs(value)) for name, value in loose.items()}, steps or {})
    return found


def rows_in(folder: Path) -> Iterator[Row]:
    """The rows that an output of ours holds on disk, without the hidden columns of proofs."""
    for path in sorted(folder.glob("batch=*/*")):
        if not path.name.startswith(("_", ".")):
            yield from map(_shown, rows_of(path))


def _shown(row: Row) -> Row:
    """A row of ours without the hidden columns of proofs; rows of other people's jobs are compared with all their columns."""
    return {name: value for name, value in row.items() if name not in _HIDDEN}


def by_column(row: Row) -> Columns:
    """The columns of a row with their values, in the order of their names."""
    return tuple(sorted(row.items()))


def _exact(row: Row, steps: Steps) -> Columns:
    """The columns that must be equal to the last digit, and the names of the others."""
    return tuple((name, "" if _is_loose(name, value, steps) else str(value)) for name, value in by_column(row))


def _loose(row: Row, steps: Steps) -> Columns:
    return tuple((name, _number(value)) for name, value in by_column(row) if _is_loose(name, value, steps))


def _is_loose(name: str, value: Any, steps: Steps) -> bool:
    if isinstance(value, float) or steps.get(name) == ANYTHING:
        return True
    return name in steps and isinstance(_number(value), int | float | Decimal)


def _number(value: Any) -> Any:
    """The value; of a text that is a number, that number: some stores keep decimals as texts."""
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value)
    return value


def _written(row: Row) -> Columns:
    return tuple((name, plain(value)) for name, value in by_column(row))


def plain(value: Any) -> str:
    """A value as text; of a float nine digits, since the order of addition is not fixed."""
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
