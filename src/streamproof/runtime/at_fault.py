"""Which step of a query it was that raised an error, where that is certain; nobody is blamed where two could have been it."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from inspect import unwrap
from types import CodeType
from typing import Any

from streamproof.core.users_code import is_library
from streamproof.stream.node import Node
from streamproof.stream.operators.operator import Operator

Frame = tuple[str, int, str]
"""File, line, and function; a call of PySpark's that the user's code has made has none."""


def step_of(root: Node, frames: Sequence[Frame], sql: str) -> str:
    """What asked for the operator that an error is from, as errors call it; empty where none is, or more than one could be.

    Parameters
    ----------
    frames
        The lines of the user's code that the error has passed.
    sql
        The text of the expression that raised it.
    """
    with suppress(Exception):  # it is the user's code that is looked into, and only to say more of an error
        if sql:
            return _only([_called(operator, sql) for operator in root.operators if _says(operator, sql)])
        own = [frame for frame in frames if not is_library(frame[0])]
        found = [operator for operator in root.operators if _runs(operator, own)]
        if found or not own:
            return _only([operator.users_code for operator in found])
        # What was written outside of all functions that we are given can only be in columns that we are given.
        if not any(operator.functions for operator in root.operators):
            return _only([where for operator in root.operators for where in _with_columns(operator)])
    return ""


def _only(found: Sequence[str]) -> str:
    return found[0] if len(found) == 1 else ""


def _says(operator: Operator, sql: str) -> bool:
    """Whether a SQL text stands in what an operator was given."""
    return sql in repr(operator) or any(sql in _texts(code) for function in operator.functions for code in _codes_of(function))


def _called(operator: Operator, sql: str) -> str:
    exact = [
        mention.where
        for mention in operator.mentioned()
        if sql in [text.strip() for text in mention.columns if isinstance(text, str)]
    ]
    return exact[0] if exact else operator.users_code or getattr(operator, "call", "")


def _with_columns(operator: Operator) -> list[str]:
    """The parts of an operator that were given columns of PySpark's."""
    return [mention.where for mention in operator.mentioned() if any(not isinstance(column, str) for column in mention.columns)]


def _runs(operator: Operator, frames: Sequence[Frame]) -> bool:
    """Whether one of these lines stands in a function that an operator was given, or in one that this function names."""
    codes = [code for function in operator.functions for code in _codes_of(function)]
    return any(code.co_filename == file and line in _lines(code) for code in codes for file, line, _ in frames)


def _codes_of(function: Any) -> Iterator[CodeType]:
    """The code of a function, of those that are written in it, and of those that it names, such as a UDF of its module."""
    own = _function(function)
    code = getattr(own, "__code__", None) or getattr(type(own).__call__, "__code__", None)
    if not isinstance(code, CodeType):
        return
    inner = list(_nested(code))
    yield from inner
    known = {**getattr(own, "__globals__", {}), **_closed_over(own)}
    for name in {name for one in inner for name in (*one.co_names, *one.co_freevars)}:
        named = getattr(_function(known.get(name)), "__code__", None)
        if isinstance(named, CodeType) and not is_library(named.co_filename):
            yield from _nested(named)


def _function(given: Any) -> Any:
    """What is behind a partial, a decorator, or a UDF of PySpark's."""
    while isinstance(given, partial):
        given = given.func
    given = unwrap(given) if callable(given) else given
    return getattr(given, "func", given)


def _closed_over(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    found: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars if code is not None else (), cells, strict=False):
        with suppress(ValueError):  # an empty cell
            found[name] = cell.cell_contents
    return found


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _texts(code: CodeType) -> list[str]:
    return [constant.strip() for constant in code.co_consts if isinstance(constant, str)]


def _lines(code: CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line is not None}
