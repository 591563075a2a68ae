"""The configuration file `streamproof.toml` as typed, frozen models."""

from streamproof.config.load import load
from streamproof.config.models import EventTime, JobConfig, SinkConfig, SourceConfig, Trigger
from streamproof.config.secret import redact

__all__ = ["EventTime", "JobConfig", "SinkConfig", "SourceConfig", "Trigger", "load", "redact"]
