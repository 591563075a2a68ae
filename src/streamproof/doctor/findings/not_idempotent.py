"""A sink that is not idempotent: a batch that runs again is there twice."""

import ast
import re
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.flows import flows_of
from streamproof.doctor.text.given import BATCH, SINK, Given, calls_in, given_functions, methods_in
from streamproof.doctor.text.options import has_unknown_options, options_of
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import Function, argument, method_of

_AT_LEAST_ONCE = {
    "kafka": "Spark's Kafka sink writes at least once: a batch that runs again is in the topic twice.",
    "console": "The console is for trying out: a batch that runs again is printed again.",
    "memory": "The memory sink is for trying out: it keeps every row in the driver.",
}
_INSERTS = re.compile(r"\binsert\s+into\b", re.IGNORECASE)
_ONCE = re.compile(r"\bon\s+conflict\b|\bon\s+duplicate\b|\binsert\s+(?:or\s+)?ignore\b|\bmerge\b|\bnot\s+exists\b", re.IGNORECASE)
_ADDS = re.compile(r"\b(\w+)\s*=\s*(?:\w+\s*\.\s*)?\1\s*\+", re.IGNORECASE)
_TRANSACTION = "txnappid"
_MODES = {"mode": 0, "save": 2, "saveAsTable": 2, "parquet": 1, "json": 1, "csv": 1, "orc": 1, "jdbc": 2}
"""By the call the place of the argument that says whether it appends."""
_BY_BATCH = 'Overwrite a folder of the batch (mode("overwrite"), f"{path}/batch={batch}"), merge by a key, or with Delta the options txnAppId and txnVersion.'


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    for name, sink in patient.bound.sink.items():
        where = patient.key("sink", name)
        if sink.written_by_spark:
            yield Symptom(
                Severity.NOTE,
                f"The sink {name} writes at least once: a batch that runs again is there twice.",
                patient.key("sink", name, "guarantee"),
                "Take guarantee out: rows are then written in transactions.",
                'guarantee = "at-least-once"',
            )
        service = sink.service
        asks = getattr(sink, "lookup", None) is not None
        if service is not None and sink.is_one_effect_a_key and not service.can_be_exactly_once and not asks:
            yield Symptom(
                Severity.WARN,
                f"Calls of {name} are made again after a crash, and nothing says that the API takes one call once.",
                where,
                'idempotent = true, where the API honours the header Idempotency-Key; else lookup = "https://.../{key}", which says whether a call was done.',
                f"[sink.{name}] has neither idempotent = true nor lookup",
            )


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for given in given_functions(program):
            if given.kind == BATCH:
                yield from _of_batch(program, given)
            elif given.kind == SINK:
                yield from _of_sink(program, given)
        for flow in flows_of(program):
            writer = flow.writer
            if writer is None:
                continue
            said = _AT_LEAST_ONCE.get(writer.format)
            each = writer.called("foreach")
            if each is not None:
                said = "foreach() writes at least once: rows of a batch that runs again come again."
            if said is not None:
                yield Symptom(
                    Severity.NOTE,
                    said,
                    program.place(each or writer.called("format") or writer.node),
                    "Give each row a key by which readers take it once.",
                    "foreach()" if each is not None else f'format("{writer.format}")',
                )


def _of_batch(program: Program, given: Given) -> Iterator[Symptom]:
    function = given.function
    if _asks_for_batch(function, given.parameters(program)[1:2]):
        return
    calls = list(calls_in(function))
    said = {node.value.lower() for node in ast.walk(function) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    once = _TRANSACTION in said or _TRANSACTION in options_of(program, calls)
    for call in calls if not once else ():
        if _appends(program, call):
            is_unsure = has_unknown_options(program, calls)
            what = "foreachBatch appends: a batch that runs again after a crash is there twice"
            yield Symptom(
                Severity.WARN if is_unsure else Severity.STOP,
                f"{what}, unless the options that it is given name a transaction." if is_unsure else f"{what}.",
                program.place(call),
                _BY_BATCH,
                program.said(call).rpartition(".")[2] or program.said(call),
            )
    for node in ast.walk(function):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if _ADDS.search(text):
            yield Symptom(
                Severity.STOP,
                "foreachBatch adds to what is there: a batch that runs again is counted twice.",
                program.place(node),
                "Let Spark keep the sums (groupBy in the stream), and write what they are; or keep the number of the newest batch beside them.",
                " ".join(text.split())[:110],
            )
        elif _INSERTS.search(text) and not _ONCE.search(text):
            yield Symptom(
                Severity.WARN,
                "foreachBatch inserts rows, and nothing says what becomes of those that are there: a batch that runs again is there twice.",
                program.place(node),
                "INSERT ... ON CONFLICT (key) DO UPDATE, or MERGE; or keep the number of the newest batch in the same transaction.",
                " ".join(text.split())[:110],
            )


def _appends(program: Program, call: ast.Call) -> bool:
    """Whether a call writes rows beside those that are there."""
    name = method_of(call)
    if name == "insertInto":
        overwrites = argument(call, 1, "overwrite")
        return not _modes(call) if overwrites is None else program.constant(overwrites) == "false"
    if name == "append":
        return not call.args and "writeTo" in map(method_of, _before(call))
    mode = argument(call, _MODES[name], "saveMode" if name == "mode" else "mode") if name in _MODES else None
    return program.constant(mode) == "append"


def _modes(call: ast.Call) -> list[ast.Call]:
    """What says the mode before a call, which is judged by itself."""
    return [one for one in _before(call) if method_of(one) == "mode"]


def _before(call: ast.Call) -> Iterator[ast.Call]:
    """The calls in front of one, in one chain."""
    node = call.func
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Call):
            yield node
        node = node.value if isinstance(node, ast.Attribute) else node.func


def _asks_for_batch(function: Function, number: list[str]) -> bool:
    """Whether the number of the batch decides something there: such a function can know what it has written."""
    tests = [node.test for node in ast.walk(function) if isinstance(node, ast.If | ast.IfExp | ast.While)]
    tests += [node.subject for node in ast.walk(function) if isinstance(node, ast.Match)]
    return any(isinstance(one, ast.Name) and one.id in number for test in tests for one in ast.walk(test))


def _of_sink(program: Program, given: Given) -> Iterator[Symptom]:
    asks = methods_in(given.function, "published")
    for call in methods_in(given.function, "mode"):
        if not asks and call.args and program.constant(call.args[0]) == "append":
            yield Symptom(
                Severity.STOP,
                "The sink appends whatever batch comes, and never asks whether it is published: one that runs again is there twice.",
                program.place(call),
                "if self.published(manifest.batch) is not None: return. Then let rows and ledger entry become visible together.",
                "publish() does not call self.published()",
            )


NOT_IDEMPOTENT = Mistake(
    Code.NOT_IDEMPOTENT,
    "a sink that is not idempotent",
    "Spark runs a batch again when the process dies before its commit. Whoever writes must take the second time for the first, or rows and sums are doubled.",
    (Way((Part.CONFIGURATION,), _by_configuration), Way((Part.TEXT,), _by_text)),
)
