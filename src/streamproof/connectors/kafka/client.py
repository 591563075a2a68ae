"""librdkafka as a sink needs it: settings, and what its errors mean."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from streamproof.connectors.kafka.settling import settled
from streamproof.connectors.ledgers import overtaken
from streamproof.connectors.sink import behind_us
from streamproof.core.clock import monotonic_seconds
from streamproof.core.formats import unknown
from streamproof.errors import ConfigurationError, SinkError, SinkUnavailable, TwoDrivers, UnknownFormat

SECONDS = 20
"""How long a single request may take before the broker counts as down."""

_LOOK_SECONDS = 2
T = TypeVar("T")

_PASSING = (
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TIMED_OUT,
    KafkaError._MSG_TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.NOT_COORDINATOR,
    KafkaError.CONCURRENT_TRANSACTIONS,
    KafkaError.INVALID_TXN_STATE,
    KafkaError.TRANSACTION_COORDINATOR_FENCED,
    KafkaError._STATE,
    KafkaError._PURGE_QUEUE,
    KafkaError._PURGE_INFLIGHT,
)
TOO_LONG = -1_000
"""What we say ourselves, where brokers say that a transaction which they aborted for its age is fenced."""
OVERTAKEN = -1_001
"""What we say ourselves of a batch behind one that is published."""
UNKNOWN_FORMAT = -1_002
"""What we say ourselves of a record of the ledger in a format that is not known; the message is that of the error (R30)."""
FENCED = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
_REFUSED = (
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)
_WITHOUT_LEADER = (KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION)
"""A topic that was just made, or whose broker has just gone: who leads a partition has not come around yet."""


@dataclass(frozen=True)
class Said:
    """What Kafka said, as it travels from a task to the driver."""

    code: int
    message: str

    @classmethod
    def by(cls, problem: KafkaException | KafkaError) -> "Said":
        error = problem.args[0] if isinstance(problem, KafkaException) else problem
        return cls(error.code(), error.str()) if isinstance(error, KafkaError) else cls(KafkaError._FAIL, str(error))


def settings(servers: str, options: Mapping[str, str]) -> dict[str, str | int | float | bool]:
    """The settings that every client has; it says what is wrong by its errors, not on standard error.

    The first look for a broker, a coordinator, a leader is repeated soon, and ever later: each shard of each batch is a new client.
    """
    soon = {"retry.backoff.ms": 10, "reconnect.backoff.ms": 10, "topic.metadata.refresh.fast.interval.ms": 10}
    return {"log_level": 0, "socket.timeout.ms": SECONDS * 1000, **soon, **options, "bootstrap.servers": servers}


def topics(servers: str, options: Mapping[str, str]) -> Mapping[str, Any]:
    """The topics that the brokers know, by their names.

    Raises
    ------
    KafkaException
        If no broker answers, or one refuses us: a client hears that beside its question, which only times out.
    """
    heard: list[KafkaError] = []
    asking: dict[str, Any] = {**settings(servers, options), "error_cb": heard.append}
    admin = AdminClient(asking)
    end = monotonic_seconds() + SECONDS
    while True:
        try:
            return admin.list_topics(timeout=_LOOK_SECONDS).topics
        except KafkaException:
            admin.poll(0)
            refusal = next((error for error in heard if error.code() in _REFUSED), None)
            if refusal is not None:
                raise KafkaException(refusal) from None
            if monotonic_seconds() > end:
                raise


def once_known(ask: Callable[[], T]) -> T:
    """The answer about a topic. A broker that does not know the topic, or who leads it, is asked again for a while: it may not have heard of it yet.

    Raises
    ------
    KafkaException
        Of an answer that stays "there is none" (`MISSING`) or "not the leader", and at once of any other.
    """

    def answered() -> T | KafkaException:
        try:
            return ask()
        except KafkaException as problem:
            if problem.args[0].code() not in (*MISSING, *_WITHOUT_LEADER):
                raise
            return problem

    answer = settled(answered, lambda answer: isinstance(answer, KafkaException))
    if isinstance(answer, KafkaException):
        raise answer
    return answer


def records(
    servers: str,
    options: Mapping[str, str],
    topic: str,
    partitions: Iterable[int],
    *,
    since: Mapping[int, int] = MappingProxyType({}),
    ends: dict[int, int] | None = None,
) -> Iterator[Message]:
    """The records of some partitions that a reader with read_committed sees, to their end.

    The end is the one that each partition's leader tells when it is asked: what comes with a fetch, librdkafka's end of a partition, may
    be that of a leader which has just been elected, and lag behind what is committed (KIP-207).

    Parameters
    ----------
    since
        By partition, the offset to begin at, to which it was read before.
    ends
        Is told, by partition, the offset after the last record.

    Raises
    ------
    KafkaException
        If the broker does not answer, says anything but that a partition is at its end, or a partition ends before it is to begin.
    """
    reading = {
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 5,
        "auto.offset.reset": "earliest",
        "client.rack": "",  # else brokers may name a follower to read from
    }
    consumer = Consumer({**settings(servers, options), "group.id": "streamproof", **reading})
    try:
        told = {
            number: consumer.get_watermark_offsets(TopicPartition(topic, number), SECONDS, cached=False)[1] for number in partitions
        }
        for number, end in told.items():
            if end < since.get(number, 0):
                lost = f"{topic}, partition {number}, ends at {end} and was read to {since[number]} before"
                raise KafkaException(KafkaError(KafkaError.OFFSET_OUT_OF_RANGE, lost))
        left = {number for number, end in told.items() if since.get(number, 0) != end}
        if ends is not None:
            ends.update({number: end for number, end in told.items() if number not in left})
        consumer.assign([TopicPartition(topic, number, since.get(number, 0)) for number in left])
        while left:
            message = consumer.poll(SECONDS)
            if message is None:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{topic} was not read to its end"))
            problem = message.error()
            if problem is None:
                yield message
            elif problem.code() == KafkaError._PARTITION_EOF:
                number, offset = message.partition() or 0, message.offset() or 0
                if offset < told[number]:
                    continue
                left.discard(number)
                if ends is not None:
                    ends[number] = offset
            else:
                raise KafkaException(problem)
    finally:
        consumer.close()


def sink_error(said: Said, where: str) -> SinkError | TwoDrivers | ConfigurationError | UnknownFormat:
    """The error for what Kafka said, in one place."""
    message = said.message.rstrip(".")
    if said.code in FENCED:
        return TwoDrivers(
            f"Another publisher has taken over {where}: {message}.",
            required="One driver works on a checkpoint at a time; the last one that began counts.",
            remedy="Stop one of them; the ledger decides what is published, nothing is doubled.",
        )
    if said.code == UNKNOWN_FORMAT:
        return unknown(said.message)
    if said.code == OVERTAKEN:
        return overtaken(where, said.message)
    if said.code == KafkaError.INVALID_TRANSACTION_TIMEOUT:
        return SinkError(
            f"{where} does not let a transaction stay open for so long: {message}.",
            remedy='Lower options = { "transaction.timeout.ms" = ... }, or raise transaction.max.timeout.ms of the brokers.',
        )
    if said.code == TOO_LONG:
        return SinkError(
            f"A batch takes too long for {where}: {message}.",
            required="The brokers abort an older transaction. Nothing of the batch is seen, and nothing is lost.",
            remedy='Raise options = { "transaction.timeout.ms" = ... } (brokers allow 15 minutes, by transaction.max.timeout.ms), publish in more '
            "shards, or take less at once: records_per_batch, files_per_batch.",
        )
    if said.code in _REFUSED:
        return SinkError(
            f"{where} refuses us: {message}.",
            remedy='Mend options ("security.protocol", "sasl.username", ...), or what this user may do there.',
        )
    if said.code in MISSING:
        servers, _, topic = where.removeprefix("kafka://").rpartition("/")
        make = f"kafka-topics.sh --bootstrap-server {servers} --create --topic {topic} --partitions 2"
        return SinkError(f"There is no topic {where}.", remedy=f"Make it ({make}), or mend the name in the configuration.")
    if said.code == KafkaError.OFFSET_OUT_OF_RANGE:
        return behind_us(f"{where} lacks newest entries of its ledger ({message})")
    if said.code == KafkaError._BAD_MSG:
        return SinkError(
            f"The ledger of {where} cannot be read: {message}.",
            required="It says which batches are published; without it they could be published twice.",
            remedy="Find out who wrote that record, and delete the records up to it only if no batch of this job is among them.",
        )
    if said.code in (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE):
        return SinkError(
            f"A row is too large for {where}: {message}.",
            required="Nothing of its batch is published, and nothing is lost.",
            remedy='Raise max.message.bytes of the topic and options = { "message.max.bytes" = ... }, or reject such rows with require().',
        )
    if said.code in _PASSING:
        return SinkUnavailable(
            f"{where} cannot be written: {message}.",
            required="Nothing is lost: what it has not taken is kept with its manifests, and it catches up once it answers.",
        )
    if said.code == KafkaError._INVALID_ARG:
        return ConfigurationError(f"{where} cannot be written: {message}.", remedy="Mend the options of the sink.")
    return SinkError(f"{where} cannot be written: {message} (error {said.code}).")
