"""The configuration file `streamproof.toml` as typed, frozen models."""

from streamproof.config.load import load
from streamproof.config.models import JobConfig, Trigger
from streamproof.config.secret import redact
from streamproof.config.sinks import FilesSink, KafkaSink, PostgresSink, ServiceSink, SinkConfig
from streamproof.config.sources import EventTime, FilesSource, KafkaSource, SourceConfig

__all__ = [
    "EventTime",
    "FilesSink",
    "FilesSource",
    "JobConfig",
    "KafkaSink",
    "KafkaSource",
    "PostgresSink",
    "ServiceSink",
    "SinkConfig",
    "SourceConfig",
    "Trigger",
    "load",
    "redact",
]
