"""The twins of the kinds of windows, in plain Python: which windows an instant lies in. They share no code with `stream/windows`."""

from streamproof.prove.oracle.windows.calendar import PlainCalendar
from streamproof.prove.oracle.windows.hopping import PlainHopping
from streamproof.prove.oracle.windows.session import PlainGap, PlainSession
from streamproof.prove.oracle.windows.shifts import PlainShifts
from streamproof.prove.oracle.windows.tumbling import PlainTumbling
from streamproof.prove.oracle.windows.window import PlainWindow

__all__ = ["PlainCalendar", "PlainGap", "PlainHopping", "PlainSession", "PlainShifts", "PlainTumbling", "PlainWindow"]
