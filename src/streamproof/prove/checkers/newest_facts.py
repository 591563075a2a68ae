"""A table with versions holds of each key the greatest fact, and nothing else (S20)."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from streamproof.prove.artifacts.history import History, OutputRow, QueryView
from streamproof.prove.checkers import CannotTell, Finding, checker, require_decided
from streamproof.prove.checkers.wording import published, values
from streamproof.prove.oracle.facts import Facts, Key


class Code(StrEnum):
    """What is found here."""

    LOST = "no-fact"
    OLDER = "older-fact"
    UNEXPECTED = "unexpected-fact"
    SEVERAL = "several-facts"


@checker("newest-facts")
def newest_facts(history: History) -> Iterator[Finding]:
    """Compare the table with the facts that the job has given, key by key; which of them is greatest is worked out in plain Python."""
    for view in history.queries:
        if view.table.facts is None:
            continue
        require_decided(view)
        if view.bounded.rows is None:
            raise CannotTell(f"The rows of {view.name} carry no trace id: what is newest among them, nothing tells.")
        yield from _compared(history, view, view.table.facts, view.bounded.rows)


def _compared(history: History, view: QueryView, facts: Facts, rows: Mapping[str, Mapping[str, object]]) -> Iterator[Finding]:
    there: dict[Key, list[OutputRow]] = {}
    for row in view.main.rows:
        given = row.trace is not None and row.trace in rows and view.identity(row.trace) in view.given_facts
        there.setdefault(facts.key_of(rows[row.trace or ""]) if given else (), []).append(row)
    for row in there.pop((), ()):
        yield Finding(Code.UNEXPECTED, row.trace, f"is in {view.main.name}, and the job has given no such fact", row.batch)
    for key, names in view.greatest_facts.items():
        trace, batch = view.given_facts[min(names)]
        found = there.get(key, [])
        wanted = _said(facts, rows[trace])
        how = f"the event {history.came_in(view, trace)}"
        if not found:
            what = f"is lost: {view.main.name} has no fact of its key"
            yield Finding(Code.LOST, trace, what, batch, wanted, "no row of the key", how, _named(facts, key))
        elif len(found) > 1:
            what = f"{view.main.name} has {len(found)} facts of one key"
            yield Finding(Code.SEVERAL, None, what, found[-1].batch, "one row", published(found), how, _named(facts, key))
        elif view.identity(found[0].trace or "") not in names:
            yield _older(view, facts, key, found, (trace, wanted, how))


def _older(view: QueryView, facts: Facts, key: Key, found: Sequence[OutputRow], newest: tuple[str, str, str]) -> Finding:
    trace, wanted, how = newest
    what = f"is lost: {view.main.name} has an older fact of its key"
    return Finding(Code.OLDER, trace, what, found[0].batch, wanted, _said(facts, found[0].values), how, _named(facts, key))


def _said(facts: Facts, row: Mapping[str, object]) -> str:
    return values(row, [facts.version, *([facts.deleted] if facts.deleted else [])])


def _named(facts: Facts, key: Key) -> str:
    return ", ".join(f"{column} {value}" for column, value in zip(facts.key, key, strict=True))
