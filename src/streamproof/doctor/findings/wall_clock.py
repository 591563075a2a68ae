"""The wall clock: when a row is processed stands for when it happened."""

import ast
import re
from collections.abc import Iterator

from streamproof.doctor.finding import Code, Severity, Symptom
from streamproof.doctor.findings.no_watermark import WINDOWS
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import argument, method_of, name_of

_CLOCKS = ("current_timestamp", "now", "current_date", "localtimestamp", "unix_timestamp")
_IN_SQL = re.compile(r"\b(?:current_timestamp|current_date|localtimestamp)\b|\bnow\s*\(\s*\)", re.IGNORECASE)
_CHOOSES = ("filter", "where")
_STAMPS = ("withColumn", "withColumns")
_REMEDY = "Take the time of the event, and let the watermark say what is late."


def _by_text(patient: Patient) -> Iterator[Symptom]:
    times = (
        {source.event_time.column for source in patient.config.source.values() if source.event_time} if patient.config else set()
    )
    for program in patient.programs:
        used = times | _used_as_time(program)
        for call in program.calls:
            name = method_of(call)
            chosen, column, value = argument(call, 0, "condition"), argument(call, 0, "colName"), argument(call, 1, "col")
            if name in _CHOOSES and chosen is not None and _is_clock(program, chosen):
                what = "The wall clock decides which rows go on: a batch that runs again decides otherwise."
                yield Symptom(Severity.WARN, what, program.place(call), _REMEDY, f"{name}({program.said(chosen)})")
            elif name in _STAMPS and column is not None and value is not None and _is_clock(program, value):
                stamped = program.constant(column)
                if stamped in used:
                    what = f"{stamped} is when a row is processed, and the event time goes by it: a row counts for another window each time."
                    yield Symptom(
                        Severity.WARN, what, program.place(call), _REMEDY, f"{name}({program.said(column)}, {program.said(value)})"
                    )


def _is_clock(program: Program, node: ast.expr) -> bool:
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and name_of(one.func) in _CLOCKS and not one.args:
            return program.full_name(one.func).startswith("pyspark.")
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and _IN_SQL.search(one.value):
            return True
    return False


def _used_as_time(program: Program) -> set[str]:
    """The columns that windows and watermarks go by."""
    taken = [
        argument(call, 0, "eventTime" if method_of(call) == "withWatermark" else "timeColumn")
        for call in program.calls
        if name_of(call.func) in (*WINDOWS, "withWatermark")
    ]
    return {text for one in taken if (text := program.constant(one)) is not None}


WALL_CLOCK = Mistake(
    Code.WALL_CLOCK,
    "processing time for business time",
    "What depends on when a batch runs is another result after each crash, each delay and each replay, and nobody can compute it again.",
    (Way((Part.TEXT,), _by_text),),
)
