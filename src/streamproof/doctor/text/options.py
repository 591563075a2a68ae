"""The options that calls give, in each of the forms that PySpark takes: `.option("a", 1)`, `.options(a=1)`, `.options(**{"a": 1})`, `.save(p, a=1)`."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import argument, method_of

_ONE = ("option", "config", "set")
"""Calls that take a name and a value."""
_TAKE_OPTIONS = ("options", "load", "save", "saveAsTable", "start", "toTable")
_MAPS = "map"
"""The argument of `config` that takes many at once."""


def given_options(program: Program, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The options of one call, as far as the text names them."""
    if method_of(call) in _ONE:
        name, value = program.constant(argument(call, 0, "key")), argument(call, 1, "value")
        if name is not None and value is not None:
            yield name, value
    for keyword in call.keywords:
        if keyword.arg is None or (keyword.arg == _MAPS and method_of(call) in _ONE):
            yield from _of_dict(program, keyword.value) or ()
        elif method_of(call) not in _ONE:
            yield keyword.arg, keyword.value


def options_of(program: Program, calls: Iterable[ast.Call]) -> Mapping[str, ast.expr]:
    """The options of several calls, by name in lower case."""
    return {name.lower(): value for call in calls for name, value in given_options(program, call)}


def has_unknown_options(program: Program, calls: Iterable[ast.Call]) -> bool:
    """Whether one of several calls gives options whose names are not in the text."""
    for call in calls:
        if method_of(call) == "option" and program.constant(argument(call, 0, "key")) is None:
            return True
        rest = [keyword.value for keyword in call.keywords if keyword.arg is None and method_of(call) in _TAKE_OPTIONS]
        if any(_of_dict(program, one) is None for one in rest):
            return True
    return False


def _of_dict(program: Program, node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """What a dict holds, `{"a": 1}` or `dict(a=1)`; None where the text does not say all of it."""
    for one in [node, *program.values_of(node)]:
        if isinstance(one, ast.Dict):
            found = [(program.constant(key), value) for key, value in zip(one.keys, one.values, strict=True)]
            return [(name, value) for name, value in found if name is not None]
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "dict" and not one.args:
            return [(keyword.arg, keyword.value) for keyword in one.keywords if keyword.arg is not None]
    return None
