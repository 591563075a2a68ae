"""The topic that a step of a source or a sink depends on: the loss of the broker that leads it is felt there."""

from streamproof.config import KafkaSink, KafkaSource, SinkConfig, SourceConfig

_TRANSACTIONS = "__transaction_state"


def topic_under(bound: SourceConfig | SinkConfig | None) -> str:
    """Where a source is read the first of its topics; of a sink the topic that is written, or that of its transaction's coordinator."""
    if isinstance(bound, KafkaSink):
        return bound.topic if bound.guarantee == "at-least-once" else _TRANSACTIONS
    assert isinstance(bound, KafkaSource), "a source or a sink of Kafka"
    return bound.topic[0]
