"""The ledger of a topic: a second, compacted topic with a partition for each shard. A ledger record is in the transaction whose rows it names (R6).

Each partition is written under one transactional id alone, so that after its fence no open transaction hides what is committed.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka.admin import AdminClient, ConfigResource  # type: ignore[attr-defined]
from confluent_kafka.cimpl import NewPartitions, NewTopic

from streamproof.connectors import ledgers
from streamproof.connectors.kafka.client import MISSING, SECONDS, UNKNOWN_FORMAT, once_known, records, settings, topics
from streamproof.core.clock import monotonic_seconds
from streamproof.core.formats import number_in
from streamproof.core.manifest import LEDGER_ENTRY, LedgerEntry
from streamproof.errors import SinkError, UnknownFormat

_SETTINGS = {
    "cleanup.policy": "compact",
    "segment.bytes": "1048576",  # what is compacted are segments that are full; a start reads the rest too
    "min.cleanable.dirty.ratio": "0.1",
    "delete.retention.ms": "60000",  # who misses a tombstone knows one entry more than is kept, no harm
}
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
        SinkError
            If the ledger is there, and Kafka deletes from it what has become old.
        """
        known = once_known(lambda: self._topics_with(self.topic))
        admin = AdminClient(settings(self.servers, self.options))
        if self.name in known:
            self._require_compaction(admin)
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

    def _require_compaction(self, admin: AdminClient) -> None:
        topic = ConfigResource(ConfigResource.Type.TOPIC, self.name)
        try:
            policy = admin.describe_configs([topic])[topic].result(SECONDS)["cleanup.policy"].value
        except KafkaException as problem:
            if problem.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED:  # who may not ask has to know by himself
                raise
            return
        except TimeoutError:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"the settings of {self.name} were not told in time")) from None
        if policy != "compact":
            raise SinkError(
                f"The ledger {self.name} has cleanup.policy = {policy}.",
                required="compact, and nothing else: a batch whose entry Kafka has deleted could be published twice.",
                remedy=f"kafka-configs.sh --alter --topic {self.name} --add-config cleanup.policy=compact",
            )

    def _partitions(self, known: Mapping[str, Any]) -> int:
        return len(known[self.name].partitions) if self.name in known else 0

    def _topics_with(self, name: str) -> Mapping[str, Any]:
        """The topics that the brokers know; KafkaException (`MISSING`) if this one is not among them."""
        known = topics(self.servers, self.options)
        if name not in known:
            raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, f"{name} is not there"))
        return known

    def read(self, shards: Sequence[int] | None, since: Mapping[int, int]) -> "Reading":
        """What these shards, else every shard that there ever was, hold from a position on, to the end.

        KafkaException if a broker does not answer, or the ledger, which `require` has seen, is there no more (`OFFSET_OUT_OF_RANGE`).
        """
        try:
            return once_known(lambda: self._read_once(shards, since))
        except KafkaException as problem:
            if problem.args[0].code() not in MISSING:
                raise
            raise KafkaException(KafkaError(KafkaError.OFFSET_OUT_OF_RANGE, f"{self.name} is gone")) from None

    def _read_once(self, shards: Sequence[int] | None, since: Mapping[int, int]) -> "Reading":
        of = range(self._partitions(self._topics_with(self.name))) if shards is None else shards
        ends = dict(since)
        latest: dict[bytes | str | None, Message] = {}  # what compaction has not dropped yet is not looked at
        for message in records(self.servers, self.options, self.name, of, since=since, ends=ends):
            latest.pop(message.key(), None)
            if message.value() is not None:
                latest[message.key()] = message
        read = map(self._read, latest.values())
        return Reading(tuple(entry for entry in read if entry is not None), ends)

    def _read(self, message: Message) -> LedgerEntry | None:
        """The entry in a record; None of one with another key than ours: entries are found by their keys.

        KafkaException of one with a key of ours that is no entry, or of one in a format that is not known, whatever its key (R30): whether that
        batch is published cannot be told.
        """
        written = message.value()
        if written is None:
            return None
        at = f"record at offset {message.offset()} of {self.name}, partition {message.partition()},"
        try:
            return entry_in(message.key(), written, f"The {at}")
        except ValueError:
            raise KafkaException(KafkaError(KafkaError._BAD_MSG, f"the {at} has the key of an entry and is none")) from None
        except UnknownFormat as problem:
            raise KafkaException(KafkaError(UNKNOWN_FORMAT, problem.message)) from None


@dataclass(frozen=True)
class Reading:
    """Entries that are not dropped, in the order they were written, and by shard the offset after the last record."""

    entries: tuple[LedgerEntry, ...]
    ends: Mapping[int, int]


@dataclass
class Remembered:
    """What this driver has read of a ledger, so that a look costs the same however long it has become.

    Below the position that it was read to nothing is added any more: a reader with read_committed stops before the first transaction that
    is open, and offsets only grow. What is after it is read at each look, by a publisher after its fence (R6). A new process begins at
    the start. Of other jobs and incarnations the newest entry is kept, of our own those of `ledgers.KEPT` batches.
    """

    ledger: Ledger
    is_mine: Callable[[LedgerEntry], bool]
    ends: dict[int, int] = field(default_factory=dict)
    other: LedgerEntry | None = None
    written: dict[int, LedgerEntry] = field(default_factory=dict)
    """By shard, the entry that this driver has written last."""
    _mine: dict[tuple[int, int], LedgerEntry] = field(default_factory=dict)
    _newest: dict[int, int] = field(default_factory=dict)

    def look(self) -> None:
        """Reads what is new in every shard."""
        self.learn(self.ledger.read(None, self.ends))

    def learn(self, reading: Reading) -> None:
        for entry in reading.entries:
            if self.is_mine(entry):
                self._mine[entry.batch, entry.shard] = entry
                self._newest[entry.shard] = max(entry.batch, self._newest.get(entry.shard, 0))
            else:
                self.other = entry
        self.ends.update(reading.ends)

    def entry(self, batch: int, shard: int) -> LedgerEntry | None:
        return self._mine.get((batch, shard))

    def expected(self, shard: int) -> LedgerEntry | None:
        """The entry that this driver has written last and not read since: it must be among what is new."""
        last = self.written.get(shard)
        return None if last is None or self.entry(last.batch, shard) is not None else last

    def lost(self) -> list[LedgerEntry]:
        """What this driver has written last, by shard, and did not find when it looked."""
        return [entry for shard in self.written if (entry := self.expected(shard)) is not None]

    def of_batch(self, batch: int) -> list[LedgerEntry]:
        return [entry for (number, _), entry in sorted(self._mine.items()) if number == batch]

    def newest(self) -> LedgerEntry | None:
        """The entry of our newest batch, else the one of the others that was written last."""
        return max(self._mine.values(), key=lambda entry: entry.batch, default=self.other)

    def overtaking(self, batch: int, shard: int) -> int | None:
        """The newest batch of a shard, where it is later than this one, and this one has no entry, or none any more."""
        newest = self._newest.get(shard, -1)
        return newest if newest > batch and self.entry(batch, shard) is None else None

    def outdated(self, batch: int, shard: int) -> list[LedgerEntry]:
        """The entries of a shard that need not be kept once a batch is published, oldest first; not too many at once."""
        old = [entry for (number, of), entry in self._mine.items() if of == shard and batch - number >= ledgers.KEPT]
        return sorted(old, key=lambda entry: entry.batch)[: ledgers.AT_ONCE]

    def forget(self, entries: Iterable[LedgerEntry]) -> None:
        for entry in entries:
            self._mine.pop((entry.batch, entry.shard), None)


def entry_in(key: bytes | str | None, written: bytes, where: str) -> LedgerEntry | None:
    """The entry that a record of a ledger holds; None where it is somebody else's.

    Raises
    ------
    ValueError
        If it has the key of an entry, and holds none.
    UnknownFormat
        If it names a format that this version does not know: another version may find its records by other keys.
    """
    if _is_ours(key):
        return LedgerEntry.from_json(written.decode(), where=where)
    number = number_in(written.decode(errors="replace"))
    if number is not None:
        LEDGER_ENTRY.require_known(number, where)
    return None


def _is_ours(key: bytes | str | None) -> bool:
    """Whether a key is one that `key_of` makes."""
    try:
        found = json.loads(key or b"")
    except ValueError:
        return False
    return isinstance(found, list) and [type(part) for part in found] == [str, str, str, int, int]


def key_of(entry: LedgerEntry) -> str:
    """What makes a later record of the same publication take the place of the earlier one."""
    return json.dumps([entry.job, entry.output, entry.incarnation, entry.batch, entry.shard])
