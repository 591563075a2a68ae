"""A partial read: a batch is cut before it is written."""

from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.given import BATCH, SINK, given_functions
from streamproof.doctor.text.parts import Use, all_go_on, cuts_in, use_of
from streamproof.doctor.text.syntax import argument


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for given in given_functions(program):
            if given.kind not in (BATCH, SINK):
                continue
            rows = given.parameters(program)[:1] if given.kind == BATCH else []
            for call in cuts_in(program, given.function):
                use, all_written = use_of(program, call), all_go_on(program, given.function, "".join(rows))
                if use is Use.LOOKED_AT or (all_written and use is not Use.WRITTEN):
                    continue
                most = program.constant(argument(call, 0, "num") or argument(call, 0, "n"))
                first = f"the first {most} rows" if most is not None else "the first rows"
                yield Symptom(
                    Severity.WARN if all_written else Severity.STOP,
                    f"Of a batch only {first} go to one output, and all of them to another; the others are committed all the same."
                    if all_written
                    else f"Of a batch only {first} are read; the others are committed all the same, and gone.",
                    program.place(call),
                    "Write all rows. To have smaller batches, limit what one reads: files_per_batch, maxFilesPerTrigger, maxOffsetsPerTrigger.",
                    program.said(call),
                )


PARTIAL_READ = Mistake(
    Code.PARTIAL_READ,
    "a partial read",
    "Spark takes a batch for done when the function returns. Rows that it has not read are lost, and it shows only when a batch is larger than usual.",
    (Way((Part.TEXT,), _by_text),),
)
