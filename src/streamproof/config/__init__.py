"""The configuration file `streamproof.toml` as typed, frozen models."""

from streamproof.config.load import load
from streamproof.config.lookups import ChangesTable, DeltaTable, FilesTable, KafkaTable, PostgresTable, TableConfig
from streamproof.config.models import JobConfig, Trigger
from streamproof.config.registry import FORMATS as REGISTRY_FORMATS
from streamproof.config.registry import RegistryConfig
from streamproof.config.secret import redact
from streamproof.config.sinks import FilesSink, HttpSink, KafkaSink, PostgresSink, RedisSink, ServiceSink, SinkConfig, output_of
from streamproof.config.sources import CsvDialect, EventTime, FilesSource, KafkaSource, RateSource, SourceConfig

__all__ = [
    "REGISTRY_FORMATS",
    "ChangesTable",
    "CsvDialect",
    "DeltaTable",
    "EventTime",
    "FilesSink",
    "FilesSource",
    "FilesTable",
    "HttpSink",
    "JobConfig",
    "KafkaSink",
    "KafkaSource",
    "KafkaTable",
    "PostgresSink",
    "PostgresTable",
    "RateSource",
    "RedisSink",
    "RegistryConfig",
    "ServiceSink",
    "SinkConfig",
    "SourceConfig",
    "TableConfig",
    "Trigger",
    "load",
    "output_of",
    "redact",
]
