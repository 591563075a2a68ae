"""The state of an operator as a table in the terminal."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.console import Console
from rich.text import Text

from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.kinds import kind_of
from streamproof.checkpoint.stores import Operator
from streamproof.core.exact_json import json_text
from streamproof.report import words

_LONGEST = 44


def print_table(
    found: Inspection,
    operator: Operator,
    batch: int | None,
    columns: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    limit: int,
    console: Console,
) -> None:
    """Print the rows of a state, `limit` of them at most; one more among `rows` says that there are others."""
    shown = rows[:limit]
    newest = found.logs.newest_committed if batch is None else batch
    kind = kind_of(operator.name)
    head = f"{words.printable(str(found.path))} · operator {operator.number}, {kind.word}, after batch {newest}"
    console.print(Text(head, style="bold"), soft_wrap=True)
    if not rows:
        console.print("  no row")
        return
    names = list(columns)
    cells = [[cell(row.get(name)) for name in names] for row in shown]
    numbers = [
        all(isinstance(row.get(name), int | float | Decimal) and not isinstance(row.get(name), bool) for row in shown)
        for name in names
    ]
    widths = [max(len(name), *(len(row[place]) for row in cells), 1) if cells else len(name) for place, name in enumerate(names)]
    console.print(Text("  " + _line(names, widths, numbers), style="dim"), soft_wrap=True)
    for row in cells:
        console.print(Text("  " + _line(row, widths, numbers)), soft_wrap=True)
    if len(rows) > limit:
        console.print(
            Text("  and more: --limit shows others, --where chooses, --csv and --parquet write all of them", style="dim"),
            soft_wrap=True,
        )


def _line(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[bool]) -> str:
    placed = (
        text.rjust(width) if number else text.ljust(width) for text, width, number in zip(cells, widths, numbers, strict=True)
    )
    return "   ".join(placed).rstrip()


def cell(value: Any) -> str:
    """A value as it stands in the table: times without the zone, which is UTC, and without zeros at their end; long texts cut."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        text = json_text(value, ascii_only=False)
    elif isinstance(value, Decimal):
        text = f"{value:f}"
    elif isinstance(value, str):
        text = _time(value)
    else:
        text = str(value)
    text = words.printable(text.replace("\n", "\\n"))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _time(text: str) -> str:
    """ "2026-01-05T09:01:00.500000Z" is "2026-01-05 09:01:00.5"; other texts stay."""
    if len(text) == len("2026-01-05T09:01:00.500000Z") and text[10] == "T" and text.endswith("Z") and text[19] == ".":
        return f"{text[:10]} {text[11:-1].rstrip('0').rstrip('.')}"
    return text
