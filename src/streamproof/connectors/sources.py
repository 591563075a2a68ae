"""From the tables [source.NAME] to the sources of a job: which kind each is."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from streamproof.config import FilesSource, KafkaSource, RateSource
from streamproof.connectors.files.source import FolderSource
from streamproof.connectors.kafka.source import TopicSource
from streamproof.connectors.rate.source import PacedSource

if TYPE_CHECKING:
    from streamproof.config import JobConfig, SourceConfig
    from streamproof.connectors.source import Source

_KINDS: "Mapping[type[SourceConfig], type[Source]]" = {
    FilesSource: FolderSource,
    KafkaSource: TopicSource,
    RateSource: PacedSource,
}


def source_of(name: str, config: "SourceConfig", resolve: Callable[[str], str] = str) -> "Source":
    """A source of a job by its name and its table."""
    return _KINDS[type(config)](name, config, resolve)


def sources_of(config: "JobConfig") -> "dict[str, Source]":
    """All sources of a job, by their names."""
    return {name: source_of(name, table, config.resolve) for name, table in config.source.items()}
