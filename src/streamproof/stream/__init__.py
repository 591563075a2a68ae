"""The stream vocabulary: jobs as plain functions from named streams to named outputs."""

from streamproof.stream import patterns
from streamproof.stream.job import Job, job
from streamproof.stream.keyed import emit, initial, list_of, map_of, step
from streamproof.stream.outputs import Outputs
from streamproof.stream.side_output import SideOutput
from streamproof.stream.stream import Stream
from streamproof.stream.windowed import WindowedStream
from streamproof.stream.windows import (
    Calendar,
    Gap,
    Hopping,
    Session,
    Shifts,
    Tumbling,
    Window,
    calendar,
    gap_of,
    hopping,
    session,
    shifts,
    tumbling,
)

__all__ = [
    "Calendar",
    "Gap",
    "Hopping",
    "Job",
    "Outputs",
    "Session",
    "Shifts",
    "SideOutput",
    "Stream",
    "Tumbling",
    "Window",
    "WindowedStream",
    "calendar",
    "emit",
    "gap_of",
    "hopping",
    "initial",
    "job",
    "list_of",
    "map_of",
    "patterns",
    "session",
    "shifts",
    "step",
    "tumbling",
]
