"""How two outputs compare, in the terminal: the verdict first, then counts, columns, sums, and rows to look at."""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.console import Console
from rich.text import Text

from streamproof.replay.diff.result import Apart, Diff, Kind, OutputDiff, ShownRow, Sum
from streamproof.report import words
from streamproof.report.html import page_of

_LABEL = 14
_LONGEST = 60
_DIGITS = 15
_BEHIND_POINT = 9
"""A difference with more of them is one of floats."""
KINDS = {Kind.DIFFERENT: "different", Kind.ONLY_A: "only in A", Kind.ONLY_B: "only in B"}
WHY = {Apart.ONLY_A: "only in A", Apart.ONLY_B: "only in B", Apart.OTHER_TYPES: "other types"}


def print_diff(diff: Diff, console: Console) -> None:
    """Print what was found; one screen for an output with a few rows to show."""
    head = Text("SAME  " if diff.is_same else "DIFFERENT  ", style="bold green" if diff.is_same else "bold red")
    head.append(sentence(diff), style="bold default")
    console.print(head, soft_wrap=True)
    for output in diff.outputs:
        for label, text in _lines(output):
            console.print(
                Text("  " + label.ljust(_LABEL), style="dim") + Text(text, style="not dim"), soft_wrap=True, highlight=False
            )
    for label, names in (("only in A", diff.only_a), ("only in B", diff.only_b)):
        if names:
            console.print(Text(f"  {label:<{_LABEL}}", style="dim") + Text(f"outputs {words.few(names)}"), soft_wrap=True)


def sentence(diff: Diff) -> str:
    """The result in one sentence."""
    rows = sum(output.counts.rows[0] for output in diff.outputs), sum(output.counts.rows[1] for output in diff.outputs)
    if diff.is_same:
        return f"{words.counted(rows[0], 'row')} on each side, none differs{_within(diff)}"
    only_a, only_b = sum(output.counts.only_a for output in diff.outputs), sum(output.counts.only_b for output in diff.outputs)
    different = sum(output.counts.different for output in diff.outputs)
    parts = [
        f"{words.counted(different, 'row')} {'differs' if different == 1 else 'differ'}" if different else "",
        f"{words.number(only_a)} only in A" if only_a else "",
        f"{words.number(only_b)} only in B" if only_b else "",
        f"{words.counted(apart, 'column')} not in both" if (apart := sum(len(output.apart) for output in diff.outputs)) else "",
        f"{words.counted(alone, 'output')} on one side only" if (alone := len(diff.only_a) + len(diff.only_b)) else "",
    ]
    return ", ".join(filter(None, parts))


def _within(diff: Diff) -> str:
    return f"; numbers agree within {diff.tolerance:g}" if diff.tolerance else ", to the last digit"


def _lines(output: OutputDiff) -> Iterator[tuple[str, str]]:
    if output.name:
        yield output.name, ""
    yield "A, B", " · ".join(map(words.printable, output.places))
    yield "compared", f"{words.few(output.columns, 12)}{' by ' + ', '.join(output.key) if output.key else ', without a key'}"
    yield (
        "rows",
        f"A {words.number(output.counts.rows[0])} · B {words.number(output.counts.rows[1])} · equal {words.number(output.counts.same)}",
    )
    if output.counts.only_a or output.counts.only_b:
        yield "on one side", f"only in A {words.number(output.counts.only_a)} · only in B {words.number(output.counts.only_b)}"
    if output.counts.different:
        columns = " · ".join(
            f"{one.name} in {words.number(one.rows)}{'' if one.largest is None else f' (by {amount(one.largest)} at most)'}"
            for one in output.by_column
        )
        yield "different", f"{words.number(output.counts.different)}: {columns}"
    if any(output.counts.several):
        yield (
            "several rows",
            f"of a key: A {words.counted(output.counts.several[0], 'key')} · B {words.counted(output.counts.several[1], 'key')}",
        )
    for column in output.apart:
        types = " and ".join(filter(None, column.types))
        yield "column", f"{column.name}: {WHY[column.why]} ({types}), not compared"
    yield from _sums(output.sums)
    for note in output.notes:
        yield "note", note
    yield from _shown(output)


def _sums(sums: Sequence[Sum]) -> Iterator[tuple[str, str]]:
    if not sums:
        return
    rows = [("", "A", "B", "B - A")]
    rows += [(one.column, amount(one.a), amount(one.b), signed(one.difference)) for one in sums]
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    for index, row in enumerate(rows):
        first, *others = (
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "sums" if index == 0 else "", "   ".join((first, *others))


def _shown(output: OutputDiff) -> Iterator[tuple[str, str]]:
    counts = {Kind.DIFFERENT: output.counts.different, Kind.ONLY_A: output.counts.only_a, Kind.ONLY_B: output.counts.only_b}
    for kind, label in KINDS.items():
        rows = [row for row in output.shown if row.kind is kind]
        for row in rows:
            yield label, words.printable(row_in_words(row))
        if rows and counts[kind] > len(rows):
            yield "", f"and {words.number(counts[kind] - len(rows))} more"


def row_in_words(row: ShownRow) -> str:
    """A row in one line: its key, and what is on each side."""
    key = _values(row.key)
    if row.kind is Kind.DIFFERENT:
        changes = [f"{name} {_value(row.a[name])} → {_value(row.b[name])}{_delta(row.a[name], row.b[name])}" for name in row.a]
        return f"{key}   {' · '.join(changes)}"
    return "   ".join(filter(None, (key, _values(row.a if row.kind is Kind.ONLY_A else row.b))))


def _values(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    if value is None:
        return "null"
    text = value if isinstance(value, str) else str(value)
    if isinstance(value, Decimal) and len(text.partition(".")[2]) > _BEHIND_POINT and "E" not in text:
        text = text.rstrip("0").rstrip(".")  # the zeros are those of the decimal that both sides were compared as
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _delta(a: Any, b: Any) -> str:
    numbers = (int, Decimal)
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, numbers) or not isinstance(b, numbers):
        return ""
    apart = Decimal(b) - Decimal(a)
    return f" ({signed(apart if len(apart.as_tuple().digits) <= _DIGITS else float(apart))})"


def signed(number: Decimal | float | None) -> str:
    """A difference, with its sign."""
    shown = amount(number)
    return f"+{shown}" if number is not None and number > 0 else shown


def amount(number: Decimal | float | None) -> str:
    """A number with its thousands apart, floats to nine digits."""
    if number is None:
        return "none"
    if isinstance(number, Decimal):
        return f"{number.normalize():,f}" if number == number else "NaN"
    return f"{int(number):,}" if _whole(number) and abs(number) < 1e15 else f"{number:,.9g}"


def _whole(number: float) -> bool:
    return math.isfinite(number) and number == int(number)


def page(diff: Diff) -> str:
    """The same as a page of its own: one file, no network."""
    return page_of(
        "diff.html", diff=diff, sentence=sentence(diff), kinds=KINDS, why=WHY, told=row_in_words, amount=amount, signed=signed
    )
