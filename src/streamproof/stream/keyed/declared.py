"""What a job writes of the state of a key: its fields, and what a step does with them. No Spark is needed to read it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamproof.errors import JobDefinitionError

BEFORE, EACH, TIMER = "before", "each", "timer"
"""Names of our own in expressions: the state before the step, an element of the list of `each=`, the instant of the timer that fires."""
_PLACE = re.compile(r"\s*(\w+)\s*(?:\[(.*)\])?\s*", re.DOTALL)
_MOST = 100_000
_IN_STEP = 'sp.step(set={"total": "total + amount"}, emit=sp.emit("card", "total"))'


@dataclass(frozen=True)
class Field:
    """A field of the state.

    Parameters
    ----------
    starts
        What a key without a state has, a SQL expression.
    at_most
        How many elements a list or a map holds; None of a single value.
    is_map
        Whether its elements are entries.
    said
        How it was declared, the same in each process.
    """

    starts: str
    said: str
    at_most: int | None = None
    is_map: bool = False


@dataclass(frozen=True)
class Emit:
    """Rows that a step gives; made by `emit`.

    Parameters
    ----------
    columns
        By the name of each column its SQL expression.
    when
        A condition; None where there are rows each time.
    each
        A list, of which each element makes a row; None where a step gives one.
    to
        The side output that the rows go to; None for the main one.
    """

    columns: Mapping[str, str]
    when: str | None = None
    each: str | None = None
    to: str | None = None

    @property
    def always(self) -> bool:
        """Whether each step gives a row: nothing is asked, and a list that rows are made of is written with its elements."""
        from sqlglot import exp

        if self.when is not None or self.each is None:
            return self.when is None
        listed = parsed(self.each)
        return isinstance(listed, exp.Array) and bool(listed.expressions)


@dataclass(frozen=True)
class Step:
    """What a row or a timer does: `set` says what becomes of fields, `emits` which rows there are after that; made by `step`."""

    set: Mapping[str, str] = field(default_factory=dict)
    emits: tuple[Emit, ...] = ()

    def texts(self) -> Iterator[tuple[str, str]]:
        """Its SQL texts, each with the place where it stands."""
        for place, text in self.set.items():
            yield f"set of {place}", text
        for one in self.emits:
            yield from ((f"emit of {name}", text) for name, text in one.columns.items())
            yield from ((f"emit({name}=...)", text) for name, text in (("when", one.when), ("each", one.each)) if text is not None)


@dataclass(frozen=True)
class Initial:
    """The state that keys have when a job begins; made by `initial`.

    Parameters
    ----------
    table
        The name of the table.
    at
        The column with the event time of the latest row of a key; None where no key is forgotten.
    """

    table: str
    at: str | None = None


def initial(table: str, *, at: str | None = None) -> Initial:
    """The state that keys have before the first batch: the rows of a table, one for each key, with the columns of the key and one for each field.

    Timers are not set. Further columns of the table are not looked at, and a row with a null in its key is of no key.

    Parameters
    ----------
    table
        The name of a [table.NAME] of the configuration.
    at
        Its column (TIMESTAMP) with the event time of the latest row of a key, from which `ttl` counts. Required, unless `ttl` is "never".

    Raises
    ------
    JobDefinitionError
        If a name is none.
    """
    for call, given in (("initial()", table), ("initial(at=...)", at)):
        if not (isinstance(given, str) and given.isidentifier()) and (call == "initial()" or given is not None):
            raise JobDefinitionError(
                f"{call} got {given!r}.",
                required="It takes the name of a [table.NAME], and of the column of it with the event time of the latest row.",
                remedy='For example: sp.initial("balances", at="booked_at").',
            )
    return Initial(table, at)


def list_of(of: str, *, at_most: int) -> Field:
    """A field that is a list, empty at first.

    Parameters
    ----------
    of
        The SQL type of an element: "double", "struct<at: timestamp, amount: double>".
    at_most
        How many elements it holds. Where a step makes it longer, the first ones leave by `.overflow("FIELD")`.

    Raises
    ------
    JobDefinitionError
        Without a type, or a bound of 1 to 100,000.
    """
    _require_text("list_of()", of)
    _require_bound("list_of", at_most)
    return Field(f"CAST(array() AS array<{of}>)", f"list of {of}, at most {at_most}", at_most)


def map_of(key: str, value: str, *, at_most: int) -> Field:
    """A field that is a map, empty at first; `set={"field[key]": "value"}` sets an entry, and removes it where the value is null.

    Parameters
    ----------
    key, value
        The SQL types of keys and values: "string", "bigint".
    at_most
        How many entries it holds. Where a step makes it larger, those that were set first leave by `.overflow("FIELD")`.

    Raises
    ------
    JobDefinitionError
        Without types, or a bound of 1 to 100,000.
    """
    _require_text("map_of()", key)
    _require_text("map_of()", value)
    _require_bound("map_of", at_most)
    return Field(f"CAST(map() AS map<{key}, {value}>)", f"map of {key} to {value}, at most {at_most}", at_most, is_map=True)


def emit(*columns: str, when: str | None = None, each: str | None = None, to: str | None = None) -> Emit:
    """Rows that a step gives.

    Parameters
    ----------
    columns
        As in SELECT: "card", "balance AS before_fee", "size(recent) AS payments". They see the state as the step has left it, and what it was
        before as `before.FIELD`.
    when
        A condition: there is a row only where it is true.
    each
        A list: there is a row for each element, which columns name `each`.
    to
        A name: the rows go to `stream.tagged(NAME)`, and not to the main output. Default: to the main output.

    Raises
    ------
    JobDefinitionError
        If there is no column, or one has no name.
    """
    if not columns:
        raise JobDefinitionError("emit() needs columns.", remedy='For example: sp.emit("card", "size(recent) AS payments").')
    named: dict[str, str] = {}
    for text in columns:
        _require_text("emit()", text)
        name, expression = _named(text)
        if name.lower() in map(str.lower, named):
            raise JobDefinitionError(f"emit() has two columns {name}.", remedy="Name one of them otherwise, with AS.")
        named[name] = expression
    for argument, given in (("when", when), ("each", each)):
        if given is not None:
            _require_text(f"emit({argument}=...)", given)
    if to is not None and (not isinstance(to, str) or not to.isidentifier()):
        raise JobDefinitionError(f"emit(to={to!r}) is no word.", required='A side output is called by one, such as "alerts".')
    return Emit(named, when, each, to)


def step(*, set: Mapping[str, str] | None = None, emit: Emit | Sequence[Emit] = ()) -> Step:  # noqa: A002
    """What a row does with the state of its key, or a timer when it is due.

    Parameters
    ----------
    set
        By field what it becomes, as SQL over the columns of the row (of a timer: those of the key, and `timer`, its instant) and over all
        fields as they were before. A timer is a field too: its instant, or null for none. `"seen[merchant]"` is an entry of a map,
        `"recent[]"` a new element at the end of a list.
    emit
        The rows that the step gives, an `sp.emit(...)` or several. Default: none, and the row is counted as absorbed.

    Raises
    ------
    JobDefinitionError
        If it neither sets nor gives anything, or a part is no text.
    """
    emits = (emit,) if isinstance(emit, Emit) else tuple(emit) if isinstance(emit, Sequence) and not isinstance(emit, str) else None
    if emits is None or not all(isinstance(one, Emit) for one in emits):
        raise JobDefinitionError(
            "step(emit=...) is no emission.", required="It takes sp.emit(...), or a list of these.", remedy=_IN_STEP
        )
    if set is not None and not isinstance(set, Mapping):
        raise JobDefinitionError(
            f"step(set=...) is a {type(set).__name__}.", required="It says what becomes of fields.", remedy=_IN_STEP
        )
    given = dict(set or {})
    for place, text in given.items():
        if not isinstance(place, str) or _PLACE.fullmatch(place) is None:
            raise JobDefinitionError(
                f"step(set=...): {place!r} is no field.", required='A field, "field[key]" for an entry of a map, or "field[]".'
            )
        _require_text(f"step(set=...): {place}", text)
    if not given and not emits:
        raise JobDefinitionError("step() does nothing.", required="It sets fields, gives rows, or both.", remedy=_IN_STEP)
    return Step(given, emits)


def place_of(place: str) -> tuple[str, str | None]:
    """The field that is set, and what stands in brackets: None without any, "" for a new element of a list."""
    found = _PLACE.fullmatch(place)
    assert found is not None, "step() has looked at it"
    return found[1], found[2]


def _named(text: str) -> tuple[str, str]:
    """An item of a SELECT as its name and its expression."""
    from sqlglot import exp

    found = parsed(text)
    alias = _alias_at(text)
    if isinstance(found, exp.Alias) and alias is not None:
        return str(found.alias), text[:alias].strip()
    if isinstance(found, exp.Column | exp.Dot) and found.name:
        return str(found.name), text.strip()
    raise JobDefinitionError(
        f'emit(): "{text}" has no name.',
        required="Each column of an output has one.",
        remedy=f'Write it at the end: "{text.strip()} AS name".',
    )


def _alias_at(text: str) -> int | None:
    """Where the AS stands that is in no brackets."""
    import sqlglot

    depth, found = 0, None
    for token in sqlglot.tokenize(text, read="spark"):
        kind = token.token_type.name
        depth += (kind in ("L_PAREN", "L_BRACKET")) - (kind in ("R_PAREN", "R_BRACKET"))
        if kind == "ALIAS" and depth == 0:
            found = int(token.start)
    return found


def parsed(text: str) -> Any:
    """A SQL expression as a tree; None where it cannot be read, which does not say that Spark cannot."""
    import logging

    import sqlglot

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        return sqlglot.parse_one(text, read="spark")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None


def _require_text(where: str, text: Any) -> None:
    if isinstance(text, str) and text.strip():
        return
    found = "empty" if isinstance(text, str) else "a Python function" if callable(text) else f"a {type(text).__name__}"
    raise JobDefinitionError(
        f"{where} is {found}.",
        required='State is declared in SQL, such as "total + amount": Spark compiles it, and a proof works it out once more.',
    )


def _require_bound(call: str, at_most: Any) -> None:
    if not isinstance(at_most, int) or isinstance(at_most, bool) or not 0 < at_most <= _MOST:
        raise JobDefinitionError(
            f"{call}(at_most={at_most!r}) is no bound.",
            required=f"State of a key has an end: 1 to {_MOST:,} elements.",
            remedy='What exceeds it leaves by .overflow("FIELD"), and is not lost.',
        )
