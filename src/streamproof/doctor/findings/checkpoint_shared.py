"""Two queries on one checkpoint."""

from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.alternatives import Both, both_run
from streamproof.doctor.text.checkpoints import Mention, mentioned


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        seen: dict[str, Mention] = {}
        for mention in mentioned(program):
            if not mention.is_whole or mention.text is None:
                continue
            first = seen.setdefault(mention.text.rstrip("/"), mention)
            both = both_run(program, first.node, mention.node) if first is not mention else Both.NEVER
            if both is not Both.NEVER:
                is_sure = both is Both.SURELY
                yield Symptom(
                    Severity.STOP if is_sure else Severity.WARN,
                    f"Two queries name the checkpoint {mention.text}."
                    if is_sure
                    else f"Two queries name the checkpoint {mention.text}, and the text does not say whether only one of them is started.",
                    program.place(mention.node),
                    "Each query has a checkpoint of its own.",
                    f"{program.place(first.node)} names it too",
                )


CHECKPOINT_SHARED = Mistake(
    Code.CHECKPOINT_SHARED,
    "two queries on one checkpoint",
    "Each query takes the other's offsets for its own: what one has read the other never reads, or the second does not start.",
    (Way((Part.TEXT,), _by_text),),
)
