"""`--ignore out.loaded_at`: columns that are left out of the comparison, by name, since they are meant to differ from run to run."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.reading import Left, Output, Row

_SHOWN = 12


@dataclass(frozen=True)
class Ignored:
    """The columns, as the user names them: OUTPUT.COLUMN, or OUTPUT.COLUMN.FIELD for a field of a struct or of a record in JSON."""

    names: Sequence[str] = ()

    @classmethod
    def parse(cls, texts: Sequence[str]) -> "Ignored":
        """ScenarioError if one is no such name."""
        for text in texts:
            output, dot, column = text.partition(".")
            if not (output and dot and column):
                raise ScenarioError(
                    f"--ignore {text} is not OUTPUT.COLUMN.",
                    required="A column is left out of one output, by name.",
                    remedy=f"Write the output before it; of a function that returns one stream it is called out: --ignore out.{text.strip('.') or 'COLUMN'}",
                )
        return cls(tuple(dict.fromkeys(texts)))

    def without(self, left: Left) -> Left:
        """What a run has left, without the columns."""
        return replace(left, outputs=tuple(map(self._stripped, left.outputs))) if self.names else left

    def require_there(self, left: Left) -> None:
        """ScenarioError if one is in no row of its output, or if nothing would be left to compare."""
        for name in self.names:
            meant = [one for one in left.outputs if name.startswith(f"{one.name}.")]
            output = max(meant, key=lambda one: len(one.name), default=None)  # the name of a folder may have dots too
            if output is None:
                raise ScenarioError(
                    f"--ignore {name} names no output of the job.",
                    required=f"Its outputs are {', '.join(one.name for one in left.outputs) or 'none'}.",
                    remedy="Name one of them, a dot, and the column.",
                )
            rows = [row for rows in output.rows.values() for row in rows]
            if rows and all(_without(row, path) == row for path in self._paths(output) for row in rows):
                columns = list(dict.fromkeys(column for row in rows for column in row))[:_SHOWN]
                raise ScenarioError(
                    f"--ignore {name}: the output {output.name} has no such column.",
                    required=f"It has {', '.join(columns)}.",
                    remedy="Name one of them.",
                )
        for output in self.without(left).outputs:
            if output.count and not any(row for rows in output.rows.values() for row in rows):
                raise ScenarioError(
                    f"--ignore leaves out every column of the output {output.name}.",
                    required="Something of each row is compared, else nothing is proved of it.",
                    remedy="Leave out those alone that differ from run to run.",
                )

    def _stripped(self, output: Output) -> Output:
        paths = self._paths(output)
        if not paths:
            return output
        return replace(output, rows={batch: [_all_without(row, paths) for row in rows] for batch, rows in output.rows.items()})

    def _paths(self, output: Output) -> list[str]:
        return [name.removeprefix(f"{output.name}.") for name in self.names if name.startswith(f"{output.name}.")]


def differing_columns(mine: Sequence[Row], others: Sequence[Row]) -> list[str]:
    """The columns or fields that alone make the two sides differ. Empty if the rows differ in more than these."""
    found = list(_differing(mine, others))
    left, right = ([_all_without(row, found) for row in rows] for rows in (mine, others))
    alike = Counter(map(_written, left)) == Counter(map(_written, right))
    return found if alike and any(left) else []


def _differing(mine: Sequence[Row], others: Sequence[Row]) -> Iterator[str]:
    for column in dict.fromkeys(name for row in (*mine, *others) for name in row):
        values, theirs = ([row.get(column) for row in rows] for rows in (mine, others))
        if Counter(map(_text, values)) == Counter(map(_text, theirs)):
            continue
        fields, other_fields = ([_record(value) for value in each] for each in (values, theirs))
        if all(fields) and all(other_fields):
            yield from (f"{column}.{name}" for name in _differing(list(filter(None, fields)), list(filter(None, other_fields))))
        else:
            yield column


def _all_without(row: Row, paths: Sequence[str]) -> Row:
    for path in paths:
        row = _without(row, path)
    return row


def _without(row: Row, path: str) -> Row:
    """The row without a column, or without a field of a column; the same row where it has none."""
    if path in row:
        return {name: value for name, value in row.items() if name != path}
    column, dot, field = path.partition(".")
    record = _record(row.get(column)) if dot else None
    return {**row, column: _without(record, field)} if record is not None and _without(record, field) != record else row


def _record(value: Any) -> Row | None:
    """A struct, or a record that is written as JSON, as Kafka has them; None where it is neither."""
    if isinstance(value, bytes | str):
        with suppress(ValueError):
            found = json.loads(value)
            return found if isinstance(found, dict) else None
        return None
    return value if isinstance(value, Mapping) else None


def _text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else f"{type(value).__name__} {value}"


def _written(row: Row) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, _text(value)) for name, value in row.items()))
