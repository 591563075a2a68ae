"""The streams of a program: from each writer, and from what the job's function returns, back along the calls that made it."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from streamproof.doctor.text.program import Function, Program, argument, method_of, name_of

_STARTING = ("start", "toTable")
_MAKES_FRAMES = ("join", "union", "unionByName", "unionAll", "crossJoin")
_DEEP = 12


@dataclass(frozen=True, eq=False)
class Call:
    """A call on the way of a stream: the method, its arguments, and the expression that it is called on."""

    name: str
    node: ast.Call
    on: ast.expr


@dataclass(frozen=True, eq=False)
class Writer:
    """A `writeStream` with what is called on it: its format, options, trigger, function of a batch."""

    node: ast.Attribute
    calls: tuple[ast.Call, ...]
    program: Program

    def called(self, name: str) -> ast.Call | None:
        """The last call of a method; None where it is not called."""
        return next((call for call in self.calls[::-1] if method_of(call) == name), None)

    @property
    def format(self) -> str:
        """What it writes, as Spark names it; "" where the text does not say."""
        call = self.called("format")
        return (self.program.constant(call.args[0]) or "" if call is not None and call.args else "").lower()

    @property
    def mode(self) -> str:
        call = self.called("outputMode")
        return (self.program.constant(call.args[0]) or "" if call is not None and call.args else "append").lower()

    @property
    def interval(self) -> ast.expr | None:
        """What stands for processingTime in its trigger."""
        call = self.called("trigger")
        return None if call is None else argument(call, 99, "processingTime")

    @property
    def each_batch(self) -> "Function | None":
        """The function that is given each batch, where it is in the file."""
        call = self.called("foreachBatch")
        return function_of(self.program, call.args[0]) if call is not None and call.args else None


@dataclass(frozen=True, eq=False)
class Flow:
    """A stream: the calls that made it, and what writes it.

    Parameters
    ----------
    made_by
        The expression whose rows they are.
    writer
        None for a DataFrame that the job's function returns.
    """

    program: Program
    made_by: ast.expr
    writer: Writer | None

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls that made it, those of all streams that it is put together of."""
        return tuple(calls_behind(self.program, self.made_by))

    def of(self, *names: str) -> list[Call]:
        return [call for call in self.calls if call.name in names]

    @property
    def is_streaming(self) -> bool:
        """Whether it is known to come from a stream: a reader, a watermark or a parameter of the job's function."""
        return (
            self.writer is not None or is_stream(self.program, self.made_by) or bool(_parameters_behind(self.program, self.made_by))
        )


def flows_of(program: Program) -> list[Flow]:
    """The streams of a program that its entry reaches."""
    reached = set(program.reached)
    found = [
        Flow(program, node.value, _writer(program, node))
        for node in program.reached
        if isinstance(node, ast.Attribute) and node.attr == "writeStream"
    ]
    found.sort(key=lambda flow: flow.made_by.lineno)
    for function in program.definitions.get(program.entry, []):
        if not isinstance(function, ast.ClassDef):
            returned = [node for node in ast.walk(function) if isinstance(node, ast.Return) and program.scope_of(node) is function]
            values = [value for node in returned if node.value is not None for value in _several(node.value)]
            found += [Flow(program, value, None) for value in values if value in reached and _is_frame(program, value)]
    return found


def calls_behind(program: Program, node: ast.expr) -> Iterator[Call]:
    """The calls that have made a DataFrame, the first one first."""
    yield from _behind(program, node, set(), _DEEP)


def is_stream(program: Program, node: ast.expr) -> bool:
    """Whether an expression is surely a stream: it comes from `readStream`, or has a watermark."""
    return any(call.name == "withWatermark" for call in calls_behind(program, node)) or any(
        isinstance(one, ast.Attribute) and one.attr == "readStream" for one in _nodes_behind(program, node, set(), _DEEP)
    )


def function_of(program: Program, node: ast.expr) -> "Function | None":
    """The function that an expression names or is."""
    if isinstance(node, ast.Lambda):
        return node
    found = [one for one in program.definitions.get(name_of(node), []) if not isinstance(one, ast.ClassDef)]
    near = program.scope_of(node)
    return next((one for one in found if program.scope_of(one) is near), found[0] if found else None)


def readers_of(program: Program) -> Iterator[tuple[ast.Attribute, tuple[ast.Call, ...]]]:
    """Each `readStream` with what is called on it."""
    for node in program.reached:
        if isinstance(node, ast.Attribute) and node.attr == "readStream":
            yield node, tuple(_chain(program, node))


def options_of(program: Program, calls: tuple[ast.Call, ...]) -> Mapping[str, ast.expr]:
    """The options of a reader or a writer, by name in lower case."""
    found: dict[str, ast.expr] = {}
    for call in calls:
        if method_of(call) == "option" and len(call.args) == 2:
            name = program.constant(call.args[0])
            if name is not None:
                found[name.lower()] = call.args[1]
        else:
            found |= {keyword.arg.lower(): keyword.value for keyword in call.keywords if keyword.arg is not None}
            for given in [keyword.value for keyword in call.keywords if keyword.arg is None]:
                found |= _of_dict(program, given)
    return found


def _of_dict(program: Program, node: ast.expr) -> dict[str, ast.expr]:
    for one in [node, *(program.assigned(node.id, node) if isinstance(node, ast.Name) else [])]:
        if isinstance(one, ast.Dict):
            pairs = [(program.constant(key), value) for key, value in zip(one.keys, one.values, strict=True)]
            return {key.lower(): value for key, value in pairs if key is not None}
    return {}


def _writer(program: Program, node: ast.Attribute) -> Writer:
    return Writer(node, tuple(_chain(program, node)), program)


def _chain(program: Program, node: ast.expr) -> Iterator[ast.Call]:
    """The calls on an expression, on what it is assigned to as well."""
    top: ast.AST = node
    while True:
        above = program.parents.get(top)
        if isinstance(above, ast.Attribute):
            top = above
        elif isinstance(above, ast.Call) and above.func is top:
            yield above
            top = above
            if method_of(above) in _STARTING:
                return
        else:
            break
    above = program.parents.get(top)
    if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
        name, scope = above.targets[0].id, program.scope_of(above)
        for use in ast.walk(scope):
            if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load) and use.lineno > above.lineno:
                yield from _chain(program, use)


def _behind(program: Program, node: ast.expr, seen: set[ast.AST], deep: int) -> Iterator[Call]:
    for one in _nodes_behind(program, node, seen, deep):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            yield Call(one.func.attr, one, one.func.value)


def _nodes_behind(program: Program, node: ast.expr, seen: set[ast.AST], deep: int) -> Iterator[ast.expr]:
    """The calls and attributes that an expression was made by, what they are called on first."""
    if node in seen or not deep:
        return
    seen.add(node)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute):
            yield from _nodes_behind(program, function.value, seen, deep)
            if function.attr in _MAKES_FRAMES and node.args:
                yield from _nodes_behind(program, node.args[0], seen, deep - 1)
            if function.attr == "transform" and node.args:
                yield from _returned(program, function_of(program, node.args[0]), seen, deep)
        else:
            for given in node.args:
                yield from _nodes_behind(program, given, seen, deep - 1)
            yield from _returned(program, function_of(program, function), seen, deep)
        yield node
    elif isinstance(node, ast.Attribute):
        yield from _nodes_behind(program, node.value, seen, deep)
        yield node
    elif isinstance(node, ast.Name):
        for value in program.assigned(node.id, node):
            yield from _nodes_behind(program, value, seen, deep - 1)
    elif isinstance(node, ast.IfExp):
        for value in (node.body, node.orelse):
            yield from _nodes_behind(program, value, seen, deep - 1)


def _returned(program: Program, function: "Function | None", seen: set[ast.AST], deep: int) -> Iterator[ast.expr]:
    if function is None:
        return
    if isinstance(function, ast.Lambda):
        yield from _nodes_behind(program, function.body, seen, deep - 1)
        return
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None and program.scope_of(node) is function:
            yield from _nodes_behind(program, node.value, seen, deep - 1)


def _several(node: ast.expr) -> list[ast.expr]:
    """The values that a function returns: of a tuple, a list or a dict each."""
    if isinstance(node, ast.Tuple | ast.List):
        return list(node.elts)
    return list(node.values) if isinstance(node, ast.Dict) else [node]


def _is_frame(program: Program, node: ast.expr) -> bool:
    """Whether a returned value can be a DataFrame: a call, or what one was assigned to."""
    return isinstance(node, ast.Call) or (
        isinstance(node, ast.Name) and any(isinstance(one, ast.Call) for one in program.assigned(node.id, node))
    )


def _parameters_behind(program: Program, node: ast.expr) -> set[str]:
    """The parameters of the job's function that an expression comes from."""
    entry = {
        name
        for function in program.definitions.get(program.entry, [])
        if not isinstance(function, ast.ClassDef)
        for name in _names(function)
    }
    return {one.id for call in calls_behind(program, node) for one in ast.walk(call.on) if isinstance(one, ast.Name)} & entry


def _names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
