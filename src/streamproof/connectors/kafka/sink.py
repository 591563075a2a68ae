"""A topic of Kafka, exactly once: each shard of a batch one transaction, with its ledger record (R6, R7)."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof import _jvm
from streamproof.config.registry import FORMATS as REGISTRY_FORMATS
from streamproof.connectors import carried
from streamproof.connectors.extras import library
from streamproof.connectors.json_records import WRITTEN
from streamproof.connectors.kafka.client import Said, sink_error
from streamproof.connectors.kafka.ledger import Ledger, Reading, Remembered, key_of
from streamproof.connectors.kafka.reading import refused, told
from streamproof.connectors.kafka.transactions import RESULT, Shard, fenced
from streamproof.connectors.keys import key_bytes, require_key
from streamproof.connectors.ledgers import behind, overtaken
from streamproof.connectors.sink import (
    LaggingSink,
    Sink,
    SinkPlace,
    entry_of,
    for_each_shard,
    gone,
    require_whole,
    rows_of,
    same_publication,
    stands,
)
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import ConfigurationError
from streamproof.stream.names import HIDDEN, quoted

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from streamproof.config import KafkaSink
    from streamproof.connectors.registry.values import Values


class _Topic(Sink):
    """What both ways of writing a topic share."""

    clearable = False

    def __init__(self, place: SinkPlace, config: "KafkaSink") -> None:
        super().__init__(place)
        self._config = config
        self._values: Values | None = None

    @staticmethod
    def where(config: "KafkaSink") -> str:
        """What the store is called."""
        return f"kafka://{config.servers}/{config.topic}"

    def settle(self, columns: StructType) -> None:
        if self._config.format in REGISTRY_FORMATS:
            library("httpx", "registry", f"The format {self._config.format}")
            from streamproof.connectors.registry.values import settled

            shown = StructType([column for column in columns.fields if not _is_header(column.name)])
            self._values = settled(self.place.spark, self.place.output, self._config, shown)

    def encoded(self, rows: DataFrame) -> DataFrame:
        """`key` and `value` (binary), and each column that is a header as binary under its name: the hidden ones of proofs, and carried ones."""
        headers = [name for name in rows.columns if _is_header(name)]
        visible = [name for name in rows.columns if name not in headers]
        row = F.struct(*map(quoted, visible))
        value = F.to_json(row, WRITTEN).cast("binary") if self._values is None else self._values.value(row)
        if self._config.tombstone:
            value = F.when(~F.coalesce(F.expr(self._config.tombstone), F.lit(False)), value)
        own = [F.col(f"`{name}`").cast("string").cast("binary").alias(name) for name in headers]
        records = rows.select(key_bytes(rows, self._config.key).alias("key"), value.alias("value"), *own)
        return records if self._values is None else self._values.finished(records)

    def require_clearable(self) -> None:
        raise ConfigurationError(
            f"--replace-output cannot empty the topic {self.place.where}: others may have read it. No output is emptied.",
            remedy=f"Bind [sink.{self.place.output}] to another topic, or delete this one together with its ledger, {self._config.topic}-streamproof-ledger.",
        )

    def clear(self) -> None:
        self.require_clearable()
        super().clear()


class TopicSink(LaggingSink, _Topic):
    """Writes rows in their format, headers beside them; `<topic>-streamproof-ledger` says what is published."""

    guarantee = "exactly once for readers with read_committed (each batch one transaction, with its ledger record)"

    def __init__(self, place: SinkPlace, config: "KafkaSink") -> None:
        super().__init__(place, config)
        self.shards = config.shards
        self._has_ledger = False
        self._ledger = Ledger(config.servers, config.topic, config.options)
        self._known = Remembered(self._ledger, self._is_mine)
        self._lock = threading.Lock()

    def require(self, columns: StructType) -> None:
        require_key(self.place, self._config.key, columns)
        with self._answers():
            self._require_ledger()

    def published(self, batch: int) -> LedgerEntry | None:
        return next(iter(self.entries(batch)), None)

    def entries(self, batch: int) -> Sequence[LedgerEntry]:
        return self._look().of_batch(batch)

    def owner(self) -> LedgerEntry | None:
        return self._look().newest()

    def require_clearable(self) -> None:
        """A topic that nothing of ours is in needs not be emptied."""
        if self.owner() is not None:
            super().require_clearable()

    def fence(self, manifest: Manifest, section: Section) -> None:
        with self._answers():
            self._require_ledger()
            for number in range(section.shards):
                fenced(replace(entry_of(manifest, section), shard=number), self._ledger)

    def publish(self, manifest: Manifest, section: Section) -> None:
        whole = self.staged_whole(section)
        if self.shards > 1 or section.shards > 1 or not whole:  # else the task looks, which reads its own shard
            self._require_all(self._look())
        found = self._known.of_batch(manifest.batch)
        if stands(found, manifest, section):
            return
        if found:  # before a part is published: which rows another manifest's parts hold is not known
            same_publication(found[0], manifest, section)
        if not whole:
            raise gone(manifest, section)
        self._require_remembered(manifest.batch, section)
        for_each_shard(section, lambda number: self._publish(manifest, section, number))

    def _publish(self, manifest: Manifest, section: Section, number: int) -> None:
        """One shard, by one task."""
        known = self._known.entry(manifest.batch, number)
        if known is not None:  # the task reads after it only
            same_publication(known, manifest, section)
            return
        rows = self.staged(section, number)
        headers = tuple(rows.columns[2:])
        entry = replace(entry_of(manifest, section), shard=number)
        count = rows_of(section, number, rows)
        shown = tuple(map(_header_name, headers))
        with self._lock:  # other shards learn meanwhile
            outdated, expected = self._known.outdated(manifest.batch, number), self._known.expected(number)
        shard = Shard(
            self._ledger,
            entry,
            section.shards,
            count,
            shown,
            self.place.steps,
            since=self._known.ends.get(number, 0),
            expected=None if expected is None else key_of(expected),
            outdated=[key_of(old) for old in outdated],
        )
        (said,) = rows.coalesce(1).mapInArrow(shard.publish, RESULT).collect()
        if said["position"] is not None:
            with self._lock:
                self._known.learn(Reading(tuple(map(LedgerEntry.from_json, said["read"])), {number: said["position"]}))
        if said["message"] is not None:
            raise sink_error(Said(said["code"], said["message"]), self.place.where)
        if said["entry"] is None:
            require_whole(self.place, said["rows"], count)
        known = LedgerEntry.from_json(said["entry"])
        same_publication(known, manifest, section)
        with self._lock:
            self._known.written[number] = known
            self._known.forget(outdated)

    def _require_all(self, known: Remembered) -> None:
        """StoreEmptied where an entry that this driver has written is not in the ledger any more."""
        if lost := known.lost():
            raise sink_error(Said(KafkaError.OFFSET_OUT_OF_RANGE, f"the entry {key_of(lost[0])}"), self.place.where)

    def _require_remembered(self, batch: int, section: Section) -> None:
        """TwoDrivers where a later batch is published: this one was too, and its entry is no longer kept."""
        for shard in range(section.shards):
            newest = self._known.overtaking(batch, shard)
            if newest is not None:
                raise overtaken(self.place.where, behind(batch, newest))

    def _is_mine(self, entry: LedgerEntry) -> bool:
        return (entry.job, entry.output, entry.incarnation) == (self.place.job, self.place.output, self.place.incarnation)

    def _require_ledger(self) -> None:
        if not self._has_ledger:
            self._ledger.require(self.shards)
            self._has_ledger = True

    def _look(self) -> Remembered:
        with self._answers(), self._lock:
            self._require_ledger()
            self._known.look()
            return self._known

    @contextmanager
    def _answers(self) -> Iterator[None]:
        try:
            yield
        except KafkaException as problem:
            raise sink_error(Said.by(problem), self.place.where) from None


class PlainTopicSink(_Topic):
    """Writes by Spark's own sink: faster, and a batch that runs again after a crash is written again."""

    guarantee = "at least once (Spark's own Kafka sink: a batch that runs again is written again)"
    exactly_once = False

    def require(self, columns: StructType) -> None:
        require_key(self.place, self._config.key, columns)
        settings = {**self._config.options, "bootstrap.servers": self._config.servers}
        for topic, found in told(self.place.spark, settings, [self._config.topic]).items():
            if isinstance(found, str):
                raise refused(f"[sink.{self.place.output}]", topic, self._config.servers, found)

    def published(self, batch: int) -> LedgerEntry | None:
        """None: there is no ledger."""
        return None

    def complete(self, manifest: Manifest, section: Section) -> bool:
        """True: Spark commits a batch after its publication."""
        return True

    def publish(self, manifest: Manifest, section: Section) -> None:
        records = _with_headers(self.staged(section))
        self.place.steps.before(self.place.output, manifest.batch)
        try:
            records.write.format("kafka").options(**self._options).save()
        except Exception as problem:  # what Spark raises over a task has no common type
            raise refused(
                f"[sink.{self.place.output}]", self._config.topic, self._config.servers, _jvm.causes_of(problem)[-1]
            ) from problem
        self.place.steps.after(self.place.output, manifest.batch)
        self.abort(section.directory)

    def streamed(self, rows: DataFrame) -> "DataStreamWriter":
        """The writer of a stream whose rows go to the topic as they come (the real-time trigger)."""
        return _with_headers(self.encoded(rows)).writeStream.format("kafka").options(**self._options)

    @property
    def _options(self) -> dict[str, str]:
        own = {f"kafka.{key}": value for key, value in {"acks": "all", **self._config.options}.items()}
        return {**own, "kafka.bootstrap.servers": self._config.servers, "topic": self._config.topic}


def _with_headers(records: DataFrame) -> DataFrame:
    """Records as Spark's own sink takes them: the columns after `key` and `value` are one, `headers`; without a value they are left out."""
    names = records.columns[2:]
    if not names:
        return records
    pairs = [F.struct(F.lit(_header_name(name)).alias("key"), F.col(f"`{name}`").alias("value")) for name in names]
    has_value = F.filter(F.array(*pairs), lambda pair: pair["value"].isNotNull())
    return records.withColumn("headers", has_value).drop(*names)


def _is_header(column: str) -> bool:
    return column in HIDDEN or carried.is_carried(column)


def _header_name(column: str) -> str:
    return carried.header_of(column) if carried.is_carried(column) else f"streamproof{column}"
