"""A checkpoint that the job deletes when it starts."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.checkpoints import mentioned
from streamproof.doctor.text.syntax import name_of

_DELETES = ("rmtree", "delete", "rm", "rmdir", "delete_recursive", "unlink")


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        mentions = list(mentioned(program))
        kept = [mention.text for mention in mentions if mention.text]
        for call in program.calls:
            gone = program.constant(call.args[0]) if name_of(call.func) in _DELETES and call.args else None
            same = gone is None and name_of(call.func) in _DELETES and _is_given(call, [mention.given for mention in mentions])
            if same or (gone and any(one == gone or one.startswith(f"{gone.rstrip('/')}/") for one in kept)):
                yield Symptom(
                    Severity.STOP,
                    "The job deletes its checkpoint.",
                    program.place(call),
                    "Take it out. Where a job is to start over, give it a new checkpoint and new outputs.",
                    program.said(call),
                )


def _is_given(call: ast.Call, given: list[ast.expr]) -> bool:
    """Whether what is deleted is called as the checkpoint is."""
    return bool(call.args) and isinstance(call.args[0], ast.Name) and any(ast.dump(one) == ast.dump(call.args[0]) for one in given)


CHECKPOINT_DELETED = Mistake(
    Code.CHECKPOINT_DELETED,
    "a checkpoint that is deleted",
    "With the checkpoint go the offsets and all state. The next start reads everything again, into outputs that have it already.",
    (Way((Part.TEXT,), _by_text),),
)
