"""The state of a failing scenario as a page shows it: both sides of each operator in one table, and what differs marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamproof.report import words
from streamproof.report.shape_of_causes import OperatorState, SideEntry, StateEntry, StateRow
from streamproof.report.state_table import cell

_HERE = "there"
"""The column of a state that has a key and nothing else."""
Cell = tuple[str, bool]
"""A value in words, and whether the other side has another one."""


@dataclass(frozen=True)
class Row:
    """A row of the table: what it is, its key, and its cells on both sides; none where that side has no such row."""

    what: str
    key: tuple[str, ...]
    crash: tuple[Cell, ...] | None
    after: tuple[Cell, ...] | None
    unsound: bool


@dataclass(frozen=True)
class Operator:
    """One operator: its heading, the names of its columns, what is said of either side, of both against the run without a fault, and of
    the rows that are left out, and the rows.
    """

    name: str
    key: tuple[str, ...]
    values: tuple[str, ...]
    crash: str
    after: str
    verdict: str
    unsound: bool
    said: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class States:
    """Both sides of all operators of a scenario."""

    scenario: str
    recovered: bool
    masked: bool
    problem: str
    operators: tuple[Operator, ...]


def states(found: StateEntry | None) -> States | None:
    """What a page shows of both sides; None where nothing was looked at."""
    if found is None:
        return None
    several = len({one["query"] for one in found["operators"]}) > 1
    operators = tuple(_operator(one, several=several, masked=found["masked"]) for one in found["operators"])
    return States(found["scenario"], found["recovered"], found["masked"], found.get("problem", ""), operators)


def _operator(found: OperatorState, *, several: bool, masked: bool) -> Operator:
    values = tuple(found["values"]) or (_HERE,)
    return Operator(
        name=f"{found['query'] + ', ' if several else ''}operator {found['operator']}: {found['word']}",
        key=tuple(found["key"]),
        values=values,
        crash=_side(found["crash"], found["row"]),
        after=_side(found["after"], found["row"]),
        verdict=_verdict(found),
        unsound=bool(found["unsound"]),
        said="; ".join(_said(found, masked=masked)),
        rows=tuple(_row(row, len(found["values"])) for row in found["rows"]),
    )


def _side(side: SideEntry, row: str) -> str:
    if side["unread"]:
        return side["unread"]
    if side["batch"] is None:
        return "nothing: no batch was committed"
    return f"{words.counted(side['rows'], row)}, after batch {side['batch']}"


def _verdict(found: OperatorState) -> str:
    """How the state after the recovery is beside that of the run without a fault after the same batch."""
    wrong, batch = found["unsound"], found["after"]["batch"]
    if wrong is None:
        return ""
    if not wrong:
        return f"the same as without a fault after batch {batch}: what is wrong is not in this state"
    return f"{words.counted(wrong, found['row'])} not as without a fault after batch {batch}"


def _said(found: OperatorState, *, masked: bool) -> Iterator[str]:
    counts = found["counts"]
    if not sum(counts.values()):
        return
    yield ", ".join(
        f"{words.number(counts[what])} {what}"
        for what in ("changed", "gone", "new", "same", "missing")
        if what != "missing" or counts.get(what)
    )
    total = sum(counts.values())
    if not masked and len(found["rows"]) < total:
        shown = {what: sum(row["what"] == what for row in found["rows"]) for what in counts}
        of_each = ", ".join(f"{shown[what]} {what}" for what in counts if shown[what])
        yield f"shown are {words.number(len(found['rows']))} of {words.number(total)}: {of_each}"


def _row(row: StateRow, values: int) -> Row:
    key = tuple(cell(value) for value in row["key"])
    if not values:  # a key is there, or it is not
        left, right = (None if side is None else [True] for side in (row["crash"], row["after"]))
        return Row(row["what"], key, _there(left), _there(right), row["unsound"])
    return Row(row["what"], key, _cells(row["crash"], row["after"]), _cells(row["after"], row["crash"]), row["unsound"])


def _there(side: Sequence[Any] | None) -> tuple[Cell, ...] | None:
    return None if side is None else (("yes", False),)


def _cells(mine: Sequence[Any] | None, other: Sequence[Any] | None) -> tuple[Cell, ...] | None:
    if mine is None:
        return None
    return tuple((cell(value), other is not None and value != other[place]) for place, value in enumerate(mine))


__all__ = ["States", "states"]
