"""State outside the checkpoint: what was added up is in the driver's memory, or in a store that a replay adds to once more."""

import ast
import re
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.changes import Made, changes_in
from streamproof.doctor.text.given import BATCH, SINK, Given, given_functions, methods_in, with_own
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.services import METRICS, STORES, libraries_behind
from streamproof.doctor.text.syntax import Function, name_of

_ADDS = re.compile(r"h?z?incr(?:by)?(?:float)?|inc(?:rement)?")
_ONLY_IN_STORES = re.compile(r"[hz]incr.*|incrby.*")
"""Verbs that a counter of a metrics library does not have."""
_REMEDY = (
    "Let Spark keep it: groupBy, deduplicate or keyed state of the stream, which is in the checkpoint together with the offsets."
)
_KEPT = "foreachBatch keeps {} from batch to batch in the driver's memory: a crash takes it, and a batch that runs again adds to it twice."
_PERHAPS_KEPT = (
    "foreachBatch changes {}, which outlives the batch, and the text does not say what it is. "
    "If it adds up what came, a crash takes it, or a batch that runs again adds to it twice."
)


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        seen = set[tuple[bool, Function]]()
        for given in given_functions(program):
            if given.kind == SINK:
                yield from _in_files(program, given)
            for function in with_own(program, given.function):
                if (given.kind == BATCH, function) in seen:
                    continue
                seen.add((given.kind == BATCH, function))
                if given.kind == BATCH:
                    yield from _in_memory(program, function)
                yield from _in_a_store(program, function)


def _in_memory(program: Program, function: Function) -> Iterator[Symptom]:
    seen = set[str]()
    for change in changes_in(program, function):
        if change.name in seen or change.made is Made.ELSEWHERE:
            continue
        seen.add(change.name)
        is_sure = change.made is Made.MEMORY
        yield Symptom(
            Severity.STOP if is_sure else Severity.WARN,
            (_KEPT if is_sure else _PERHAPS_KEPT).format(change.name),
            program.place(change.node),
            _REMEDY,
            program.said(change.node),
        )


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
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not _ADDS.fullmatch(node.func.attr):
            continue
        libraries = libraries_behind(program, node.func.value)
        is_sure = bool(libraries & STORES) or _ONLY_IN_STORES.fullmatch(node.func.attr) is not None
        if is_sure or not libraries & METRICS:
            yield Symptom(
                Severity.STOP if is_sure else Severity.WARN,
                "A function of the stream adds to what a store holds: a task or a batch that runs again adds once more."
                if is_sure
                else "A function of the stream adds to a number. If a store holds it, a task or a batch that runs again adds once more; a metric may.",
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
