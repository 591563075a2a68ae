"""A checkpoint whose path is another at each start, or does not outlive the machine."""

import ast
import re
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.checkpoints import Mention, mentioned
from streamproof.doctor.text.program import Program

_CHANGES = re.compile(
    r"(?:uuid|random|secrets|tempfile)\..+|(?:.*\.)?(?:uuid[14]|mkdtemp|TemporaryDirectory|getpid|token_hex|time_ns)"
    r"|time\.(?:time|strftime|monotonic)|(?:.*\.)?(?:datetime|date)\.(?:now|utcnow|today)"
)
_TEMPORARY = re.compile(r"(?:file:/*)?/?(?:var/)?tmp(?:/|$)|(?:file:)?/+(?:var/)?tmp(?:/|$)|/dev/shm(?:/|$)")
_TEMPORARY_WHAT = "The checkpoint lies in a folder that the system empties: after a restart of the machine the job begins anew, or from the newest record."
_REMEDY = "One path for the life of the job, on storage that outlives the machine; another only where it is to start over."


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for mention in mentioned(program):
            drawn = _drawn(program, mention)
            if drawn is not None:
                yield Symptom(
                    Severity.STOP,
                    "The path of the checkpoint is another at each start.",
                    program.place(mention.node),
                    _REMEDY,
                    f"{program.said(drawn)} in {program.said(mention.given)}",
                )
            elif mention.text is not None and _TEMPORARY.match(mention.text):
                yield Symptom(Severity.WARN, _TEMPORARY_WHAT, program.place(mention.node), _REMEDY, mention.text)


def _drawn(program: Program, mention: Mention) -> ast.Call | None:
    """The call by which the path changes; None where there is none."""
    return next(
        (
            node
            for node in program.behind(mention.given)
            if isinstance(node, ast.Call) and _CHANGES.fullmatch(program.full_name(node.func))
        ),
        None,
    )


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    path = patient.bound.checkpoint
    if _TEMPORARY.match(path) and path.startswith(("/", "file:")):
        yield Symptom(Severity.WARN, _TEMPORARY_WHAT, patient.key("job", "checkpoint"), _REMEDY, path)


CHECKPOINT_CHANGES = Mistake(
    Code.CHECKPOINT_CHANGES,
    "a checkpoint that changes",
    "The offsets and the state are in the checkpoint. A start that does not find them reads everything again, or skips what came meanwhile.",
    (Way((Part.TEXT,), _by_text), Way((Part.CONFIGURATION,), _by_configuration)),
)
