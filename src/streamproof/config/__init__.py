"""The configuration file `streamproof.toml` as typed, frozen models."""

from streamproof.config.load import load
from streamproof.config.models import JobConfig, Trigger
from streamproof.config.secret import redact
from streamproof.config.sinks import FilesSink, HttpSink, KafkaSink, PostgresSink, RedisSink, ServiceSink, SinkConfig
from streamproof.config.sources import EventTime, FilesSource, KafkaSource, SourceConfig

__all__ = [
    "EventTime",
    "FilesSink",
    "FilesSource",
    "HttpSink",
    "JobConfig",
    "KafkaSink",
    "KafkaSource",
    "PostgresSink",
    "RedisSink",
    "ServiceSink",
    "SinkConfig",
    "SourceConfig",
    "Trigger",
    "load",
    "redact",
]
