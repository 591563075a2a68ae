"""Two states of an operator side by side, row by row: what changed, what is gone, what is new. Data alone; no Spark."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

LONGEST = 160
"""A text of a state is cut to so many characters."""


class What(StrEnum):
    """How a row of the one side is related to the other."""

    CHANGED = "changed"
    GONE = "gone"
    NEW = "new"
    SAME = "same"
    MISSING = "missing"
    """On neither side, and in the state without a fault."""


SHOWN: Mapping[What, int] = {What.CHANGED: 80, What.GONE: 80, What.NEW: 80, What.SAME: 40, What.MISSING: 80}
"""How many rows of an operator are shown at most."""


@dataclass(frozen=True)
class Side:
    """The state of one operator at one moment.

    Parameters
    ----------
    batch
        The batch after which it was so; None before the first commit.
    columns
        Its columns, those that tell rows apart first, as far as `keys` names them.
    keys
        The columns that tell rows apart.
    rows
        The rows as JSON has them; none where they are too many or cannot be read.
    count
        How many rows there are.
    unread
        Why they cannot be shown; empty where they can.
    """

    batch: int | None = None
    columns: Sequence[str] = ()
    keys: Sequence[str] = ()
    rows: Sequence[Mapping[str, Any]] = field(default=())
    count: int = 0
    unread: str = ""


def beside(crash: Side, after: Side, sound: Side | None = None, *, masked: bool = False) -> dict[str, Any]:
    """Both sides of an operator, as the report has them.

    Its keys: `key` and `values` (names of columns), `crash` and `after` (the batch, how many rows, why they cannot be shown), `counts` (of each
    `What` how many rows), `unsound` (how many rows after the recovery are not as without a fault, or missing; None where that cannot be
    compared), `rows` (of each what it is, the values of the key, of either side the other values, None where it has no such row, and whether it
    is `unsound`).

    Parameters
    ----------
    sound
        The state of the run without a fault after the same batch; None where that batch has other events there.
    masked
        Count the rows, and show none: their values are somebody's.
    """
    keys = list(crash.keys or after.keys)
    values = [name for name in dict.fromkeys([*crash.columns, *after.columns]) if name not in keys]
    known = not crash.unread and not after.unread
    pairs = list(_pairs(crash.rows, after.rows, keys, values)) if known else []
    differing = _differing(after, sound, keys, values)
    there = {row[1] for row in pairs}
    pairs += [(What.MISSING, key, json.loads(key), None, None) for key in sorted(differing or ()) if key not in there]
    rows = sorted(pairs, key=lambda row: (row[1] not in (differing or ()), list(What).index(row[0]), row[1]))
    counts = {str(what): sum(row[0] is what for row in rows) for what in What}
    return {
        "key": keys,
        "values": values,
        "crash": _said(crash),
        "after": _said(after),
        "counts": counts,
        "unsound": None if differing is None else len(differing),
        "rows": [] if masked else list(_shown(rows, differing or frozenset())),
    }


def _said(side: Side) -> dict[str, Any]:
    return {"batch": side.batch, "rows": side.count, "unread": side.unread}


Pair = tuple[What, str, list[Any], list[Any] | None, list[Any] | None]
"""What it is, by what it is sorted, the key, and both sides."""


def _pairs(
    crash: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], keys: Sequence[str], values: Sequence[str]
) -> Iterator[Pair]:
    """The rows of both sides by their keys. Where one key has several rows, those that are equal belong together."""
    sides = _by_key(crash, keys, values), _by_key(after, keys, values)
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        here, there = sides[0].get(key, []), sides[1].get(key, [])
        shown = list(json.loads(key))
        if keys and len(here) == len(there) == 1:
            yield (What.SAME if here == there else What.CHANGED), key, shown, here[0], there[0]
            continue
        left = list(there)
        for row in here:
            if row in left:
                left.remove(row)
                yield What.SAME, key, shown, row, row
            else:
                yield What.GONE, key, shown, row, None
        for row in left:
            yield What.NEW, key, shown, None, row


def _differing(after: Side, sound: Side | None, keys: Sequence[str], values: Sequence[str]) -> frozenset[str] | None:
    """The keys whose rows after the recovery are not those of the run without a fault; None where that is not known."""
    if sound is None or sound.unread or after.unread or sound.batch != after.batch:
        return None
    mine, theirs = _by_key(after.rows, keys, values), _by_key(sound.rows, keys, values)
    return frozenset(key for key in {**mine, **theirs} if _sorted(mine.get(key, [])) != _sorted(theirs.get(key, [])))


def _sorted(rows: Sequence[list[Any]]) -> list[str]:
    """The rows in an order of their own; a sum of floats depends on the order of adding, in its last digits."""
    return sorted(json.dumps([float(f"{value:.8e}") if isinstance(value, float) else value for value in row]) for row in rows)


def _by_key(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], values: Sequence[str]) -> dict[str, list[list[Any]]]:
    found: dict[str, list[list[Any]]] = {}
    for row in rows:
        found.setdefault(json.dumps([row.get(name) for name in keys]), []).append([row.get(name) for name in values])
    return found


def _shown(rows: Sequence[Pair], differing: Collection[str]) -> Iterator[dict[str, Any]]:
    left = dict(SHOWN)
    for what, name, key, crash, after in rows:
        if left[what]:
            left[what] -= 1
            unsound = name in differing
            yield {"what": str(what), "key": _cut(key), "crash": _cut(crash), "after": _cut(after), "unsound": unsound}


def _cut(values: list[Any] | None) -> list[Any] | None:
    return None if values is None else [_cut_text(value) for value in values]


def _cut_text(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else ""
    return f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text or value


__all__ = ["SHOWN", "Side", "What", "beside"]
