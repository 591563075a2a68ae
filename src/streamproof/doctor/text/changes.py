"""What a function changes that outlives its call: names of other scopes, attributes of `self`, what they hold."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from streamproof.doctor.text.program import Program
from streamproof.doctor.text.services import METRICS, libraries_behind
from streamproof.doctor.text.syntax import Function, is_static, method_of, name_of, parameters_of

_GROWS = ("append", "add", "extend", "update", "setdefault", "insert")
_PUT_TOGETHER = ("union", "unionAll", "unionByName")
_CONTAINERS = ("dict", "list", "set", "bytearray", "defaultdict", "OrderedDict", "Counter", "deque", "ChainMap")
_DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
_NO_STATE = METRICS | {"delta", "logging", "os", "pyspark", "sys", "warnings"}
"""Libraries whose objects are no state of a job: metrics, tables, the process."""


class Made(Enum):
    """What is known of a thing that is changed."""

    MEMORY = "it is in the memory of this process"
    UNKNOWN = "the text does not say what it is"
    ELSEWHERE = "it is no state of the job"


@dataclass(frozen=True, eq=False)
class Change:
    """A change of what outlives a call: the statement or call, and the name that it is changed by, "self.total"."""

    node: ast.AST
    name: str
    made: Made


def changes_in(program: Program, function: Function) -> Iterator[Change]:
    """What a function changes that is not its own."""
    own, declared = _own_names(program, function), _declared(function)
    for node, target, is_number in _changed(function, declared):
        root = _root(target)
        if root is None or root.id in own:
            continue
        made = Made.MEMORY if is_number else _made(program, target)
        yield Change(node, ast.unparse(target), made)


def _changed(function: Function, declared: set[str]) -> Iterator[tuple[ast.AST, ast.expr, bool]]:
    """Changes with the expression that is changed, and whether it is a number that is added to."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Subscript):
                    yield node, _held(target), False
                elif (isinstance(target, ast.Attribute) or name_of(target) in declared) and _adds_to(node, target):
                    yield node, target, True
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
            yield node, _held(node.func.value), False


def _held(node: ast.expr) -> ast.expr:
    """`totals` of `totals["a"]["b"]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _adds_to(node: ast.Assign | ast.AugAssign, target: ast.expr) -> bool:
    """Whether what is assigned is made of what was there: `total += n`, `total = total + n`, `total = max(total, n)`, `rows = rows.union(more)`."""
    if isinstance(node, ast.AugAssign):
        return True
    value, name = node.value, ast.unparse(target)
    is_put_together = isinstance(value, ast.BinOp) or (
        isinstance(value, ast.Call) and (isinstance(value.func, ast.Name) or method_of(value) in _PUT_TOGETHER)
    )
    return is_put_together and any(
        isinstance(one, ast.Name | ast.Attribute) and ast.unparse(one) == name for one in ast.walk(value)
    )


def _root(node: ast.expr) -> ast.Name | None:
    """`self` of `self.job.total`; None for what does not begin with a name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _made(program: Program, node: ast.expr) -> Made:
    values = program.values_of(node)
    if any(_is_container(one) for one in values):
        return Made.MEMORY
    return Made.ELSEWHERE if libraries_behind(program, node) & _NO_STATE else Made.UNKNOWN


def _is_container(node: ast.expr) -> bool:
    return isinstance(node, _DISPLAYS) or (isinstance(node, ast.Call) and name_of(node.func) in _CONTAINERS)


def _declared(function: Function) -> set[str]:
    """The names of other scopes that a function says it assigns."""
    return {name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}


def _own_names(program: Program, function: Function) -> set[str]:
    """The names that are a function's own, they begin anew with each call; the object of a method is not, it outlives the call."""
    nodes = list(ast.walk(function))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {(node.asname or node.name).split(".")[0] for node in nodes if isinstance(node, ast.alias)}
    is_method = isinstance(program.parents.get(function), ast.ClassDef) and not is_static(function)
    return bound - _declared(function) - set(parameters_of(function)[:1] if is_method else [])
