"""The streams of a program: from each writer, and from what the job's function returns, back along the calls that made it."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from streamproof.doctor.text.functions import arguments_for, function_of, own_functions
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, argument, method_of, name_of

_STARTING = ("start", "toTable")
_SHOWS_A_STREAM = ("readStream", "writeStream", "withWatermark", "foreachBatch")
_MAKES_FRAMES = ("join", "union", "unionByName", "unionAll", "crossJoin")


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
        return self._said("format", 0, "source", "").lower()

    @property
    def mode(self) -> str:
        return self._said("outputMode", 0, "outputMode", "append").lower()

    def _said(self, name: str, place: int, keyword: str, default: str) -> str:
        """What a method is called with, or the call that starts the query; "" where the text does not say."""
        call = self.called(name)
        given = argument(call, place, keyword) if call is not None else None
        for start in _STARTING if call is None else ():
            call = self.called(start)
            given = given or (argument(call, 99, name) if call is not None else None)
        return default if given is None else self.program.constant(given) or ""

    @property
    def interval(self) -> ast.expr | None:
        """What stands for processingTime in its trigger."""
        call = self.called("trigger")
        return None if call is None else argument(call, 99, "processingTime")

    @property
    def each_batch(self) -> "Function | None":
        """The function that is given each batch, where it is in the file."""
        call = self.called("foreachBatch")
        given = argument(call, 0, "func") if call is not None else None
        return function_of(self.program, given) if given is not None else None


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


def has_streams(program: Program) -> bool:
    """Whether there is anything to look at: a reader, a writer, a watermark, or a function that returns a DataFrame."""
    return (
        any(isinstance(node, ast.Attribute) and node.attr in _SHOWS_A_STREAM for node in program.reached)
        or bool(flows_of(program))
        or any(_hands_back(program, function) for function in program.definitions.get(program.entry, []))
    )


def _hands_back(program: Program, function: ast.AST) -> bool:
    """Whether a function returns what it is given, as it is."""
    return isinstance(function, ast.FunctionDef) and any(
        isinstance(value, ast.Name) and value.id in _names(function)
        for returned in _returned(program, function)
        for value in _several(returned)
    )


def calls_behind(program: Program, node: ast.expr) -> Iterator[Call]:
    """The calls that have made a DataFrame, the first one first."""
    for one in _nodes_behind(program, node):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            yield Call(one.func.attr, one, one.func.value)


def is_stream(program: Program, node: ast.expr) -> bool:
    """Whether an expression is surely a stream: it comes from `readStream`, or has a watermark."""
    return any(call.name == "withWatermark" for call in calls_behind(program, node)) or any(
        isinstance(one, ast.Attribute) and one.attr == "readStream" for one in _nodes_behind(program, node)
    )


def readers_of(program: Program) -> Iterator[tuple[ast.Attribute, tuple[ast.Call, ...]]]:
    """Each `readStream` with what is called on it."""
    for node in program.reached:
        if isinstance(node, ast.Attribute) and node.attr == "readStream":
            yield node, tuple(_chain(program, node))


def _writer(program: Program, node: ast.Attribute) -> Writer:
    return Writer(node, tuple(_chain(program, node)), program)


def _chain(program: Program, node: ast.expr) -> Iterator[ast.Call]:
    """The calls on an expression, on what it is assigned to as well; each once."""
    waiting, seen = [node], set[ast.AST]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        top: ast.AST = one
        while True:
            above = program.parents.get(top)
            if isinstance(above, ast.Call) and above.func is top:
                yield above
            elif not isinstance(above, ast.Attribute):
                break
            top = above
            if method_of(top) in _STARTING:
                above = None  # a query is no writer any more
                break
        if isinstance(above, ast.Assign):
            waiting += reversed(_uses_of(program, above))


def _uses_of(program: Program, assignment: ast.Assign) -> list[ast.expr]:
    """Where what was assigned to a name is used below in the same function; what was assigned to `self.x`, in its class."""
    target = assignment.targets[0]
    if isinstance(target, ast.Attribute):
        kind = program.classes.class_of(target.value)
        return [
            use
            for use in (ast.walk(kind) if kind is not None else ())
            if isinstance(use, ast.Attribute) and isinstance(use.ctx, ast.Load) and ast.unparse(use) == ast.unparse(target)
        ]
    name = name_of(target)
    return [
        use
        for use in ast.walk(program.scope_of(assignment))
        if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load) and use.lineno > assignment.lineno
    ]


def _nodes_behind(program: Program, node: ast.expr) -> Iterator[ast.expr]:
    """The calls and attributes that an expression was made by, what they are called on first; each once."""
    seen, names = set[ast.expr](), dict[int, Sequence[ast.expr]]()
    waiting: list[tuple[ast.expr, bool]] = [(node, False)]
    while waiting:
        one, is_done = waiting.pop()
        if is_done:
            yield one
        elif one not in seen:
            seen.add(one)
            if isinstance(one, ast.Call | ast.Attribute):
                waiting.append((one, True))
            waiting += [(inner, False) for inner in reversed(_made_of(program, one))]
            for values in (arguments_for(program, one), program.values_of(one)):
                if id(values) not in names:  # else it is the same name again: all that it was assigned is there already
                    names[id(values)] = values
                    waiting += [(value, False) for value in reversed(values)]


def _made_of(program: Program, node: ast.expr) -> Sequence[ast.expr]:
    """The expressions that the rows of an expression come from at once, but those of its name."""
    if isinstance(node, ast.Attribute):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if not isinstance(node, ast.Call):
        return []
    function = node.func
    if not isinstance(function, ast.Attribute):
        return [*node.args, *_returned(program, function_of(program, function))]
    returned = [value for own in own_functions(program, node) for value in _returned(program, own)]
    if program.in_module(function):
        return [*node.args, *returned]
    found = [function.value, *returned]
    if function.attr in _MAKES_FRAMES and (other := argument(node, 0, "other")) is not None:
        found.append(other)
    if function.attr == "transform" and node.args:
        found += _returned(program, function_of(program, node.args[0]))
    return found


def _returned(program: Program, function: "Function | None") -> list[ast.expr]:
    """What a function of the file returns."""
    if function is None:
        return []
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None and program.scope_of(node) is function
    ]


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
