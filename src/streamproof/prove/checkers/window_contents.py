"""Each window is emitted once, by the right batch, with the values of the batch query and of the hand-written model (R23)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from streamproof.prove.artifacts.float_order import ANYTHING, Steps, alike, only_rounded
from streamproof.prove.artifacts.history import History, OutputRow, QueryView, total
from streamproof.prove.artifacts.row_files import instant_of
from streamproof.prove.checkers import CannotTell, Finding, checker, require_decided
from streamproof.prove.checkers.wording import events, published, values, window
from streamproof.prove.oracle.arrived import plain
from streamproof.prove.oracle.rows import WindowKey
from streamproof.prove.oracle.sketches import Exact
from streamproof.prove.scenario.scenario import Expect

_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
NO_STEPS: Steps = MappingProxyType({})
SCALARS = (str, int, float, Decimal)


class Code(StrEnum):
    """What is found here."""

    SEVERAL_ROWS = "several-rows"
    NOT_DUE = "not-due"
    WRONG_BATCH = "wrong-batch"
    OTHER_EVENTS = "other-events"
    NO_SUCH_WINDOW = "no-such-window"
    OTHER_VALUE = "other-value"
    BEYOND_ERROR = "beyond-stated-error"
    OTHER_VALUE_OF_OTHER_EVENTS = "other-value-of-other-events"
    MODEL_WINDOW_MISSING = "model-window-missing"


@checker("window-contents")
def window_contents(history: History) -> Iterator[Finding]:
    """Compare each emitted row with the model, and its aggregates with two independent computations."""
    for view in history.queries:
        if not view.windowed:
            continue
        require_decided(view)
        yield from _membership(view)
        for source, rows in (("the batch query", view.bounded.windows), ("the hand-written model", view.handwritten.windows)):
            if rows is not None:
                yield from _values(view, rows, source, history.expectations)
        if view.bounded.windows is None and view.handwritten.windows is None:
            raise CannotTell(f"The values of {view.name} were compared with nothing: no batch query, no hand-written model.")


def _membership(view: QueryView) -> Iterator[Finding]:
    due = {key: outcome.batch for outcome in view.batches for key in outcome.emitted}
    for key, rows in view.windows.items():
        wrong = _wrong(view, key, rows, due.get(key))
        if wrong is not None:
            code, what, expected, found = wrong
            yield Finding(code, None, what, rows[-1].batch, expected, found, published(rows), window(view.grouped, key))


def _wrong(view: QueryView, key: WindowKey, rows: Sequence[OutputRow], due: int | None) -> tuple[Code, str, str, str] | None:
    """What is wrong with the rows of a window as a code and in words, what must be and what is; None where it is one row, of batch `due`, with its events."""
    if len(rows) > 1:
        return Code.SEVERAL_ROWS, f"a window has {len(rows)} rows", "one row", f"{len(rows)} rows"
    if due is None:
        return Code.NOT_DUE, "a window was emitted that is not due", "no row", _row(view, key)
    if rows[0].batch not in (None, due):
        return Code.WRONG_BATCH, "a window was emitted by the wrong batch", f"by batch {due}", f"by batch {rows[0].batch}"
    wanted = view.model.emitted[key].vector
    if view.sums[key] != wanted:
        what, expected = "a window holds other events than it must", f"{window(view.grouped, key)}  {events(wanted)}"
        return Code.OTHER_EVENTS, what, expected, _row(view, key)
    return None


def _values(view: QueryView, expected: Mapping[WindowKey, Mapping[str, Any]], source: str, expect: Expect) -> Iterator[Finding]:
    grouped, keys = view.grouped, (*view.grouped.by, "window_start")
    for key, rows in view.windows.items():
        if key not in view.model.emitted or len(rows) != 1:
            continue
        wanted, row = expected.get(key), rows[0]
        if wanted is None:
            what = f"{source} has no such window"
            yield Finding(Code.NO_SUCH_WINDOW, None, what, row.batch, "no row", _row(view, key), None, window(grouped, key))
            continue
        compared = [name for name in wanted if name in grouped.aggregates or (name not in keys and _is_plain(wanted[name]))]
        for column in compared:
            exact = (view.bounded.windows or {}).get(key, {}).get(column)
            if isinstance(exact, Exact):
                if expect.compare.get(column) == "ignore" or _within(exact, wanted[column], row.values.get(column)):
                    continue
                said = f"{window(grouped, key)}  {column} {exact}"
                what = f"{column} lies beyond its stated error of what {source} gives"
                yield Finding(Code.BEYOND_ERROR, None, what, row.batch, said, _row(view, key), row.file, window(grouped, key))
                break
            if not equal(wanted[column], row.values.get(column), column, expect, view.bounded.steps):
                said = f"{window(grouped, key)}  {values(wanted, compared)}"
                whole = view.sums[key] == view.model.emitted[key].vector
                how = f"{row.file}; each of its events is in it once, and the value is another" if whole else row.file
                what = f"{column} is not what {source} gives"
                code = Code.OTHER_VALUE if whole else Code.OTHER_VALUE_OF_OTHER_EVENTS
                plain = [name for name in compared if not isinstance(wanted[name], Exact)]
                near = only_rounded(differing(wanted, row.values, plain, expect, view.bounded.steps))
                yield Finding(code, None, what, row.batch, said, _row(view, key), how, window(grouped, key), rounded=near)
                break
    for key in sorted(expected.keys() - view.model.emitted.keys(), key=repr):
        yield Finding(
            Code.MODEL_WINDOW_MISSING,
            None,
            f"{source} has a window that the model does not have",
            None,
            window(grouped, key),
            "no row",
            None,
            window(grouped, key),
        )


def _within(exact: Exact, wanted: Any, found: Any) -> bool:
    """Whether what a sketch gave is within its stated error, and so is what the hand-written model says, where that was asked."""
    return exact.takes(found) and (wanted is exact or exact.takes(wanted))


def _is_plain(value: Any) -> bool:
    """Whether all formats write a value in one way."""
    return value is None or isinstance(value, SCALARS)


def equal(wanted: Any, found: Any, column: str, expect: Expect, steps: Steps = NO_STEPS) -> bool:
    """Whether two values of a column are equal in the way the scenario declares.

    Unless it says otherwise, floats are so by tolerance, and what is made of floats in an order that is not fixed by its step.
    """
    if isinstance(found, str):
        found = _as_written(wanted, found)
    if wanted == found or (wanted != wanted and found != found):  # NaN is not equal to itself
        return True
    wanted, found = plain(wanted), plain(found)
    if expect.compare.get(column) == "ignore":
        return True
    if column not in expect.compare and column in steps:
        return steps[column] == ANYTHING or alike(wanted, found, steps[column], expect.tolerance)
    way = expect.compare.get(column) or ("tolerance" if isinstance(wanted, float) or isinstance(found, float) else "exact")
    if way == "set" and isinstance(wanted, tuple) and isinstance(found, tuple):
        return sorted(wanted, key=repr) == sorted(found, key=repr)
    return alike(wanted, found, 0.0, expect.tolerance) if way == "tolerance" else bool(wanted == found)


def differing(
    wanted: Mapping[str, Any], found: Mapping[str, Any], columns: Sequence[str], expect: Expect, steps: Steps = NO_STEPS
) -> Sequence[tuple[Any, Any]]:
    """The values of the columns that are not equal: what was wanted, what was found."""
    pairs = ((name, wanted[name], found.get(name)) for name in columns)
    return [(one, other) for name, one, other in pairs if not equal(one, other, name, expect, steps)]


def _as_written(wanted: Any, text: str) -> Any:
    """What a store has as text, as the wanted value's own kind: instants in JSON, decimals in Redis and Protobuf, NaN anywhere."""
    if isinstance(wanted, int):
        return instant_of(text)
    if isinstance(wanted, float) and text in _NO_NUMBERS:
        return float(text)
    if isinstance(wanted, Decimal):
        with suppress(ArithmeticError):
            return Decimal(text)
    return text


def _row(view: QueryView, key: WindowKey) -> str:
    row = view.windows[key][0]
    return f"{window(view.grouped, key)}  {values(row.values, view.grouped.aggregates) or events(total([row]))}"
