"""What the job's own code did in a task that stopped a query: which error, where; never its text, which may hold values of rows."""

import re
from collections.abc import Sequence

from streamproof.errors import StreamproofError

_FRAME = re.compile(r'^ *File "([^"]+)", line (\d+), in (\S+)', re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_LIBRARY = re.compile(r"/(site-packages|dist-packages|python3\.\d+|pyspark\.zip)/")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\].*SQLSTATE: 22", re.DOTALL)
"""SQLSTATE class 22, data exception: a value that an expression does not take."""
_CALLED = re.compile(r'"([^"]+)" was called from\s+(\S+):(\d+)')
_FRAGMENT = re.compile(r"^== SQL[^\n]*==\n([^\n]+)", re.MULTILINE)


def of_a_task(causes: Sequence[str]) -> StreamproofError | None:
    """The error for what Python or an expression raised in a task; None where that is not what stopped the query."""
    said = next(filter(None, (_python(cause) or _expression(cause) for cause in reversed(causes))), None)
    if said is None:
        return None
    return StreamproofError(
        f"The query stopped: {said}.",
        required="Nothing is lost: what was not committed is done again at the next start.",
        remedy="Mend it and run again. Its text may hold values of rows: Spark's log has it, and --debug prints it. "
        "Records that the job cannot take can be refused before: require(...).",
    )


def _python(cause: str) -> str | None:
    """ "ValueError in rate (job.py, line 10)": of the last trace the innermost frame that is not a library's."""
    _, found, trace = cause.rpartition("Traceback (most recent call last):")
    frames = _FRAME.findall(trace)
    raised = _RAISED.search(trace, list(_FRAME.finditer(trace))[-1].end()) if frames else None
    if not found or raised is None:
        return None
    own = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    file, line, function = (own or frames)[-1]
    return f"{raised.group(1).rpartition('.')[2]} in {function} ({file}, line {line})"


def _expression(cause: str) -> str | None:
    """ "CAST_INVALID_INPUT in cast (job.py, line 10)": what Spark calls it, and where the expression is from."""
    condition = _CONDITION.search(cause)
    if condition is None:
        return None
    called, fragment = _CALLED.search(cause), _FRAGMENT.search(cause)
    if called is not None:
        return f"{condition.group(1)} in {called.group(1)} ({called.group(2)}, line {called.group(3)})"
    return f"{condition.group(1)} in {fragment.group(1).strip()}" if fragment is not None else condition.group(1)
