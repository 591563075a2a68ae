"""From the parser's tree to functions: each kind of node has a maker, which its module adds here."""

import logging
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

Env = Mapping[str, Any]
"""Values by lower-case name."""
Value = Callable[[Env], Any]
Maker = Callable[[Any], Value]

MAKERS: dict[type, Maker] = {}
"""By kind of node what makes its value."""
FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions that are null where an argument is, by the names that the parser leaves to them."""
SPECIAL: dict[str, Callable[[str, list[Any]], Value]] = {}
"""Other such functions."""


class NotModelled(Exception):
    """The plain model has no such expression; the text says which."""


class Refused(Exception):
    """Spark stops the job there: a division by zero, a number that does not fit its type."""


def no(what: str) -> Any:
    raise NotModelled(f"the plain model does not work out {what}")


@cache
def parsed(text: str) -> Any:
    """The tree of an expression; NotModelled where it cannot be read."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        return sqlglot.parse_one(text, read="spark")
    except sqlglot.errors.SqlglotError as problem:
        raise NotModelled(f'"{text}" cannot be read') from problem


def made(node: Any) -> Value:
    """A node as a function of the values around it."""
    for kind in type(node).__mro__:
        if kind in MAKERS:
            return MAKERS[kind](node)
    if isinstance(node, exp.Anonymous):
        name = str(node.this).lower()
        if name in SPECIAL:
            return SPECIAL[name](name, list(node.expressions))
        if name in FUNCTIONS:
            return strict(FUNCTIONS[name], list(node.expressions))
        raise NotModelled(f"the plain model has no {name}()")
    raise NotModelled(f"the plain model does not work out {node.sql(dialect='spark')}")


def of_one(does: Callable[[Any], Any]) -> Callable[[Any], Value]:
    return lambda node: strict(does, [node.this])


def of_two(does: Callable[[Any, Any], Any]) -> Callable[[Any], Value]:
    return lambda node: strict(does, [node.this, node.args.get("expression") or node.args["key"]])


def strict(does: Callable[..., Any], given: list[Any]) -> Value:
    """A function that is null where one of its arguments is."""
    those = [made(one) for one in given]

    def value(env: Env) -> Any:
        found = [one(env) for one in those]
        return None if None in found else does(*found)

    return value
