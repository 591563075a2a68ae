"""Windows as users write them, read by the oracle itself (R28)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.windows.calendar import PlainCalendar
from streamproof.prove.oracle.windows.hopping import PlainHopping
from streamproof.prove.oracle.windows.session import PlainGap, PlainSession
from streamproof.prove.oracle.windows.shifts import PlainShifts
from streamproof.prove.oracle.windows.tumbling import PlainTumbling
from streamproof.prove.oracle.windows.window import PlainWindow


@dataclass(frozen=True)
class WrittenWindow:
    """A window as the user wrote it: what was called, and with which arguments."""

    kind: str
    given: Mapping[str, Any]


def plain_window(window: Any) -> PlainWindow:
    """The twin of a window, from what was written; a window that the job got ready-made has only what it was read as.

    Raises
    ------
    ValueError
        If a duration cannot be read, or the kind is not known.
    """
    if isinstance(window, PlainWindow):
        return window
    written = getattr(window, "written", None) or WrittenWindow(type(window).__name__.lower(), vars(window))
    given = written.given
    match written.kind:
        case "tumbling":
            return PlainTumbling(micros(given["size"]), micros(given.get("offset", timedelta())))
        case "hopping":
            return PlainHopping(micros(given["size"]), micros(given["every"]), micros(given.get("offset", timedelta())))
        case "session":
            longest, gap = given.get("longest"), given["gap"]
            own = None if isinstance(gap, str | timedelta) else _plain_gap(gap)
            return PlainSession(own.at_most_us if own else micros(gap), None if longest is None else micros(longest), own)
        case "calendar":
            return PlainCalendar(given["unit"], given["zone"])
        case "shifts":
            return PlainShifts(tuple(given["times"]), given["zone"])
    raise ValueError(f"no twin of a window of the kind {written.kind}")


def _plain_gap(gap: Any) -> PlainGap:
    """The twin of a gap by a column, from what was written."""
    written = getattr(gap, "written", None)
    given = written.given if written is not None else vars(gap)
    return PlainGap(given["column"], micros(given["at_most"]))
