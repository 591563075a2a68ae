"""The stream vocabulary: jobs as plain functions from named streams to named outputs."""

from streamproof.stream.job import Job, job
from streamproof.stream.outputs import Outputs, SideKind, SideOutput
from streamproof.stream.stream import Stream, WindowedStream
from streamproof.stream.windows import Calendar, Hopping, Session, Tumbling, Window, calendar, hopping, session, tumbling

__all__ = [
    "Calendar",
    "Hopping",
    "Job",
    "Outputs",
    "Session",
    "SideKind",
    "SideOutput",
    "Stream",
    "Tumbling",
    "Window",
    "WindowedStream",
    "calendar",
    "hopping",
    "job",
    "session",
    "tumbling",
]
