"""SQL expressions worked out in plain Python, as Spark works them out: what the twin of declared state needs.

Only the parser is anybody else's (sqlglot). What is not here raises `NotModelled`: a proof then cannot tell, and says of what. Instants are
microseconds UTC, and so are intervals of days and less; a struct and a map are dictionaries, a list is a tuple.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from sqlglot import exp

from streamproof.prove.oracle.instants import Instant
from streamproof.prove.oracle.sql import lists, names, numbers, truth
from streamproof.prove.oracle.sql.made import FUNCTIONS, MAKERS, SPECIAL, Env, NotModelled, Refused, Value, made, parsed

rank = truth.rank
_ROOMS = (names, numbers, truth, lists)
"""They add what they work out when they are imported."""


@cache
def value_of(text: str) -> Value:
    """An expression as a function of the values that it names.

    Raises
    ------
    NotModelled
        If a part of it is not among what is worked out here.
    """
    return made(parsed(text))


@cache
def names_in(text: str) -> tuple[str, ...]:
    """The names in an expression, dotted ones as they are written; not those of lambda arguments."""
    columns = (".".join(part.name for part in column.parts) for column in parsed(text).find_all(exp.Column))
    return tuple(dict.fromkeys(columns))


@cache
def typed_by(text: str) -> Callable[[Any], Any]:
    """Any value as one of the type of an expression, where that is a cast or a literal of a type; else as it is."""
    node = parsed(text)
    return numbers.cast(node.args["to"], fills=True) if isinstance(node, exp.Cast) else lambda value: value


def modelled() -> list[str]:
    """What is worked out here, by the parser's names and those of functions."""
    return sorted({kind.__name__ for kind in MAKERS} | set(FUNCTIONS) | set(SPECIAL))


__all__ = ["Env", "Instant", "NotModelled", "Refused", "Value", "modelled", "names_in", "rank", "typed_by", "value_of"]
