"""Which function of the file a name, a method or a call means."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, argument, is_static, method_of, name_of, parameters_of


def function_of(program: Program, node: ast.expr) -> Function | None:
    """The function that an expression names, is, or makes: `save`, `self.save`, `lambda rows, n: save(rows, n)`, `partial(save, x)`, `saver("/out")`."""
    if isinstance(node, ast.Lambda):
        return _handed_on(program, node) or node
    if isinstance(node, ast.Call):
        return _made_by(program, node)
    method = program.classes.method(node)
    if method is not None:
        return method
    found = [one for one in program.in_module(node) or program.defined(name_of(node), node) if not isinstance(one, ast.ClassDef)]
    near = program.scope_of(node)
    return next((one for one in found if program.scope_of(one) is near), found[0] if found else None)


def own_functions(program: Program, call: ast.Call) -> Iterator[Function]:
    """The functions of the file that a call can mean: by its name, of a module, or of an object of a class of the file."""
    if isinstance(call.func, ast.Attribute):
        method = program.classes.method(call.func)
        if method is not None:
            yield method
        yield from (one for one in program.in_module(call.func) if not isinstance(one, ast.ClassDef))
    elif isinstance(call.func, ast.Name):
        yield from (one for one in program.defined(call.func.id, call) if not isinstance(one, ast.ClassDef))


def _handed_on(program: Program, node: ast.Lambda) -> Function | None:
    """What a lambda calls, where it does nothing else."""
    given = [one.arg for one in node.args.args]
    if isinstance(node.body, ast.Call) and [name_of(one) for one in node.body.args] == given:
        return next(own_functions(program, node.body), None)
    return None


def _made_by(program: Program, node: ast.Call) -> Function | None:
    """The function that a call of `partial`, or of a function of the file, gives."""
    if name_of(node.func) == "partial" and node.args:
        return function_of(program, node.args[0])
    for maker in own_functions(program, node):
        inside = [one for one in ast.walk(maker) if isinstance(one, Function) and one is not maker]
        for returned in ast.walk(maker):
            value = returned.value if isinstance(returned, ast.Return) and program.scope_of(returned) is maker else None
            for one in inside:
                if value is one or (isinstance(value, ast.Name) and not isinstance(one, ast.Lambda) and value.id == one.name):
                    return one
    return None


def arguments_for(program: Program, node: ast.expr) -> Sequence[ast.expr]:
    """What the calls of a function give for the parameter that a name reads; the same object for every node that means the same."""
    if not isinstance(node, ast.Name):
        return ()
    function: ast.AST = program.scope_of(node)
    while isinstance(function, Function):
        if node.id in parameters_of(function):
            return _arguments(program, function, node.id)
        function = program.scope_of(function)
    return ()


@lru_cache(maxsize=4096)
def _arguments(program: Program, function: Function, name: str) -> Sequence[ast.expr]:
    is_method = isinstance(program.parents.get(function), ast.ClassDef) and not is_static(function)
    place = parameters_of(function).index(name) - is_method
    if place < 0:  # the object of a method
        return ()
    given = [
        rows if rows is not None and place == 0 else argument(call, place, name)
        for call, rows in _calls_of(program).get(function, [])
    ]
    return [one for one in given if one is not None]


@lru_cache(maxsize=16)
def _calls_of(program: Program) -> Mapping[Function, Sequence[tuple[ast.Call, ast.expr | None]]]:
    """By function the calls that reach it; of `rows.transform(function)` the rows too, which come before the other arguments."""
    found: dict[Function, list[tuple[ast.Call, ast.expr | None]]] = {}
    for call in program.calls:
        for one in own_functions(program, call):
            found.setdefault(one, []).append((call, None))
        kind = program.classes.class_of(call)
        makes = program.classes.method_named(kind, "__init__") if kind is not None else None
        if makes is not None:
            found.setdefault(makes, []).append((call, None))
        if method_of(call) == "transform" and call.args and isinstance(call.func, ast.Attribute):
            step = function_of(program, call.args[0])
            if step is not None:
                found.setdefault(step, []).append((call, call.func.value))
    return found
