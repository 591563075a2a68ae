"""What the user's own code has raised: in which file, on which line, in words."""

import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from streamproof.core.paths import display

_OURS = str(Path(__file__).parents[1])
_LIBRARY = re.compile(r"[/\\](?:site-packages|dist-packages|python3\.\d+|pyspark\.zip)[/\\]|^<|[/\\]bin[/\\]streamproof$")


@dataclass(frozen=True)
class Place:
    """A line of the user's own code; `function` is "<module>" for what is not in one."""

    file: Path
    line: int
    function: str = "<module>"

    def __str__(self) -> str:
        return f"{display(self.file)} line {self.line}"


def place_of(problem: BaseException) -> Place | None:
    """The innermost line of the user's code that an exception, or what it comes from, has passed; None where there is none.

    The user's code is what is neither a library nor Streamproof, below a call of Streamproof's: what calls us is not meant.
    """
    if isinstance(problem, SyntaxError) and problem.filename and problem.lineno and not is_library(problem.filename):
        return Place(Path(problem.filename), problem.lineno)
    frames = traceback.extract_tb(problem.__traceback__)
    ours = next((number for number, frame in enumerate(frames) if frame.filename.startswith(_OURS)), None)
    below = frames[ours:] if ours is not None else []
    own = [frame for frame in below if not is_library(frame.filename)]
    if own:
        return Place(Path(own[-1].filename), own[-1].lineno or 0, own[-1].name)
    return None if problem.__cause__ is None else place_of(problem.__cause__)


def is_library(file: str) -> bool:
    """Whether a file belongs to Python, to an installed package, or to Streamproof."""
    return file.startswith(_OURS) or _LIBRARY.search(file) is not None


def said(problem: BaseException) -> str:
    """What an exception says, in one line: "KeyError: 'rate'", "the module polars is missing"."""
    if isinstance(problem, ModuleNotFoundError) and problem.name:
        return f"the module {problem.name} is missing"
    text = problem.msg if isinstance(problem, SyntaxError) else str(problem)
    first = next(iter(text.strip().splitlines()), "")
    return f"{type(problem).__name__}: {first}" if first else type(problem).__name__


def remedy_for(problem: BaseException) -> str:
    """What to do about it, where that is known; else nothing."""
    if not isinstance(problem, ModuleNotFoundError) or not problem.name:
        return ""
    top = problem.name.partition(".")[0]
    return f"Install the package that brings it: {sys.executable} -m pip install {top}. Or lay {top}.py beside the file, if it is yours."


def raised_in(file: Path | None, problem: BaseException, *, told: str = "") -> str:
    """ "job.py line 12, in risk_exposure: KeyError: 'rate'.": the line where it is known, else the file where one is given.

    Parameters
    ----------
    told
        What to say instead of the exception's own text, which may hold values of rows.
    """
    place = place_of(problem)
    where = (display(file) if file else "") if place is None else str(place)
    inside = "" if place is None or place.function.startswith("<") else f", in {place.function}"
    return f"{where}{inside}{': ' if where else ''}{(told or said(problem)).rstrip('.')}."
