"""The rows that a deduplication drops are in the duplicates output: each once, by the batch that dropped it, and no row that was kept (R14)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from streamproof.prove.artifacts.history import History, OutputHistory, OutputRow, QueryView
from streamproof.prove.checkers import Finding, checker, require_decided
from streamproof.prove.checkers.side_rows import Code
from streamproof.prove.checkers.wording import published
from streamproof.prove.oracle.trace import apart, events_of, together


@checker("duplicate-routing")
def duplicate_routing(history: History) -> Iterator[Finding]:
    """Compare the duplicates output with the model, where a query has one.

    Which copy of an event stays is not promised: of each event a batch must have delivered as many copies as the model has dropped in it, no
    copy is there twice, and none that the main output has too.
    """
    for view in history.queries:
        for output in view.sides("duplicate"):
            require_decided(view)
            yield from _damaged(output)
            yield from _again(history, view, output)
            yield from _copies(history, view, output)


def _damaged(output: OutputHistory) -> Iterator[Finding]:
    for problem in output.damaged:
        yield Finding(Code.DAMAGED_FILE, None, f"a published file of {output.name} cannot be read: {problem}")
    for row in output.rows:
        if row.trace is None:
            yield Finding(Code.NO_TRACE, None, f"a row of {output.name} cannot be traced to an event", row.batch)


def _again(history: History, view: QueryView, output: OutputHistory) -> Iterator[Finding]:
    """Copies that are in the output twice, or in the main output too; the rows of windows do not say which copy they hold."""
    rows: dict[str, list[OutputRow]] = {}
    for row in output.rows:
        if row.trace is not None:
            rows.setdefault(row.trace, []).append(row)
    kept: set[str | None] = set() if view.windowed else {row.trace for row in view.main.rows}
    for trace, found in rows.items():
        how = f"it {history.came_in(view, trace)}; {published(found)}"
        if len(found) > 1:
            times = "twice" if len(found) == 2 else f"{len(found)} times"
            yield Finding(
                Code.DELIVERED_AGAIN, trace, f"was delivered {times} in {output.name}", found[-1].batch, "one row", how=how
            )
        if trace in kept:
            what = f"was delivered in {output.name} and is in {view.main.name} too"
            yield Finding(Code.WRONGLY_DELIVERED, trace, what, found[-1].batch, "in one of the two", "in both", how)


def _copies(history: History, view: QueryView, output: OutputHistory) -> Iterator[Finding]:
    """By event how many copies each batch has dropped and delivered, each copy counted once."""
    dropped, delivered = defaultdict[str, Counter[int]](Counter), defaultdict[str, Counter[int]](Counter)
    for outcome in view.batches:
        for row in outcome.side("duplicate", output.side.name):
            dropped[events_of(together(row.traces))][outcome.batch] += 1
    for trace, batch in {(row.trace, row.batch) for row in output.rows if row.trace is not None}:
        delivered[events_of(trace)][-1 if batch is None else batch] += 1
    for event in sorted({*dropped, *delivered}):
        wanted, found = dropped[event], delivered[event]
        if wanted == found:
            continue
        how = f"it {history.came_in(view, history.copies(apart(event)[0])[0])}"
        batch, sides = max((*wanted, *found)), (_rows(wanted.total()), _rows(found.total()))
        if found.total() < wanted.total():
            what = f"has a copy that was dropped and was not delivered in {output.name}"
            yield Finding(Code.NOT_DELIVERED, event, what, batch, *sides, how)
        elif found.total() > wanted.total():
            what = f"was delivered in {output.name} and was not dropped as a duplicate"
            yield Finding(Code.WRONGLY_DELIVERED, event, what, batch, *sides, how)
        else:
            what = f"has a copy that was delivered in {output.name} by the wrong batch"
            yield Finding(Code.WRONG_BATCH, event, what, batch, _by(wanted), _by(found), how)


def _by(batches: Iterable[int]) -> str:
    return f"by batch {', '.join(str(batch) for batch in sorted(batches))}"


def _rows(number: int) -> str:
    return "none" if number == 0 else "one row" if number == 1 else f"{number} rows"
