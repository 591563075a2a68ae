"""Compares the rows of a side output with the records that must be in it: which, how often, and in which batch."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from streamproof.prove.artifacts.history import History, OutputHistory, OutputRow, QueryView
from streamproof.prove.checkers import Finding
from streamproof.prove.checkers.wording import published, value


class Code(StrEnum):
    """What is found here."""

    DAMAGED_FILE = "damaged-file"
    NO_TRACE = "no-trace"
    NOT_DELIVERED = "not-delivered"
    WRONGLY_DELIVERED = "wrongly-delivered"
    DELIVERED_AGAIN = "delivered-again"
    WRONG_BATCH = "wrong-batch"


Why = Callable[[str], str]


def compare(
    history: History,
    view: QueryView,
    output: OutputHistory,
    expected: dict[str, int],
    word: str,
    why: Why,
    *,
    by_batch: bool = True,
    times: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Findings for records that are missing, doubled, in the wrong batch, or not to be there.

    Parameters
    ----------
    expected
        The traces that must be there, with the batch that must deliver them.
    word
        What such a record is called: "late".
    why
        For a trace, why it is or is not of this kind.
    by_batch
        Whether the rows must lie in the model's batches: not in an output of another query.
    times
        How many rows a record must have, where that is not one: where windows overlap, one for each window that it is late for.
    """
    for problem in output.damaged:
        yield Finding(Code.DAMAGED_FILE, None, f"a published file of {output.name} cannot be read: {problem}")
    rows: dict[str, list[OutputRow]] = {}
    for row in output.rows:
        trace = row.trace
        if trace is None:
            yield Finding(Code.NO_TRACE, None, f"a row of {output.name} cannot be traced to an event", row.batch, found=_shown(row))
        else:
            rows.setdefault(trace, []).append(row)
    counted = Counter({trace: len(found) for trace, found in rows.items()})
    for trace, batch in expected.items():
        if not counted[trace]:
            how = f"it {history.came_in(view, trace)}; {why(trace)}"
            what = f"is {word} and was not delivered in {output.name}"
            yield Finding(Code.NOT_DELIVERED, trace, what, batch, _rows(times.get(trace, 1)), "none", how)
    for trace, found in rows.items():
        yield from _found(trace, found, expected, output, word, why, by_batch=by_batch, wanted=times.get(trace, 1))


def _found(
    trace: str,
    rows: Sequence[OutputRow],
    expected: dict[str, int],
    output: OutputHistory,
    word: str,
    why: Why,
    *,
    by_batch: bool,
    wanted: int,
) -> Iterator[Finding]:
    batch = rows[-1].batch
    if trace not in expected:
        what = f"was delivered in {output.name} and is not {word}"
        yield Finding(Code.WRONGLY_DELIVERED, trace, what, batch, "no row", f"{len(rows)}", why(trace))
    elif len(rows) > wanted:
        times = "twice" if len(rows) == 2 else f"{len(rows)} times"
        what = f"was delivered {times} in {output.name}"
        yield Finding(Code.DELIVERED_AGAIN, trace, what, batch, _rows(wanted), f"{len(rows)} rows", published(rows))
    elif len(rows) < wanted:
        what = f"is {word} for more windows than were delivered in {output.name}"
        yield Finding(Code.NOT_DELIVERED, trace, what, batch, _rows(wanted), _rows(len(rows)), why(trace))
    elif by_batch and batch is not None and batch != expected[trace]:
        what = f"was delivered in {output.name} by the wrong batch"
        yield Finding(Code.WRONG_BATCH, trace, what, batch, f"by batch {expected[trace]}", f"by batch {batch}", why(trace))


def _rows(number: int) -> str:
    return "one row" if number == 1 else f"{number} rows"


def _shown(row: OutputRow) -> str:
    return "  ".join(f"{name} {value(found)}" for name, found in row.values.items() if found is not None)[:200]
