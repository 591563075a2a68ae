"""Faults on the brokers of Kafka: killed, restarted, rolled, and leadership that moves."""

from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import AdminClient

from streamproof.connectors.kafka.client import SECONDS, settings
from streamproof.connectors.kafka.topic_of_step import topic_under
from streamproof.lab.kafka import KafkaCluster
from streamproof.lab.process import until
from streamproof.prove.faults.fault import ServiceFault, Struck

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE_SECONDS = 60.0


def _cluster(struck: Struck) -> KafkaCluster:
    cluster = struck.services["kafka"]
    assert isinstance(cluster, KafkaCluster), "the lab's service of this name"
    return cluster


def _partitions(cluster: KafkaCluster) -> "Iterator[tuple[str, int, Any]]":
    """Every partition as the brokers see it."""
    found = AdminClient(settings(cluster.url, {})).list_topics(timeout=SECONDS)
    for name, topic in found.topics.items():
        for number, partition in topic.partitions.items():
            yield name, number, partition


def _leader(struck: Struck) -> int:
    """The broker that the step depends on: the coordinator of an output's transaction, else the leader of the first partition."""
    topic = topic_under(struck.bound)
    return next(int(found.leader) for name, number, found in _partitions(_cluster(struck)) if (name, number) == (topic, 0))


def _in_sync(cluster: KafkaCluster) -> bool:
    return all(len(found.isrs) == cluster.brokers and found.leader > 0 for _, _, found in _partitions(cluster))


def _whole_again(cluster: KafkaCluster) -> None:
    """Waits until every broker has every partition."""
    until(lambda: _in_sync(cluster), "every broker to be in sync", _PATIENCE_SECONDS)


def _kill(struck: Struck) -> None:
    struck.kept["broker"] = number = _leader(struck)
    _cluster(struck).kill(number)


def _revive(struck: Struck) -> None:
    if "broker" in struck.kept:
        _cluster(struck).restart(struck.kept["broker"])
        _whole_again(_cluster(struck))


def _restart(struck: Struck) -> None:
    cluster, number = _cluster(struck), _leader(struck)
    cluster.kill(number)
    cluster.restart(number)
    _whole_again(cluster)


def _roll(struck: Struck) -> None:
    cluster = _cluster(struck)
    for number in range(1, cluster.brokers + 1):
        cluster.restart(number)
        _whole_again(cluster)


def _move_leader(struck: Struck) -> None:
    """A broker that answers nothing for a while comes back to find that others lead."""
    cluster, number = _cluster(struck), _leader(struck)
    cluster.pause(number)
    try:
        until(lambda: all(found.leader != number for _, _, found in _partitions(cluster)), "leadership to move", _PATIENCE_SECONDS)
    finally:
        cluster.resume(number)


def _mend_leader(struck: Struck) -> None:
    _whole_again(_cluster(struck))


FAULTS = (
    ServiceFault(
        "broker-killed", "kafka", "the broker that leads is killed with kill -9 and stays away", _kill, _revive, brokers=3
    ),
    ServiceFault("broker-restarted", "kafka", "the broker that leads is killed with kill -9 and starts again", _restart),
    ServiceFault("brokers-rolled", "kafka", "all brokers are restarted, one after another", _roll, brokers=3),
    ServiceFault(
        "leader-moved", "kafka", "the broker that leads stands still until others lead", _move_leader, _mend_leader, brokers=3
    ),
)
