"""Which function of the file a name, a method or a call means."""

import ast
from collections.abc import Iterator

from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, name_of


def function_of(program: Program, node: ast.expr) -> Function | None:
    """The function that an expression names, is, or makes: `save`, `self.save`, `lambda rows, n: save(rows, n)`, `partial(save, x)`, `saver("/out")`."""
    if isinstance(node, ast.Lambda):
        return _handed_on(program, node) or node
    if isinstance(node, ast.Call):
        return _made_by(program, node)
    method = program.classes.method(node)
    if method is not None:
        return method
    found = [one for one in program.definitions.get(name_of(node), []) if not isinstance(one, ast.ClassDef)]
    near = program.scope_of(node)
    return next((one for one in found if program.scope_of(one) is near), found[0] if found else None)


def own_functions(program: Program, call: ast.Call) -> Iterator[Function]:
    """The functions of the file that a call can mean: by its name, or of an object of a class of the file."""
    if isinstance(call.func, ast.Attribute):
        method = program.classes.method(call.func)
        if method is not None:
            yield method
    elif isinstance(call.func, ast.Name):
        yield from (one for one in program.definitions.get(call.func.id, []) if not isinstance(one, ast.ClassDef))


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
