"""Two queries on one checkpoint."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.checkpoints import Mention, mentioned
from streamproof.doctor.text.program import Program


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        seen: dict[str, Mention] = {}
        for mention in mentioned(program):
            if not mention.is_whole or mention.text is None:
                continue
            first = seen.setdefault(mention.text.rstrip("/"), mention)
            if first is not mention and not _are_alternatives(program, first.node, mention.node):
                yield Symptom(
                    Severity.STOP,
                    f"Two queries name the checkpoint {mention.text}.",
                    program.place(mention.node),
                    "Each query has a checkpoint of its own.",
                    f"line {first.node.lineno} names it too",
                )


def _are_alternatives(program: Program, one: ast.AST, other: ast.AST) -> bool:
    """Whether only one of two places is ever run: they stand in two branches of one condition."""
    ways = [_branches(program, node) for node in (one, other)]
    return any(first == second and branch != against for first, branch in ways[0] for second, against in ways[1])


def _branches(program: Program, node: ast.AST) -> list[tuple[ast.AST, str]]:
    """The conditions around a place, each with the branch that it stands in."""
    found: list[tuple[ast.AST, str]] = []
    while (above := program.parents.get(node)) is not None:
        if isinstance(above, ast.If):
            found.append((above, "body" if node in above.body else "orelse"))
        node = above
    return found


CHECKPOINT_SHARED = Mistake(
    Code.CHECKPOINT_SHARED,
    "two queries on one checkpoint",
    "Each query takes the other's offsets for its own: what one has read the other never reads, or the second does not start.",
    (Way((Part.TEXT,), _by_text),),
)
