"""The stream vocabulary: jobs as plain functions from named streams to named outputs."""

from streamproof.stream.job import Job, job
from streamproof.stream.outputs import Outputs, SideKind, SideOutput
from streamproof.stream.stream import Stream, WindowedStream
from streamproof.stream.windows import Tumbling, tumbling

__all__ = ["Job", "Outputs", "SideKind", "SideOutput", "Stream", "Tumbling", "WindowedStream", "job", "tumbling"]
