"""What the job's own code did in a task that stopped a query: which error, where; never its text, which may hold values of rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamproof.core.masking import shape_of
from streamproof.errors import StreamproofError

_FRAME = re.compile(r'^ *File "([^"]+)", line (\d+), in (\S+)', re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_LIBRARY = re.compile(r"/(site-packages|dist-packages|python3\.\d+|pyspark\.zip)/")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\].*SQLSTATE: (?:22|39|P0)", re.DOTALL)
"""SQLSTATE classes 22, data exception: a value that an expression does not take; 39, a function has failed; P0, the job itself has raised it."""
_OURS = re.compile(r"\[USER_RAISED_EXCEPTION\] (keyed\([^)]*\): .+?) SQLSTATE: P0", re.DOTALL)
"""What a plan of ours raises; no value of a row is in it."""
_CALLED = re.compile(r'"([^"]+)" was called from\s+(\S+):(\d+)')
_FRAGMENT = re.compile(r"^== SQL[^\n]*==\n([^\n]+)(?:\n( *\^+))?", re.MULTILINE)
_VALUE = re.compile(r'The value (.*?) of the type "([^"]+)" cannot be cast to "([^"]+)"', re.DOTALL)
_CAST_OF = re.compile(r"(?:try_)?cast\s*\(\s*`?([A-Za-z_]\w*)`?\s+as\b", re.IGNORECASE)
_CALLS_OF_JAVA = (".java", "Method)", "Source)")


@dataclass(frozen=True)
class Raised:
    """What Python or an expression raised in a task.

    Parameters
    ----------
    what
        The error, and where it came up, in words.
    frames
        The lines of the user's that it has passed, the innermost last: file, line, function ("" for a call of PySpark's).
    sql
        The text of the expression.
    sample
        Of the value at fault what it is, by the column or by what was made of it.
    """

    what: str
    frames: Sequence[tuple[str, int, str]] = ()
    sql: str = ""
    sample: Mapping[str, str] = field(default_factory=dict)


def of_a_task(causes: Sequence[str]) -> StreamproofError | None:
    """The error for what Python or an expression raised in a task; None where that is not what stopped the query."""
    raised = next(filter(None, (_python(cause) or _expression(cause) for cause in reversed(causes))), None)
    if raised is None:
        return None
    return StreamproofError(
        f"The query stopped: {raised.what}.",
        required="Nothing is lost: what was not committed is done again at the next start.",
        remedy="Mend it and run again. Its text may hold values of rows: --debug prints it. "
        "Records that the job cannot take can be refused before: require(...).",
    ).is_at(frames=raised.frames, sql=raised.sql, sample=raised.sample, cause=f"{raised.what}.")


def _python(cause: str) -> Raised | None:
    """ "ValueError in rate (job.py, line 10)": of the last trace the innermost frame that is not a library's."""
    _, found, trace = cause.rpartition("Traceback (most recent call last):")
    frames = _FRAME.findall(trace)
    raised = _RAISED.search(trace, list(_FRAME.finditer(trace))[-1].end()) if frames else None
    if not found or raised is None:
        return None
    own = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    file, line, function = (own or frames)[-1]
    what = f"{raised.group(1).rpartition('.')[2]} in {function} ({file}, line {line})"
    return Raised(what, [(file, int(line), function) for file, line, function in own])


def _expression(cause: str) -> Raised | None:
    """ "CAST_INVALID_INPUT in cast (job.py, line 10)": what Spark calls it, and where the expression is from."""
    condition, ours = _CONDITION.search(cause), _OURS.search(cause)
    if ours is not None:
        return Raised(ours.group(1).rstrip("."))
    if condition is None:
        return None
    called, fragment = _CALLED.search(cause), _FRAGMENT.search(cause)
    if called is not None and not called.group(2).endswith(_CALLS_OF_JAVA):
        function, file, line = called.groups()
        what = f"{condition.group(1)} in {function} ({file}, line {line})"
        return Raised(what, [(file, int(line), "")], sample=_sample(cause, ""))
    if fragment is None:
        return Raised(condition.group(1), sample=_sample(cause, ""))
    text, marks = fragment.group(1), fragment.group(2) or ""
    at_fault = text[len(marks) - len(marks.lstrip()) : len(marks)]
    return Raised(f"{condition.group(1)} in {text.strip()}", sql=text.strip(), sample=_sample(cause, at_fault))


def _sample(cause: str, at_fault: str) -> dict[str, str]:
    """What a value is that cannot be cast: by its column, where the expression at fault casts one, else by what it should become."""
    found = _VALUE.search(cause)
    if found is None:
        return {}
    written, kind, wanted = found.groups()
    column = _CAST_OF.match(at_fault)
    is_text = kind == "STRING" and written[:1] == "'" and written[-1:] == "'"
    shape = shape_of(written[1:-1]) if is_text else f"a value of type {kind.lower()}"
    return {column.group(1) if column else f"the value to be cast to {wanted.lower()}": shape}
