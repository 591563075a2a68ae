"""A timer in the past: a timeout by event time is set without a look at the watermark."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.flows import flows_of
from streamproof.doctor.text.functions import function_of
from streamproof.doctor.text.syntax import argument, method_of

_SETS, _ASKS = "setTimeoutTimestamp", "getCurrentWatermarkMs"


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for call in (call for flow in flows_of(program) for call in flow.of("applyInPandasWithState")):
            given = argument(call.node, 0, "func")
            function = function_of(program, given) if given is not None else None
            inside = [node for node in ast.walk(function) if isinstance(node, ast.Call)] if function is not None else []
            sets = [one for one in inside if method_of(one) == _SETS]
            if sets and not any(method_of(one) == _ASKS for one in inside):
                yield Symptom(
                    Severity.STOP,
                    "A timeout is set, and nobody looks whether the watermark has passed it already: then Spark stops the query.",
                    program.place(sets[0]),
                    "Compare with state.getCurrentWatermarkMs() first; what is over then ends at once, without a timer.",
                    f"{program.said(sets[0])}, and no {_ASKS}()",
                )


TIMER_IN_THE_PAST = Mistake(
    Code.TIMER_IN_THE_PAST,
    "a timer in the past",
    "Events come out of order. One of them will set a timeout before the watermark; the query stops, and stops again at each restart.",
    (Way((Part.TEXT,), _by_text),),
)
