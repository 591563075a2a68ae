"""State that nothing ever frees: copies remembered for ever, keys without a time to live, joins without a bound."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.findings.no_watermark import GROUPING, WINDOWS, is_by_window, watermarks
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.flows import Call, Flow, flows_of
from streamproof.doctor.text.functions import function_of
from streamproof.doctor.text.streams import surely_streams
from streamproof.doctor.text.syntax import argument, method_of, name_of

_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ORDER_IN_SQL = re.compile(r"<|>|\bbetween\b", re.IGNORECASE)
_BOUNDS = ("between",)
_NO_TIMEOUT = ("notimeout", "none", "notime")
_OF_EVENTS = {"getMapState": 3, "getListState": 2}
"""State that gets larger with each event of a key; the place of the argument that says how long it lives."""
_OF_KEYS = {"getValueState": 2}
_FREES = ("clear", "removeKey", "remove")
_BY_TIME = (
    "withWatermark(), and dropDuplicatesWithinWatermark() in its place, or the event time among the columns of dropDuplicates()."
)


def _by_steps(patient: Patient) -> Iterator[Symptom]:
    for query in patient.steps:
        for keeping in query.keeping:
            if keeping.for_ever:
                yield Symptom(
                    Severity.NOTE,
                    f"{keeping.call} of {query.query} never forgets {keeping.for_ever}: its state grows with the number of these.",
                    called(patient, keeping.call),
                    'Where there are ever new ones, write how long each is needed: ttl="30 days".',
                    'ttl="never"',
                )


def called(patient: Patient, call: str) -> Place:
    """Where the job makes a call, else where it is defined."""
    method = call.partition("(")[0]
    program = patient.programs[0]
    found = [one for one in program.calls if method_of(one) == method]
    return program.place(found[0] if found else program.definitions[program.entry][0])


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for flow in flows_of(program):
            for call in flow.calls:
                judge = _JUDGES.get(call.name)
                if judge is not None:
                    yield from judge(flow, call)


def _deduplication(flow: Flow, call: Call) -> Iterator[Symptom]:
    program = flow.program
    if not surely_streams(program, call.on):
        return
    marks = watermarks(program, call)
    times = {text for one in marks if (text := program.constant(argument(one.node, 0, "eventTime"))) is not None}
    subset = argument(call.node, 0, "subset")
    keys = {text for one in _elements(subset) if (text := program.constant(one)) is not None} if subset is not None else set()
    if marks and (not keys or not times or times & keys):
        return
    why = "there is no watermark" if not marks else f"{', '.join(sorted(times))} is not among its columns"
    yield Symptom(
        Severity.WARN,
        f"{call.name}() remembers every row that it has ever seen, since {why}.",
        program.place(call.node),
        _BY_TIME,
        f"{call.name}({program.said(subset) if subset is not None else ''})",
    )


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else [node]


def _join(flow: Flow, call: Call) -> Iterator[Symptom]:
    program = flow.program
    other = argument(call.node, 0, "other")
    if other is None or not surely_streams(program, call.on) or not surely_streams(program, other):
        return
    condition = argument(call.node, 1, "on")
    if condition is not None and any(_orders(node) for node in program.behind(condition)):
        return
    if condition is not None and any(program.constant(one) in WINDOWS for one in _elements(condition)):
        return
    yield Symptom(
        Severity.WARN,
        "Two streams are joined, and the condition says nothing of time: each row is kept for ever, since its partner could still come.",
        program.place(call.node),
        "A watermark on both sides, and how far the times may be apart: F.expr('l.id = r.id AND paid BETWEEN clicked AND clicked + INTERVAL 5 MINUTES').",
        f"the condition is {program.said(condition)}" if condition is not None else "it has no condition",
    )


def _orders(node: ast.AST) -> bool:
    """Whether a part of a condition says what comes before what."""
    if isinstance(node, ast.Compare):
        return any(isinstance(one, _ORDER) for one in node.ops)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _ORDER_IN_SQL.search(node.value) is not None
    return method_of(node) in _BOUNDS


def _aggregation(flow: Flow, call: Call) -> Iterator[Symptom]:
    program = flow.program
    mode = flow.writer.mode if flow.writer is not None else ""
    if not surely_streams(program, call.on) or _is_keyed(flow):
        return
    if is_by_window(program, call.node):
        if mode == "complete" and watermarks(program, call):
            yield Symptom(
                Severity.WARN,
                "Windows are kept for ever in complete mode: the watermark frees none of them.",
                program.place(call.node),
                'outputMode("append") or outputMode("update").',
                'outputMode("complete")',
            )
    elif call.node.args:
        by = ", ".join(program.said(given) for given in call.node.args)
        yield Symptom(
            Severity.NOTE,
            f"A row for each {by} is kept for ever: the state grows with the number of these.",
            program.place(call.node),
            "Where there are ever new ones, group by a window of the event time too, with withWatermark().",
            f"{call.name}({by}) without a window",
        )


def _is_keyed(flow: Flow) -> bool:
    """Whether grouped rows go to a function with state of its own, which is judged by itself."""
    return bool(flow.of("transformWithState", "transformWithStateInPandas", "applyInPandasWithState"))


def _processor(flow: Flow, call: Call) -> Iterator[Symptom]:
    program = flow.program
    given = argument(call.node, 0, "statefulProcessor")
    kind = given.func if isinstance(given, ast.Call) else given
    classes = [one for one in program.defined(name_of(kind), kind) if isinstance(one, ast.ClassDef)] if kind is not None else []
    for found in classes:
        inside = [node for node in ast.walk(found) if isinstance(node, ast.Call)]
        if any(method_of(one) in _FREES for one in inside):
            continue
        for one in inside:
            place = {**_OF_EVENTS, **_OF_KEYS}.get(method_of(one))
            if place is None or argument(one, place, "ttlDurationMs") is not None:
                continue
            grows = method_of(one) in _OF_EVENTS
            what = "gets larger with the events of a key" if grows else "grows with the number of keys"
            yield Symptom(
                Severity.WARN if grows else Severity.NOTE,
                f"{found.name} keeps state without a time to live, and never removes any: it {what}, for ever.",
                program.place(one),
                "ttlDurationMs with time mode processingTime; or a timer that removes what is over.",
                program.said(one),
            )


def _groups(flow: Flow, call: Call) -> Iterator[Symptom]:
    program = flow.program
    timeout = argument(call.node, 4, "timeoutConf")
    said = "" if timeout is None else (program.constant(timeout) or name_of(timeout)).lower()
    given = argument(call.node, 0, "func")
    function = function_of(program, given) if given is not None else None
    removes = function is not None and any(method_of(node) == "remove" for node in ast.walk(function))
    if said in _NO_TIMEOUT and not removes:
        yield Symptom(
            Severity.NOTE,
            "The state of a group has no timeout, and is never removed: it grows with the number of groups.",
            program.place(call.node),
            'Where there are ever new ones, "EventTimeTimeout" or "ProcessingTimeTimeout", and state.remove() when it has timed out.',
            f'{call.name}(..., "NoTimeout")',
        )


_JUDGES: Mapping[str, Callable[[Flow, Call], Iterator[Symptom]]] = {
    "dropDuplicates": _deduplication,
    "drop_duplicates": _deduplication,
    "distinct": _deduplication,
    "join": _join,
    **dict.fromkeys(GROUPING, _aggregation),
    "transformWithState": _processor,
    "transformWithStateInPandas": _processor,
    "applyInPandasWithState": _groups,
}

STATEFUL = (*_JUDGES, "dropDuplicatesWithinWatermark")
"""The calls that keep state."""

UNBOUNDED_STATE = Mistake(
    Code.UNBOUNDED_STATE,
    "unbounded state",
    "State that is never freed grows with every event or every key. Batches get slower for weeks, then an executor runs out of disk or memory, "
    "and each restart ends there.",
    (Way((Part.STEPS, Part.TEXT), _by_steps), Way((Part.TEXT,), _by_text)),
)
