"""What a job declares of the state of a key, with its SQL as functions in plain Python; errors name the expression, and show no value of a row."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamproof.errors import ScenarioError
from streamproof.prove.oracle import sql

_PLACE = re.compile(r"\s*(\w+)\s*(?:\[(.*)\])?\s*", re.DOTALL)
REQUIRED = "A proof works out in plain Python what Spark gives: docs/reference/stream.md#keyed lists the expressions that it knows."
REMEDY = "Write it in those, or move that part into transform() before keyed(), which both sides take from Spark."


@dataclass(frozen=True)
class Emission:
    """Rows of a step: a value for each column, the condition, the list of which each element makes one, the output ("" for the main one)."""

    columns: Mapping[str, sql.Value]
    when: sql.Value | None
    each: sql.Value | None
    to: str

    def rows(self, seen: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The rows, of what expressions see."""
        if self.when is not None and self.when(seen) is not True:
            return
        if self.each is None:
            yield {name: value(seen) for name, value in self.columns.items()}
            return
        for element in self.each(seen) or ():
            there = {**seen, "each": element}
            yield {name: value(there) for name, value in self.columns.items()}


@dataclass(frozen=True)
class Does:
    """What a row or a timer does: what becomes of fields (and of an entry, where that is said too), and what rows there are."""

    sets: Sequence[tuple[str, sql.Value | None, bool, sql.Value]]
    emits: Sequence[Emission]


def does(where: str, step: Any) -> Does:
    """A step of the job; `where` is how errors call it. NotModelled where an expression is none that plain Python works out."""
    sets = []
    for place, text in step.set.items():
        found = _PLACE.fullmatch(place)
        assert found is not None, "the job function has been called"
        inside = value(f"{where}: {place}", found[2]) if found[2] else None
        sets.append((found[1].lower(), inside, found[2] is not None, value(f"{where}: {place}", text)))
    emits = [
        Emission(
            {name: value(f"{where}: {name}", text) for name, text in one.columns.items()},
            None if one.when is None else value(f"{where}: emit(when=...)", one.when),
            None if one.each is None else value(f"{where}: emit(each=...)", one.each),
            one.to or "",
        )
        for one in step.emits
    ]
    return Does(sets, emits)


def value(where: str, text: str) -> sql.Value:
    """An expression; what stops it when it meets a row names it, and does not show the row."""
    return _named(f'{where}, "{text}",', sql.value_of(text))


def typed(name: str, text: str) -> sql.Value:
    """Any value as one of the type of a field, by what that starts as."""
    return _named(f'the field {name}, which starts as "{text}",', sql.typed_by(text))


def _named(said: str, of: sql.Value) -> sql.Value:
    def found(given: Any) -> Any:
        try:
            return of(given)
        except sql.Refused as problem:
            raise ScenarioError(f"keyed(): Spark would stop the job at {said}: {problem}.") from problem
        except sql.NotModelled as problem:
            raise ScenarioError(f"keyed(): {said} cannot be worked out: {problem}.", required=REQUIRED, remedy=REMEDY) from problem
        except (TypeError, KeyError, AttributeError) as problem:
            raise ScenarioError(
                f"keyed(): {said} meets a value of a type that the plain model does not expect there.",
                required="Rows have the types that the job reads: an instant is a datetime, and not a text.",
                remedy=REMEDY,
            ) from problem

    return found


def columns_read(step: Any, own: Sequence[str]) -> tuple[str, ...]:
    """The columns of rows that a step reads."""
    texts = [*step.set.values(), *(found[2] for place in step.set if (found := _PLACE.fullmatch(place)) and found[2])]
    for one in step.emits:
        texts += [*one.columns.values(), *(text for text in (one.when, one.each) if text is not None)]
    names = (name for text in texts for name in sql.names_in(text))
    return tuple(dict.fromkeys(name for name in names if name.split(".")[0].lower() not in own))
