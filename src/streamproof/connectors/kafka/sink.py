"""A topic of Kafka, exactly once: each shard of a batch one transaction, with its ledger record (R6, R7)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof import _jvm
from streamproof.config.registry import FORMATS as REGISTRY_FORMATS
from streamproof.connectors.extras import library
from streamproof.connectors.json_records import WRITTEN
from streamproof.connectors.kafka.client import Said, sink_error
from streamproof.connectors.kafka.ledger import Ledger
from streamproof.connectors.kafka.source import refused
from streamproof.connectors.kafka.transactions import RESULT, Shard
from streamproof.connectors.keys import require_key
from streamproof.connectors.sink import Sink, SinkPlace, entry_of, for_each_shard, gone, require_whole, same_manifest
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import ConfigurationError
from streamproof.stream.plan import HIDDEN

if TYPE_CHECKING:
    from streamproof.config import KafkaSink
    from streamproof.connectors.registry.values import Values


class _Topic(Sink):
    """What both ways of writing a topic share."""

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

            shown = StructType([column for column in columns.fields if column.name not in HIDDEN])
            self._values = settled(self.place.spark, self.place.output, self._config, shown)

    def encoded(self, rows: DataFrame) -> DataFrame:
        """`key` and `value` (binary), and the hidden columns of proofs, each as binary under its name."""
        headers = [name for name in rows.columns if name in HIDDEN]
        visible = [name for name in rows.columns if name not in headers]
        key: Column = F.lit(None)
        if self._config.key:
            key = F.concat_ws("|", *[F.col(name).cast("string") for name in self._config.key])
        row = F.struct(*visible)
        value = F.to_json(row, WRITTEN).cast("binary") if self._values is None else self._values.value(row)
        if self._config.tombstone:
            value = F.when(~F.coalesce(F.expr(self._config.tombstone), F.lit(False)), value)
        own = [F.col(name).cast("string").cast("binary").alias(name) for name in headers]
        records = rows.select(key.cast("binary").alias("key"), value.alias("value"), *own)
        return records if self._values is None else self._values.finished(records)

    def clear(self) -> None:
        raise ConfigurationError(
            f"--replace-output cannot empty the topic {self.place.where}: others may have read it.",
            remedy=f"Bind [sink.{self.place.output}] to another topic, or delete this one together with its ledger, {self._config.topic}-streamproof-ledger.",
        )


class TopicSink(_Topic):
    """Writes rows in their format, the hidden columns of proofs as headers; `<topic>-streamproof-ledger` says what is published."""

    guarantee = "exactly once for readers with read_committed (each batch one transaction, with its ledger record)"
    may_lag = True

    def __init__(self, place: SinkPlace, config: "KafkaSink") -> None:
        super().__init__(place, config)
        self.shards = config.shards
        self._has_ledger = False
        self._ledger = Ledger(config.servers, config.topic, config.options)

    def require(self, columns: StructType) -> None:
        require_key(self.place, self._config.key, columns)
        with self._answers():
            self._require_ledger()

    def published(self, batch: int) -> LedgerEntry | None:
        return next((entry for entry in self._entries() if self._is_mine(entry) and entry.batch == batch), None)

    def complete(self, manifest: Manifest, section: Section) -> bool:
        batch = manifest.batch
        return {entry.shard for entry in self._entries() if self._is_mine(entry) and entry.batch == batch} >= set(
            range(section.shards)
        )

    def owner(self) -> LedgerEntry | None:
        found = self._entries()
        return next((entry for entry in found if self._is_mine(entry)), found[-1] if found else None)

    def publish(self, manifest: Manifest, section: Section) -> None:
        if not self.staged_whole(section):
            if self.complete(manifest, section):
                return
            raise gone(manifest, section)
        for_each_shard(section, lambda number: self._publish(manifest, section, number))

    def _publish(self, manifest: Manifest, section: Section, number: int) -> None:
        """One shard, by one task."""
        rows = self.place.staged_rows(section, number)
        headers = tuple(rows.columns[2:])
        entry = replace(entry_of(manifest, section), shard=number)
        count = section.digest.rows if section.shards == 1 else rows.count()
        shown = tuple(f"streamproof{name}" for name in headers)
        shard = Shard(self._ledger, entry, section.shards, count, shown, self.place.steps)
        (said,) = rows.coalesce(1).mapInArrow(shard.publish, RESULT).collect()
        if said["message"] is not None:
            raise sink_error(Said(said["code"], said["message"]), self.place.where)
        if said["manifest"] is None:
            require_whole(self.place, said["rows"], count)
        same_manifest(replace(entry, manifest=said["manifest"]), manifest, section)

    def _is_mine(self, entry: LedgerEntry) -> bool:
        return (entry.job, entry.output, entry.incarnation) == (self.place.job, self.place.output, self.place.incarnation)

    def _require_ledger(self) -> None:
        if not self._has_ledger:
            self._ledger.require(self.shards)
            self._has_ledger = True

    def _entries(self) -> list[LedgerEntry]:
        with self._answers():
            self._require_ledger()
            return self._ledger.all_entries()

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
        for topic, found in _jvm.kafka_partitions(self.place.spark, settings, [self._config.topic]).items():
            if isinstance(found, str):
                raise refused(f"[sink.{self.place.output}]", topic, self._config.servers, found)

    def published(self, batch: int) -> LedgerEntry | None:
        """None: there is no ledger."""
        return None

    def complete(self, manifest: Manifest, section: Section) -> bool:
        """True: Spark commits a batch behind its publication."""
        return True

    def publish(self, manifest: Manifest, section: Section) -> None:
        records = self.place.staged_rows(section)
        headers = records.columns[2:]
        if headers:
            pairs = [F.struct(F.lit(f"streamproof{name}").alias("key"), F.col(name).alias("value")) for name in headers]
            records = records.withColumn("headers", F.array(*pairs)).drop(*headers)
        own = {f"kafka.{key}": value for key, value in {"acks": "all", **self._config.options}.items()}
        to = {**own, "kafka.bootstrap.servers": self._config.servers, "topic": self._config.topic}
        self.place.steps.before(self.place.output, manifest.batch)
        try:
            records.write.format("kafka").options(**to).save()
        except Exception as problem:  # what Spark raises over a task has no common type
            raise refused(
                f"[sink.{self.place.output}]", self._config.topic, self._config.servers, _jvm.causes_of(problem)[-1]
            ) from problem
        self.place.steps.after(self.place.output, manifest.batch)
        self.abort(section.directory)
