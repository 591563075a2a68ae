"""No checkpoint: the query names none."""

import ast
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.checkpoints import mentioned
from streamproof.doctor.text.flows import Writer, flows_of
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import method_of, parameters_of

_STARTS = ("start", "toTable")
_FOR_TRYING_OUT = frozenset({"console", "memory", "noop"})


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        if next(mentioned(program), None) is not None:
            continue
        for flow in flows_of(program):
            writer = flow.writer
            if writer is None or writer.format in _FOR_TRYING_OUT or _has_unknown_options(program, writer):
                continue
            starts = [call for call in writer.calls if method_of(call) in _STARTS]
            if starts:
                yield Symptom(
                    Severity.WARN,
                    "The query names no checkpoint: Spark takes a folder of its own, which the next start does not find.",
                    program.place(starts[0]),
                    '.option("checkpointLocation", "..."), or the setting spark.sql.streaming.checkpointLocation where spark-submit gives it.',
                    "nothing in the text names a checkpointLocation",
                )


def _has_unknown_options(program: Program, writer: Writer) -> bool:
    """Whether the job's own function is given options that are not in the text."""
    for call in writer.calls:
        for keyword in call.keywords:
            scope = program.scope_of(call)
            if keyword.arg is None and isinstance(scope, ast.FunctionDef) and scope.name == program.entry:
                given = scope.args.kwarg.arg if scope.args.kwarg is not None else ""
                if isinstance(keyword.value, ast.Name) and keyword.value.id in (*parameters_of(scope), given):
                    return True
    return False


CHECKPOINT_MISSING = Mistake(
    Code.CHECKPOINT_MISSING,
    "no checkpoint",
    "Without a checkpoint each start begins anew: everything that the source still has is there twice, or what came meanwhile is missing.",
    (Way((Part.TEXT,), _by_text),),
)
