"""A table with one row of each key holds the greatest version of it (S20), or the one that came last, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from streamproof.prove.artifacts.history import History, OutputRow, QueryView
from streamproof.prove.checkers import CannotTell, Finding, checker, require_decided
from streamproof.prove.checkers.wording import published, values
from streamproof.prove.oracle.facts import Key, OneOfKey


class Code(StrEnum):
    """What is found here."""

    LOST = "no-fact"
    OLDER = "older-fact"
    UNEXPECTED = "unexpected-fact"
    SEVERAL = "several-facts"


@checker("newest-facts")
def newest_facts(history: History) -> Iterator[Finding]:
    """Compare the table with the rows that the job has given, key by key; which of them stays is worked out in plain Python."""
    for view in history.queries:
        if view.table.one_of_key is None:
            continue
        require_decided(view)
        if view.bounded.rows is None:
            raise CannotTell(f"The rows of {view.name} carry no trace id: what is newest among them, nothing tells.")
        yield from _compared(history, view, view.table.one_of_key, view.bounded.rows)


def _compared(history: History, view: QueryView, kept: OneOfKey, rows: Mapping[str, Mapping[str, object]]) -> Iterator[Finding]:
    there: dict[Key, list[OutputRow]] = {}
    for row in view.main.rows:
        given = row.trace is not None and row.trace in rows and view.identity(row.trace) in view.given_once
        key = kept.key_of(rows[row.trace or ""]) if given else ()
        there.setdefault(key if key in view.stay else (), []).append(row)
    for row in there.pop((), ()):
        deleted = row.trace is not None and view.identity(row.trace) in view.given_once
        why = f"and its key has no {kept.calls} any more" if deleted else f"and the job has given no such {kept.calls}"
        yield Finding(Code.UNEXPECTED, row.trace, f"is in {view.main.name}, {why}", row.batch)
    for key, names in view.stay.items():
        trace, batch = view.given_once[min(names)]
        found = there.get(key, [])
        wanted = _said(kept, rows[trace])
        how = f"the event {history.came_in(view, trace)}"
        if not found:
            what = f"is lost: {view.main.name} has no {kept.calls} of its key"
            yield Finding(Code.LOST, trace, what, batch, wanted, "no row of the key", how, _named(kept, key))
        elif len(found) > 1:
            what = f"{view.main.name} has {len(found)} {kept.calls}s of one key"
            yield Finding(Code.SEVERAL, None, what, found[-1].batch, "one row", published(found), how, _named(kept, key))
        elif view.identity(found[0].trace or "") not in names:
            yield _older(view, kept, key, found, (trace, wanted, how))


def _older(view: QueryView, kept: OneOfKey, key: Key, found: Sequence[OutputRow], newest: tuple[str, str, str]) -> Finding:
    trace, wanted, how = newest
    what = f"is lost: {view.main.name} has {kept.loses} of its key"
    return Finding(Code.OLDER, trace, what, found[0].batch, wanted, _said(kept, found[0].values), how, _named(kept, key))


def _said(kept: OneOfKey, row: Mapping[str, object]) -> str:
    return values(row, kept.shown or [name for name in row if not name.startswith("_")])


def _named(kept: OneOfKey, key: Key) -> str:
    return ", ".join(f"{column} {value}" for column, value in zip(kept.key, key, strict=True))
