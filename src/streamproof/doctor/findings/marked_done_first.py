"""Marked as done first: the ledger entry is there before the rows are."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.given import SINK, calls_in, given_functions
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import method_of, name_of

_WRITES_ROWS = ("save", "saveAsTable", "insertInto", "parquet", "json", "executemany")
_HIDDEN = "rename"
"""A sink that renames makes both visible at once."""


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for given in given_functions(program):
            calls = list(calls_in(given.function)) if given.kind == SINK else []
            marks = [place for place, call in enumerate(calls) if _marks(program, call)]
            rows = [place for place, call in enumerate(calls) if method_of(call) in _WRITES_ROWS]
            if marks and rows and marks[0] < rows[0] and not any(method_of(call) == _HIDDEN for call in calls):
                yield Symptom(
                    Severity.STOP,
                    "The sink writes its ledger entry, then the rows: after a crash between the two nobody knows that they are missing.",
                    program.place(calls[marks[0]]),
                    "Write the rows first, and the entry when they are durable; or both where no reader looks, and rename.",
                    f"{method_of(calls[marks[0]])}(... _ledger.json ...) before {method_of(calls[rows[0]])}()",
                )


def _marks(program: Program, call: ast.Call) -> bool:
    """Whether a call writes the ledger entry."""
    return name_of(call.func) in ("create_atomic", "write") and any("_ledger" in (program.constant(one) or "") for one in call.args)


MARKED_DONE_FIRST = Mistake(
    Code.MARKED_DONE_FIRST,
    "marked as done before it is durable",
    "What is marked as done is not done again. If the process dies after the mark and before the rows, they are lost.",
    (Way((Part.TEXT,), _by_text),),
)
