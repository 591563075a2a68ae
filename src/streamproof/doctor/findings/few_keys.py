"""A key with few values, or one value with most rows: a few tasks do all the work."""

import ast
from collections.abc import Iterator

from streamproof.config.columns import typed_columns_of
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.findings.no_watermark import GROUPING
from streamproof.doctor.findings.unbounded_state import called
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.state_sizes import StateSize, sizes_of
from streamproof.doctor.text.flows import flows_of
from streamproof.doctor.text.streams import surely_streams
from streamproof.doctor.text.syntax import name_of

ENOUGH_ROWS, FEW_PARTITIONS = 1_000, 4
"""With fewer rows, or partitions, an uneven state says nothing."""
_FULL, _MOST = 0.25, 0.6
_REMEDY = 'Group by a column more (by=("country", "card")), or let each task add up first: aggregate(..., spread=8). Fewer partitions save idle tasks.'


def _by_checkpoint(patient: Patient) -> Iterator[Symptom]:
    for checkpoint in patient.checkpoints:
        for size in sizes_of(checkpoint):
            what = _uneven(size)
            if what:
                rows = size.rows or ()
                yield Symptom(
                    Severity.WARN,
                    what,
                    Place(checkpoint.path),
                    _REMEDY,
                    f"operator {size.operator.number} ({size.operator.name or 'without a name'}): {sum(rows):,} rows, by partition "
                    f"{', '.join(f'{count:,}' for count in sorted(rows, reverse=True)[:8])}{', ...' if len(rows) > 8 else ''}",
                )


def _uneven(size: StateSize) -> str:
    """What is uneven in a state, in words; empty where nothing is, or the files do not say."""
    rows = size.rows or ()
    total = sum(rows)
    if total < ENOUGH_ROWS or len(rows) < FEW_PARTITIONS:
        return ""
    full = sum(1 for count in rows if count)
    if full <= _FULL * len(rows):
        return f"Only {full} of {len(rows)} partitions have state: the key has few values, and the other tasks do nothing."
    if max(rows) >= _MOST * total:
        return f"One of {len(rows)} partitions has {max(rows) / total:.0%} of the state: one value of the key has most rows."
    return ""


def _by_schema(patient: Patient) -> Iterator[Symptom]:
    for query in patient.steps:
        for keeping in query.keeping:
            types: dict[str, str] = {}
            for source in keeping.sources:
                types |= (
                    typed_columns_of(patient.bound.source[source].schema_ddl or "")
                    if patient.bound.source[source].schema_ddl
                    else {}
                )
            if keeping.by and all(types.get(column, "").lower() == "boolean" for column in keeping.by):
                yield Symptom(
                    Severity.WARN,
                    f"{keeping.call} of {query.query} groups by {', '.join(keeping.by)}, which is true or false: two tasks at most have work.",
                    called(patient, keeping.call),
                    _REMEDY,
                    f"{', '.join(keeping.by)} boolean in the schema",
                )


def _by_text(patient: Patient) -> Iterator[Symptom]:
    for program in patient.programs:
        for flow in flows_of(program):
            for call in flow.of(*GROUPING):
                keys = call.node.args
                if keys and surely_streams(program, call.on) and all(_has_few_values(one) for one in keys):
                    yield Symptom(
                        Severity.WARN,
                        "Rows are grouped by what has one value or two: as many tasks have work.",
                        program.place(call.node),
                        "Group by a column with many values first, and add these up in a second step.",
                        f"{call.name}({', '.join(map(program.said, keys))})",
                    )


def _has_few_values(node: ast.expr) -> bool:
    """Whether an expression is a constant or a comparison."""
    if isinstance(node, ast.Call) and name_of(node.func) == "alias" and isinstance(node.func, ast.Attribute):
        return _has_few_values(node.func.value)
    if isinstance(node, ast.Call):
        return name_of(node.func) in ("lit", "isNull", "isNotNull", "isin", "startswith")
    return isinstance(node, ast.Compare)


FEW_KEYS = Mistake(
    Code.FEW_KEYS,
    "a key with few values, or a hot one",
    "All rows of a key go to one task. Further machines do not help: the batch takes as long as its largest key.",
    (
        Way((Part.CHECKPOINT,), _by_checkpoint),
        Way((Part.CONFIGURATION, Part.STEPS, Part.TEXT), _by_schema),
        Way((Part.TEXT,), _by_text),
    ),
)
