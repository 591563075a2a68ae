"""One folder per system, source and sink together; a sink declares its guarantee."""

from streamproof.connectors.sink import Sink, SinkPlace

__all__ = ["Sink", "SinkPlace"]
