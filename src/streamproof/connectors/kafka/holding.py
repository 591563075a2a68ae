"""What a topic holds by the brokers' own word: its partitions, and how long it keeps a record."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource  # type: ignore[attr-defined]

from streamproof.connectors.kafka.client import SECONDS, settings, topics
from streamproof.connectors.source import Holding
from streamproof.errors import SourceUnavailable

if TYPE_CHECKING:
    from streamproof.config import KafkaSource

_KEEPS, _POLICY, _DELETES = "retention.ms", "cleanup.policy", "delete"


def holding_of(name: str, source: "KafkaSource") -> Sequence[Holding]:
    """Of each topic of a source how many partitions it has, and how long it keeps a record.

    Raises
    ------
    SourceUnavailable
        If no broker answers, or the options are none of librdkafka's.
    """
    try:
        known = topics(source.servers, source.options)
        admin = AdminClient(settings(source.servers, source.options))
        there = [topic for topic in source.topic if topic in known]
        asked = admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in there]) if there else {}
        told = {resource.name: future.result(SECONDS) for resource, future in asked.items()}
    except (KafkaException, TimeoutError) as problem:
        raise SourceUnavailable(
            f"[source.{name}] {source.servers} does not say what {', '.join(source.topic)} holds: {problem}.",
            remedy="Start the brokers, or leave --services out.",
        ) from None
    return [Holding(topic, partitions=len(known[topic].partitions), keeps=_keeps(told[topic])) for topic in there]


def _keeps(told: "dict[str, object]") -> timedelta | None:
    """How long by its settings; None of a topic that is compacted, or keeps all."""
    values = {key: str(getattr(told.get(key), "value", "")) for key in (_KEEPS, _POLICY)}
    milliseconds = int(values[_KEEPS]) if values[_KEEPS].lstrip("-").isdigit() else -1
    return timedelta(milliseconds=milliseconds) if milliseconds >= 0 and _DELETES in values[_POLICY] else None
