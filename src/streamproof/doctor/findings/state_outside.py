"""State outside the checkpoint: what was added up is in the driver's memory, or in a store that a replay adds to once more."""

import ast
import re
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.given import BATCH, SINK, Given, given_functions, methods_in
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, name_of, parameters_of

_ADDS = re.compile(r"h?z?incr(?:by)?(?:float)?|inc(?:rement)?")
_GROWS = ("append", "add", "extend", "update", "setdefault", "insert")
_REMEDY = (
    "Let Spark keep it: groupBy, deduplicate or keyed state of the stream, which is in the checkpoint together with the offsets."
)


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for given in given_functions(program):
            if given.kind == BATCH:
                yield from _in_memory(program, given.function)
            if given.kind == SINK:
                yield from _in_files(program, given)
            yield from _in_a_store(program, given.function)


def _in_memory(program: Program, function: Function) -> Iterator[Symptom]:
    seen = set[str]()
    for node, name in _changes(function):
        if name not in seen and name not in _own_names(function):
            seen.add(name)
            yield Symptom(
                Severity.STOP,
                f"foreachBatch keeps {name} from batch to batch in the driver's memory: a crash takes it, and a batch that runs again adds to it twice.",
                program.place(node),
                _REMEDY,
                program.said(node),
            )


def _changes(function: Function) -> Iterator[tuple[ast.AST, str]]:
    """What is changed in a function, and the name that it is changed by."""
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        for target in targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield node, target.value.id
            elif isinstance(target, ast.Name) and isinstance(node, ast.AugAssign) and target.id in _declared(function):
                yield node, target.id
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _GROWS
            and isinstance(node.func.value, ast.Name)
        ):
            yield node, node.func.value.id


def _declared(function: Function) -> set[str]:
    """The names of other scopes that a function says it assigns."""
    return {name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}


def _own_names(function: Function) -> set[str]:
    """The names that are a function's own: they begin anew with each batch."""
    bound = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return ({*parameters_of(function)} | bound) - _declared(function)


def _in_files(program: Program, given: Given) -> Iterator[Symptom]:
    read = {program.constant(call.args[0]) for call in methods_in(given.function, "read", "read_text") if call.args} - {None}
    for call in methods_in(given.function, "write", "write_text"):
        text = program.constant(call.args[0]) if call.args else None
        if text in read and text is not None and "_ledger" not in text:
            yield Symptom(
                Severity.STOP,
                "The sink reads a file of its own, adds to it and writes it: a batch that runs again after a crash is added twice.",
                program.place(call),
                _REMEDY,
                f"{name_of(call.func)}({text})",
            )


def _in_a_store(program: Program, function: Function) -> Iterator[Symptom]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _ADDS.fullmatch(node.func.attr):
            yield Symptom(
                Severity.STOP,
                "A function of the stream adds to what a store holds: a task or a batch that runs again adds once more.",
                program.place(node),
                f"{_REMEDY} Write to the store what the sum is.",
                program.said(node),
            )


STATE_OUTSIDE = Mistake(
    Code.STATE_OUTSIDE,
    "state outside the checkpoint",
    "Only what is in the checkpoint goes back together with the offsets. Everything else is ahead of them after a crash, or gone.",
    (Way((Part.TEXT,), _by_text),),
)
