"""What a listener has raised, as a note: the run goes on, whatever that was."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from streamproof.core.notes import Note, NoteCode


def raised_by(listeners: Sequence[Any], place: int, problem: BaseException, what: str) -> Note:
    """The note of a listener that has raised; `place` is its place among all, `what` is what it was given."""
    first = _first_line(problem)
    which = f" {_name_of(listeners[place])} ({place + 1} of {len(listeners)})" if len(listeners) > 1 else ""
    raised = f"raised {type(problem).__name__}{f': {first}' if first else ''}"
    said = f"The listener{which} of this run {raised} at {what}. The job went on; look into that function."
    return Note(NoteCode.LISTENER_RAISED, said)


def _first_line(problem: BaseException) -> str:
    """Nothing where the error cannot say what it is: its `__str__` is code of somebody else, and can raise too."""
    with suppress(Exception):
        return str(problem).partition("\n")[0]
    return ""


def _name_of(listener: Any) -> str:
    """By its name, or by its class where it is an object."""
    with suppress(Exception):  # an object may answer for each attribute in its own way
        return str(getattr(listener, "__qualname__", type(listener).__qualname__))
    return type(listener).__qualname__
