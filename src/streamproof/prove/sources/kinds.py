"""Which kind each source of a job is of in a proof."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from streamproof.config import FilesSource, KafkaSource, RateSource
from streamproof.prove.sources.files import FilesInProof
from streamproof.prove.sources.rate import rate_in_proof
from streamproof.prove.sources.topics import TopicsInProof

if TYPE_CHECKING:
    from streamproof.config import SourceConfig
    from streamproof.prove.sources.source import ProvedSource

_KINDS: "Mapping[type[SourceConfig], Callable[[str, Any], ProvedSource]]" = {
    FilesSource: FilesInProof,
    KafkaSource: TopicsInProof,
    RateSource: rate_in_proof,
}


def proved(name: str, config: "SourceConfig") -> "ProvedSource":
    """A source of a job by its name and its table."""
    return _KINDS[type(config)](name, config)
