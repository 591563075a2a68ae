"""Which DataFrames of a program are surely streams: a table may look the same in its text."""

import ast

from streamproof.doctor.text.flows import calls_behind, is_stream
from streamproof.doctor.text.program import Program
from streamproof.doctor.text.syntax import method_of, parameters_of


def surely_streams(program: Program, node: ast.expr) -> bool:
    """Whether an expression is a stream: it comes from a reader of streams, has a watermark, or comes from a parameter that is one."""
    return is_stream(program, node) or bool(_names_behind(program, node) & stream_parameters(program))


def stream_parameters(program: Program) -> set[str]:
    """The parameters of the job's function that are streams: those that get a watermark there; where none does, the first DataFrame.

    The others may be tables.
    """
    found: set[str] = set()
    for function in program.definitions.get(program.entry, []):
        if isinstance(function, ast.ClassDef):
            continue
        names = [name for name in parameters_of(function) if name not in ("spark", "session")]
        marked = {
            name
            for call in ast.walk(function)
            if method_of(call) == "withWatermark" and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            for name in _names_behind(program, call.func.value) & set(names)
        }
        reads = any(isinstance(node, ast.Attribute) and node.attr == "readStream" for node in program.reached)
        found |= marked or set(names[:0] if reads else names[:1])
    return found


def _names_behind(program: Program, node: ast.expr) -> set[str]:
    roots = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return roots | {one.id for call in calls_behind(program, node) for one in ast.walk(call.on) if isinstance(one, ast.Name)}
