"""The functions of a program that Spark calls: for a row, for rows, for a batch."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from streamproof.doctor.text.functions import function_of, own_functions
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, argument, is_static, method_of, name_of, parameters_of

ROW, ROWS, BATCH, SINK = "row", "rows", "batch", "sink"
"""What such a function gets: a row; batches of rows, one after another; a DataFrame; staged rows, of a sink class of ours."""
_TAKERS = {
    "udf": ROW,
    "foreach": ROW,
    "mapInPandas": ROWS,
    "mapInArrow": ROWS,
    "mapPartitions": ROWS,
    "foreachPartition": ROWS,
    "foreachBatch": BATCH,
}
_DECORATORS = {"udf": ROW}
_OF_A_SINK = "publish"


@dataclass(frozen=True, eq=False)
class Given:
    """A function that Spark, or the sink of an output, is called with."""

    kind: str
    function: Function

    def parameters(self, program: Program) -> list[str]:
        """What it is called with, without the object of a method."""
        is_method = isinstance(program.parents.get(self.function), ast.ClassDef) and not is_static(self.function)
        return parameters_of(self.function)[1 if is_method else 0 :]


def given_functions(program: Program) -> Iterator[Given]:
    """The functions that the entry gives to Spark, each once for what it gets."""
    seen: set[tuple[str, ast.AST]] = set()
    for kind, function in _all(program):
        if (kind, function) not in seen:
            seen.add((kind, function))
            yield Given(kind, function)


def _all(program: Program) -> Iterator[tuple[str, Function]]:
    for call in program.calls:
        kind = _TAKERS.get(name_of(call.func))
        taken = argument(call, 0, "func") if kind is not None else None
        if kind is not None and taken is not None:
            function = function_of(program, taken)
            if function is not None:
                yield kind, function
            elif kind == ROW:
                yield from ((kind, one) for one in _process_of(program, taken))
    for node in program.reached:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                kind = _DECORATORS.get(name_of(decorator.func if isinstance(decorator, ast.Call) else decorator))
                if kind is not None:
                    yield kind, node
            if node.name == _OF_A_SINK and isinstance(program.parents.get(node), ast.ClassDef):
                yield SINK, node


def _process_of(program: Program, node: ast.expr) -> Iterator[Function]:
    """The method `process` of a writer that gets each row: `foreach(Writer())`."""
    name = name_of(node.func) if isinstance(node, ast.Call) else name_of(node)
    for kind in program.defined(name, node):
        yield from (
            one
            for one in kind.body
            if isinstance(one, ast.FunctionDef) and one.name == "process" and isinstance(kind, ast.ClassDef)
        )


def with_own(program: Program, function: Function) -> Iterator[Function]:
    """A function, and those of the file that it calls, each once; a function inside of another is a part of that one."""
    waiting, seen = [function], set[ast.AST]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        inside = set(ast.walk(one))
        seen |= inside
        yield one
        for node in inside:
            if isinstance(node, ast.Call):
                waiting += own_functions(program, node)


def calls_in(function: Function) -> Iterator[ast.Call]:
    """The calls in a function, in the order of the text."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    yield from sorted(found, key=lambda call: (call.func.end_lineno or 0, call.func.end_col_offset or 0))


def methods_in(function: Function, *names: str) -> list[ast.Call]:
    return [call for call in calls_in(function) if method_of(call) in names]
