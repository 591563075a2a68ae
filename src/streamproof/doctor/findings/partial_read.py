"""A partial read: a batch is cut before it is written."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.given import BATCH, SINK, given_functions, methods_in
from streamproof.doctor.text.program import Program

_CUTS = ("limit", "head", "take", "tail")
_ONE = "1"
"""Whether there is a row at all is asked so."""


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for given in given_functions(program):
            if given.kind not in (BATCH, SINK):
                continue
            for call in methods_in(given.function, *_CUTS):
                most = program.constant(call.args[0]) if call.args else None
                if most != _ONE and call.args and not _is_shown(program, call):
                    yield Symptom(
                        Severity.STOP,
                        f"Of a batch only the first {most or ''} rows are read; the others are committed all the same, and gone.".replace(
                            "  ", " "
                        ),
                        program.place(call),
                        "Write all rows. To have smaller batches, limit what one reads: files_per_batch, maxFilesPerTrigger, maxOffsetsPerTrigger.",
                        program.said(call),
                    )


def _is_shown(program: Program, call: ast.Call) -> bool:
    """Whether the rows are only printed."""
    above = program.parents.get(call)
    return isinstance(above, ast.Attribute) and above.attr == "show"


PARTIAL_READ = Mistake(
    Code.PARTIAL_READ,
    "a partial read",
    "Spark takes a batch for done when the function returns. Rows that it has not read are lost, and it shows only when a batch is larger than usual.",
    (Way((Part.TEXT,), _by_text),),
)
