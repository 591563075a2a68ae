"""Windows: how event time is cut into pieces. One module a kind; each says which windows an event is in, and how Spark groups by them."""

from streamproof.stream.windows.calendar import Calendar, calendar
from streamproof.stream.windows.gap import Gap, gap_of
from streamproof.stream.windows.hopping import Hopping, hopping
from streamproof.stream.windows.session import Session, session
from streamproof.stream.windows.shifts import Shifts, shifts
from streamproof.stream.windows.tumbling import Tumbling, tumbling
from streamproof.stream.windows.window import Window

__all__ = [
    "Calendar",
    "Gap",
    "Hopping",
    "Session",
    "Shifts",
    "Tumbling",
    "Window",
    "calendar",
    "gap_of",
    "hopping",
    "session",
    "shifts",
    "tumbling",
]
