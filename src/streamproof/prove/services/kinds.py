"""All kinds of services that a proof knows, by their names."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamproof.prove.services.api import Api
from streamproof.prove.services.kafka import Kafka
from streamproof.prove.services.postgres import Postgres
from streamproof.prove.services.redis import Redis
from streamproof.prove.services.registry import Registry

if TYPE_CHECKING:
    from streamproof.config import ServiceSink
    from streamproof.prove.services.kind import Kind, Reader

KINDS: "Mapping[str, Kind]" = {kind.name: kind for kind in (Kafka(), Postgres(), Redis(), Api(), Registry())}


def kind_of(sink: "ServiceSink") -> "Kind":
    """The service that an output goes to."""
    return KINDS[sink.services[0]]


def reader(sink: "ServiceSink") -> "Reader":
    """What reads the outputs of a kind of service."""
    return kind_of(sink).reader
