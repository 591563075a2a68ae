"""The ledger of a topic: a compacted topic beside it, one partition a shard, its records in the transactions that they tell of (R6).

Each partition is written under one transactional id alone, so that behind its fence no open transaction hides what is committed.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from streamproof.connectors.kafka.client import SECONDS, records, settings
from streamproof.core.clock import monotonic_seconds
from streamproof.core.manifest import LedgerEntry

_SETTINGS = {"cleanup.policy": "compact"}
_ANOTHER_WAS_FIRST = (KafkaError.TOPIC_ALREADY_EXISTS, KafkaError.INVALID_PARTITIONS)
_LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Ledger:
    """Where the ledger of a topic is, and how to get there."""

    servers: str
    topic: str
    options: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.topic}-streamproof-ledger"

    def require(self, shards: int) -> None:
        """Makes the ledger's topic where it is not there, or gives it more partitions, and waits until the brokers know it.

        Raises
        ------
        KafkaException
            If the topic it is the ledger of is not there, or the brokers do not answer in time.
        """
        admin = AdminClient(settings(self.servers, self.options))
        known = admin.list_topics(timeout=SECONDS).topics
        if self.topic not in known:
            raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, f"{self.topic} is not there"))
        if self._partitions(known) >= shards:
            return
        try:
            if self.name in known:
                admin.create_partitions([NewPartitions(self.name, shards)])[self.name].result(SECONDS)
            else:
                admin.create_topics([NewTopic(self.name, shards, -1, config=dict(_SETTINGS))])[self.name].result(SECONDS)
        except KafkaException as problem:
            if problem.args[0].code() not in _ANOTHER_WAS_FIRST:
                raise
        except TimeoutError:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{self.name} was not made in time")) from None
        end = monotonic_seconds() + SECONDS
        while self._partitions(admin.list_topics(timeout=SECONDS).topics) < shards:
            if monotonic_seconds() > end:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{self.name} is not known to every broker"))
            threading.Event().wait(_LOOK_SECONDS)

    def _partitions(self, known: Mapping[str, Any]) -> int:
        return len(known[self.name].partitions) if self.name in known else 0

    def all_entries(self) -> list[LedgerEntry]:
        """The entries of every shard that there ever was."""
        admin = AdminClient(settings(self.servers, self.options))
        return list(self.entries(range(self._partitions(admin.list_topics(timeout=SECONDS).topics))))

    def entries(self, shards: Iterable[int]) -> Iterator[LedgerEntry]:
        """The entries of these shards in the order they were written, to the end; KafkaException where the broker does not answer."""
        for message in records(self.servers, self.options, self.name, shards):
            written = message.value()
            if written is not None:
                yield LedgerEntry.from_json(written.decode())


def key_of(entry: LedgerEntry) -> str:
    """What makes a later record of the same publication take the place of the earlier one."""
    return json.dumps([entry.job, entry.output, entry.incarnation, entry.batch, entry.shard])
