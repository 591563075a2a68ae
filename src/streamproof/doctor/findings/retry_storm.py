"""A retry storm: a call that fails is made again at once, for as long as it takes."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.services import calls_to_services
from streamproof.doctor.text.syntax import name_of

_PAUSES = ("sleep", "wait")


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for loop in program.reached:
            if not isinstance(loop, ast.While) or not isinstance(loop.test, ast.Constant) or not loop.test.value:
                continue
            if any(isinstance(node, ast.Call) and name_of(node.func) in _PAUSES for node in ast.walk(loop)):
                continue
            for tried in (node for node in loop.body if isinstance(node, ast.Try)):
                goes_on = [
                    handler
                    for handler in tried.handlers
                    if not any(isinstance(node, ast.Raise | ast.Break | ast.Return) for node in ast.walk(handler))
                ]
                call = next((call for node in tried.body for call in calls_to_services(program, node)), None)
                if goes_on and call is not None:
                    yield Symptom(
                        Severity.WARN,
                        "A call that fails is made again at once, and without an end.",
                        program.place(loop),
                        "Wait before each further try, twice as long each time and never the same, and give up after some: the job is started again.",
                        f"while True: {program.said(call)}, and no pause",
                    )


RETRY_STORM = Mistake(
    Code.RETRY_STORM,
    "a retry storm",
    "A service that has stumbled gets the most calls just then, from every task and every driver, and cannot get up again.",
    (Way((Part.TEXT,), _by_text),),
)
