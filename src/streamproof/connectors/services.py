"""From the table [sink.NAME] of a service to its sink; the library that it needs is looked for here."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from streamproof.config import HttpSink, KafkaSink, PostgresSink, RedisSink, ServiceSink, SinkConfig
from streamproof.connectors.extras import library
from streamproof.connectors.kafka.jars import SPARK_KAFKA
from streamproof.connectors.source import Jars

if TYPE_CHECKING:
    from streamproof.connectors.sink import Sink, SinkPlace


def where(config: ServiceSink) -> str:
    """What the store of a sink is called, without user and password."""
    found: str = _kind(config).where(config)
    return found


def sink(config: ServiceSink, place: "SinkPlace") -> "Sink":
    """The sink that a service is configured with.

    Raises
    ------
    MissingExtra
        If its library is not installed.
    """
    made: Sink = _kind(config)(place, config)
    return made


def guarantee(config: ServiceSink) -> str:
    """What the sink of a service keeps, in words."""
    found: str = _kind(config).guarantee_of(config)
    return found


def keeps_claim(config: ServiceSink) -> bool:
    """Whether the sink of a service keeps what the configuration claims of it (K8)."""
    return config.guarantee != "exactly-once" or config.can_be_exactly_once


def jars(config: SinkConfig) -> Sequence[Jars]:
    """What Spark needs to write there, and PySpark does not bring."""
    return (_JARS[config.connector],) if config.written_by_spark else ()


def _kind(config: ServiceSink) -> Any:
    return _KINDS[type(config)](config)


def _postgres(_: ServiceSink) -> Any:
    library("psycopg", "postgres", "A postgres sink")
    from streamproof.connectors.postgres.sink import TableSink

    return TableSink


def _kafka(config: ServiceSink) -> Any:
    library("confluent_kafka", "kafka", "A kafka sink")
    from streamproof.connectors.kafka.sink import PlainTopicSink, TopicSink

    return PlainTopicSink if config.guarantee == "at-least-once" else TopicSink


def _redis(_: ServiceSink) -> Any:
    library("redis", "redis", "A redis sink")
    from streamproof.connectors.redis.sink import HashSink

    return HashSink


def _http(_: ServiceSink) -> Any:
    library("httpx", "http", "An http sink")
    from streamproof.connectors.http.sink import CallSink

    return CallSink


_KINDS: Mapping[type[ServiceSink], Callable[[ServiceSink], Any]] = {
    PostgresSink: _postgres,
    KafkaSink: _kafka,
    RedisSink: _redis,
    HttpSink: _http,
}
_JARS: Mapping[str, Jars] = {"kafka": SPARK_KAFKA}
