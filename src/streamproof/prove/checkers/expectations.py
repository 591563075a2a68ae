"""What the scenario expects of the job: shares of late, rejected and open records, tables as they are now, the intended event time.

Without them a job that calls half its input late would pass: its account adds up.
"""

from collections.abc import Iterator
from enum import StrEnum

from streamproof.prove.artifacts.history import History, QueryView
from streamproof.prove.checkers import Finding, checker
from streamproof.prove.checkers.wording import full_instant


class Code(StrEnum):
    """What is found here."""

    TOO_MANY_LATE = "too-many-late"
    TOO_MANY_REJECTED = "too-many-rejected"
    TOO_MANY_OPEN = "too-many-open"
    OTHER_TIME = "other-time"
    TABLE_BEHIND = "table-behind"


@checker("expectations")
def expectations(history: History) -> Iterator[Finding]:
    """Compare the account with the scenario's shares, tables with what they hold by now, event times with those the events were made with."""
    expect = history.expectations
    for view in history.queries:
        for place, most, code in (
            ("late", expect.late_at_most, Code.TOO_MANY_LATE),
            ("rejected", expect.rejected_at_most, Code.TOO_MANY_REJECTED),
            ("open_state", expect.open_at_most, Code.TOO_MANY_OPEN),
        ):
            if most is not None:
                yield from _share(history, view, place, most, code)
        if expect.results_by == "event time":
            yield from _event_times(history, view)
        if expect.tables_behind_at_most is not None:
            yield from _tables(view, expect.tables_behind_at_most)


def _share(history: History, view: QueryView, place: str, most: float, code: Code) -> Iterator[Finding]:
    """A finding if more than the share is there; events at the edges, which a proof adds by itself, are not counted."""
    places = view.model.places
    count, of = places[place].count - _edges(history, view, place), places["input"].count + places["expanded"].count
    if of and count > most * of:
        word = {"open_state": "open at the end"}.get(place, place)
        what = f"{count / of:.2%} of the input of {view.name} is {word}; the scenario allows {most:.2%}"
        yield Finding(code, None, what, None, f"at most {int(most * of):,} of {of:,}", f"{count:,}")


def _edges(history: History, view: QueryView, place: str) -> int:
    fates = view.model.fates
    return sum(fates.get(trace, ("",))[0] == place for trace in history.offered.edges)


def _tables(view: QueryView, most: int) -> Iterator[Finding]:
    for used in view.used:
        if used.behind > most:
            what = f"{view.name} uses what the table {used.table} held before it changed"
            how = (
                f"with a refresh, [table.{used.table}] is read again while the job runs; without one it is read when the job starts"
            )
            yield Finding(
                Code.TABLE_BEHIND,
                None,
                what,
                used.batch,
                f"at most {_batches(most)} behind",
                f"{_batches(used.behind)} behind",
                how,
            )


def _batches(count: int) -> str:
    return f"{count:,} batch" if count == 1 else f"{count:,} batches"


def _event_times(history: History, view: QueryView) -> Iterator[Finding]:
    if view.model.query.event_time_column is None:
        return
    misplaced = history.mistakes(view).misplaced
    for outcome in view.batches if misplaced else ():
        for trace in outcome.traces:
            event = misplaced.get(trace)
            if event is None:
                continue
            time_us = view.arrived[trace].time_us
            expected = full_instant(event.time_us) if event.time_us is not None else "none"
            found = full_instant(time_us) if time_us is not None else "none"
            how = f"the event time of {view.name} is {view.model.query.event_time_column}"
            yield Finding(Code.OTHER_TIME, trace, "is placed by another time than it happened", outcome.batch, expected, found, how)
