"""Look-ups that block: a service is called for each row, and the batch waits for each answer."""

from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.given import BATCH, ROW, ROWS, SINK, given_functions
from streamproof.doctor.text.services import bodies_of_loops, calls_to_services, loops_over_rows

_WHERE = {
    ROW: lambda function: [function],
    ROWS: lambda function: bodies_of_loops(function, 2),
    BATCH: loops_over_rows,
    SINK: loops_over_rows,
}
_SAID = {
    ROW: "A function that gets each row calls a service.",
    ROWS: "A service is called for each row of a task.",
    BATCH: "The driver calls a service for each row of a batch, one after the other.",
    SINK: "The sink calls a service for each row of a batch, one after the other, on the driver.",
}


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for given in given_functions(program):
            calls = (call for part in _WHERE[given.kind](given.function) for call in calls_to_services(program, part))
            first = next(calls, None)
            if first is not None:
                yield Symptom(
                    Severity.NOTE if given.kind == SINK else Severity.WARN,
                    _SAID[given.kind],
                    program.place(first),
                    "Look rows up in a table (lookup(), or a join with a DataFrame); or send many keys with each call, and several calls at a time.",
                    program.said(first),
                )


BLOCKING_LOOKUP = Mistake(
    Code.BLOCKING_LOOKUP,
    "a look-up that blocks",
    "With 5 ms an answer a task does 200 rows a second, whatever the machine. When the service gets slow the job falls behind; a batch that "
    "runs again calls it once more for every row.",
    (Way((Part.TEXT,), _by_text),),
)
