"""Which outputs hold the last row of a window only: tables in which a row replaces the one before."""

from typing import TYPE_CHECKING

from streamproof.config import PostgresSink, RedisSink
from streamproof.stream.emissions.emission import REVISION

if TYPE_CHECKING:
    from streamproof.config import JobConfig
    from streamproof.prove.artifacts.history import OutputHistory


def keeps_last(config: "JobConfig", output: "OutputHistory | None") -> bool:
    """Whether a later row of a window replaces the earlier ones in an output, as the job's file says."""
    sink = config.sink.get(output.name) if output is not None else None
    replaces = isinstance(sink, RedisSink) or (isinstance(sink, PostgresSink) and sink.mode == "upsert")
    return replaces and REVISION not in getattr(sink, "key", ())
