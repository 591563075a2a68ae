"""What a job keeps in the memory of its process, as far as its text shows it: a crash takes it, and Spark's checkpoint does not bring it back."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streamproof.core.paths import display
from streamproof.prove.subjects.pyspark.reached import Reached, reached_code

IN_MEMORY = "state-in-a-python-dict"
"""The page below docs/incidents that tells of it."""
_CHANGES = frozenset(
    ["add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"],
)
"""Methods that change a dict, a list, a set or a deque."""


@dataclass(frozen=True)
class Kept:
    """A name outside a function that the function changes, and where."""

    name: str
    file: Path
    line: int

    def said(self) -> str:
        return (
            f"perhaps because {display(self.file)} line {self.line} keeps {self.name} in the memory of the process, which a crash takes: "
            "keep it in Spark's state, or where the batch is written"
        )


def kept_in_memory(file: Path, function: str = "") -> Kept | None:
    """The first such name in the code that the function, or the script, reaches; None where the text shows none."""
    return next((kept for reached in reached_code(file, function) for kept in _kept(reached)), None)


def _kept(reached: Reached) -> Iterator[Kept]:
    functions = [node for node in ast.walk(reached.node) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    bound_at_all = {name for node in ast.walk(reached.tree) for name in _bound(node)}
    for function in functions:
        outer = {name for node in _own(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        inner = {name for node in _own(function) for name in _bound(node)} | _parameters(function)
        for node in _own(function):
            name = _changed(node)
            if name in outer or (name in bound_at_all - inner and not isinstance(node, ast.Name)):
                yield Kept(name, reached.file, getattr(node, "lineno", 0))


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """What stands in a function, without the functions and classes in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting = [*ast.iter_child_nodes(node), *waiting]


def _bound(node: ast.AST) -> Iterator[str]:
    """The name that a node binds to a value."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return {parameter.arg for parameter in every}


def _changed(node: ast.AST) -> str:
    """The name of what a node changes: `x = ...`, `x[...] = ...`, `x.append(...)`; empty where it changes nothing."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del) and isinstance(node.value, ast.Name):
        return node.value.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
        return node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    return ""
