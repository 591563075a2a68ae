"""No watermark: what keeps state by time is never told that a time is over."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.flows import Call, calls_behind, flows_of
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import argument, name_of

WINDOWS = ("window", "session_window")
GROUPING = ("groupBy", "groupby")
_NEEDS_ONE = "dropDuplicatesWithinWatermark"
_BY_EVENT_TIME = ("eventtime", "eventtimetimeout")
_KEYED = {"transformWithState": 3, "transformWithStateInPandas": 3, "applyInPandasWithState": 4}
"""By the call the place of the argument that says by which time its timers go."""
_REMEDY = 'Write withWatermark("at", "1 minute") in front of it: streamproof lag SAMPLE measures which delay the data needs.'


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    for query in patient.steps:
        for keeping in query.keeping:
            for source in keeping.sources:
                if patient.bound.source[source].event_time is None:
                    yield Symptom(
                        Severity.STOP,
                        f"{keeping.call} of {query.query} keeps state, and the source {source} has no event time.",
                        patient.key("source", source),
                        f'Add event_time = {{ column = "...", lag = "..." }} to [source.{source}]; streamproof lag SAMPLE measures the lag.',
                        f"the job calls {keeping.call}, and [source.{source}] has no key event_time",
                    )


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for flow in flows_of(program):
            for call in flow.calls if flow.is_streaming else ():
                if not watermarks(program, call):
                    yield from _without(program, call)


def _without(program: Program, call: Call) -> Iterator[Symptom]:
    where, text = program.place(call.node), f"{call.name}(), and no withWatermark() before it"
    if call.name in GROUPING and is_by_window(program, call.node):
        what = "Rows are grouped by a window of time, and no watermark says when a window is over."
        yield Symptom(Severity.WARN, what, where, _REMEDY, text)
    elif call.name == _NEEDS_ONE:
        yield Symptom(Severity.STOP, f"{call.name}() needs a watermark: Spark does not start the query.", where, _REMEDY, text)
    elif call.name in _KEYED:
        mode = argument(call.node, _KEYED[call.name], "timeoutConf" if call.name == "applyInPandasWithState" else "timeMode")
        said = "" if mode is None else (program.constant(mode) or name_of(mode)).lower()
        if said in _BY_EVENT_TIME:
            what = f"{call.name}() goes by event time, and there is no watermark: Spark does not start the query."
            yield Symptom(Severity.STOP, what, where, _REMEDY, text)


def watermarks(program: Program, call: Call) -> list[Call]:
    """The watermarks on the way to a call."""
    return [one for one in calls_behind(program, call.on) if one.name == "withWatermark"]


def is_by_window(program: Program, call: ast.Call) -> bool:
    """Whether rows are grouped by a window of time, as far as the text says it."""
    return any(
        isinstance(node, ast.Call) and name_of(node.func) in WINDOWS for given in call.args for node in program.behind(given)
    )


NO_WATERMARK = Mistake(
    Code.NO_WATERMARK,
    "no watermark",
    "Without a watermark no window ends and nothing is forgotten: rows that wait for an end never come out, and the state grows until the job fails.",
    (Way((Part.CONFIGURATION, Part.STEPS), _by_configuration), Way((Part.TEXT,), _by_text)),
)
