"""A table of PostgreSQL, exactly once: each shard of a batch one transaction, with its ledger entry (R6, R7)."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    IntegralType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from streamproof.connectors import ledgers
from streamproof.connectors.postgres import tables
from streamproof.connectors.postgres.database import LEDGER, Said, connected, identifier, sink_error, where_of
from streamproof.connectors.postgres.facts import Facts
from streamproof.connectors.postgres.lines import columns_of, lines
from streamproof.connectors.postgres.transactions import FENCED, RESULT, Shard, Upsert, entry_in, lock, select_entries
from streamproof.connectors.sink import (
    LaggingSink,
    SinkPlace,
    entry_of,
    for_each_shard,
    gone,
    require_whole,
    rows_of,
    same_publication,
    stands,
)
from streamproof.core.manifest import LEDGER_ENTRY, LedgerEntry, Manifest, Section
from streamproof.errors import ConfigurationError, SinkError

if TYPE_CHECKING:
    from streamproof.config import PostgresSink

_MAKE_LEDGER = f"""
CREATE TABLE IF NOT EXISTS {{}} (
  job text, output text, incarnation text, batch bigint, shard int, target text NOT NULL, manifest text NOT NULL,
  fingerprint text NOT NULL, rows bigint NOT NULL, hash numeric NOT NULL, shards int NOT NULL,
  format int NOT NULL DEFAULT {LEDGER_ENTRY.written}, published timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (job, output, incarnation, batch, shard))
"""
_MAKE_FENCED = "CREATE TABLE IF NOT EXISTS {} (manifest text PRIMARY KEY, discarded timestamptz NOT NULL DEFAULT now())"
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('streamproof'))"


class TableSink(LaggingSink):
    """Inserts, upserts or deletes rows of a table; `streamproof_ledger` beside it says what is published."""

    guarantee = "exactly once (each batch one transaction, with its ledger entry)"

    def __init__(self, place: SinkPlace, config: "PostgresSink") -> None:
        super().__init__(place)
        self._config = config
        schema, dot, _ = config.table.rpartition(".")
        self._beside = f"{schema}{dot}"
        self._ledger = identifier(f"{self._beside}{LEDGER}")
        self._fenced = identifier(f"{self._beside}{FENCED}")
        self._has_ledger = False
        self._last: int | None = None  # the newest batch that is known to be published
        self.shards = config.shards

    @staticmethod
    def where(config: "PostgresSink") -> str:
        """What the store is called."""
        return where_of(config.url, config.table)

    # -- before the first batch

    def require(self, columns: StructType) -> None:
        with self._connected() as connection:
            if not tables.exists(connection, self._config.table):
                made = tables.declared(columns, self._config.table, self._config.key)
                if not self._config.create:
                    raise SinkError(
                        f"{self.place.where} does not exist.",
                        remedy=f"Make it: {made.as_string(connection)}; or set create = true.",
                    )
                connection.execute(_ONE_AT_A_TIME)
                if not tables.exists(connection, self._config.table):
                    connection.execute(made)
            key = self._config.key if self._config.mode == "upsert" else ()
            tables.require_fit(connection, self.place.where, self._config.table, columns, key)
        if self._config.version:
            require_versions(self.place, columns, self._config.version, self._config.deleted)

    # -- the ledger

    def published(self, batch: int) -> LedgerEntry | None:
        return next(iter(self.entries(batch)), None)

    def entries(self, batch: int) -> Sequence[LedgerEntry]:
        with self._connected() as connection:
            self._require_ledger(connection)
            return self._of_batch(connection, batch)

    def owner(self) -> LedgerEntry | None:
        mine = "job = %s AND output = %s AND incarnation = %s AND target = %s ORDER BY batch DESC LIMIT 1"
        with self._connected() as connection:
            self._require_ledger(connection)
            newest = self._found(connection, mine, (*self._whose, self._config.table))
            newest = newest or self._found(connection, "target = %s ORDER BY batch DESC LIMIT 1", (self._config.table,))
            found = next(iter(newest), None)
        if found is not None and found.incarnation == self.place.incarnation and self._last is None:
            self._last = found.batch
        return found

    def fence(self, manifest: Manifest, section: Section) -> None:
        """Waits until nobody publishes the batch. If it is not published then, writes down that its manifest is discarded."""
        with self._connected() as connection:
            self._require_ledger(connection)
            for number in range(section.shards):
                lock(connection, replace(entry_of(manifest, section), shard=number))
            if not self._of_batch(connection, manifest.batch):
                mark = sql.SQL("INSERT INTO {} (manifest) VALUES (%s) ON CONFLICT DO NOTHING").format(self._fenced)
                connection.execute(mark, (manifest.id,))

    def unfence(self, manifest: Manifest) -> None:
        with self._connected() as connection:
            self._require_ledger(connection)
            connection.execute(sql.SQL("DELETE FROM {} WHERE manifest = %s").format(self._fenced), (manifest.id,))

    @property
    def _whose(self) -> tuple[str, str, str]:
        return self.place.job, self.place.output, self.place.incarnation

    def _of_batch(self, connection: psycopg.Connection, batch: int) -> Sequence[LedgerEntry]:
        mine = "job = %s AND output = %s AND incarnation = %s AND target = %s AND batch = %s ORDER BY shard"
        return self._found(connection, mine, (*self._whose, self._config.table, batch))

    def _found(self, connection: psycopg.Connection, condition: str, values: tuple[object, ...]) -> Sequence[LedgerEntry]:
        query = select_entries(self._ledger, sql.SQL(condition))
        ledger = f"{self._beside}{LEDGER} beside {self.place.where}"
        return [entry_in(row, ledger) for row in connection.execute(query, values).fetchall()]

    def _require_ledger(self, connection: psycopg.Connection) -> None:
        if not self._has_ledger:
            self._has_ledger = tables.exists(connection, f"{self._beside}{FENCED}")  # which is made last
        if not self._has_ledger:  # nor is it known to be there before the commit
            connection.execute(_ONE_AT_A_TIME)
            connection.execute(sql.SQL(_MAKE_LEDGER).format(self._ledger))
            connection.execute(sql.SQL(_MAKE_FENCED).format(self._fenced))

    # -- publishing

    def encoded(self, rows: DataFrame) -> DataFrame:
        """The rows as lines of CSV: the task that publishes is the one that others wait for."""
        return lines(rows, self._config.delete)

    def publish(self, manifest: Manifest, section: Section) -> None:
        found, whole = self.entries(manifest.batch), self.staged_whole(section)
        if stands(found, manifest, section):
            self._last = manifest.batch
            return
        if found:  # before a part is published: which rows another manifest's parts hold is not known
            same_publication(found[0], manifest, section)
        if not whole:
            raise gone(manifest, section)
        for_each_shard(section, lambda number: self._publish(manifest, section, number))
        self._last = manifest.batch

    def _publish(self, manifest: Manifest, section: Section, number: int) -> None:
        """One shard, by one task."""
        rows = self.staged(section, number)
        columns = columns_of(rows)
        entry = replace(entry_of(manifest, section), shard=number)
        count = rows_of(section, number, rows)
        shard = Shard(
            url=self._config.url,
            table=self._config.table,
            ledger=f"{self._beside}{LEDGER}",
            fenced=f"{self._beside}{FENCED}",
            entry=entry,
            of=section.shards,
            rows=count,
            columns=columns.names,
            upsert=Upsert(
                self._config.key if self._config.mode == "upsert" else (),
                self._config.order_by,
                columns.deletes,
                self._facts(columns.names),
            ),
            steps=self.place.steps,
            before=self._last if self._last is not None and self._last < manifest.batch else None,
            kept=ledgers.KEPT,
        )
        (said,) = rows.coalesce(1).mapInArrow(shard.publish, RESULT).collect()
        if said["message"] is not None:
            raise sink_error(Said(said["sqlstate"], said["message"], said["constraint"], said["column"]), self.place.where)
        if said["entry"] is None:
            require_whole(self.place, said["rows"], count)
        same_publication(LedgerEntry.from_json(said["entry"]), manifest, section)

    def _facts(self, columns: tuple[str, ...]) -> Facts | None:
        if not self._config.version:
            return None
        return Facts(columns, self._config.key, self._config.version, self._config.deleted)

    def require_clearable(self) -> None:
        with self._connected() as connection:
            self._require_ledger(connection)

    def clear(self) -> None:
        with self._connected() as connection:
            self._require_ledger(connection)
            if tables.exists(connection, self._config.table):
                connection.execute(sql.SQL("DELETE FROM {}").format(identifier(self._config.table)))
            connection.execute(sql.SQL("DELETE FROM {} WHERE target = %s").format(self._ledger), (self._config.table,))
        super().clear()

    def _connected(self) -> AbstractContextManager[psycopg.Connection]:
        return connected(self._config.url, self.place.where)


_ORDERED = (IntegralType, DecimalType, DateType, TimestampType, TimestampNTZType)


def require_versions(place: SinkPlace, columns: StructType, version: str, deleted: str | None) -> None:
    """ConfigurationError if the output lacks the columns of its versions, or they are of types that do not say which fact is newer."""
    asked: list[tuple[str, str, tuple[type[DataType], ...], str]] = [
        (
            "version",
            version,
            _ORDERED,
            "a whole number, a decimal, a date or a timestamp: their order is the same in every database",
        )
    ]
    if deleted:
        asked.append(("deleted", deleted, (BooleanType,), "a boolean: true makes the row a tombstone"))
    for name, column, types, wanted in asked:
        if column not in columns.names:
            raise ConfigurationError(
                f'[sink.{place.output}] {name} = "{column}" is no column of the output.',
                required=f"The columns are {', '.join(columns.names)}.",
            )
        found = columns[column].dataType
        if not isinstance(found, types):
            raise ConfigurationError(
                f'[sink.{place.output}] {name} = "{column}" is of type {found.simpleString()}.',
                required=f"It has to be {wanted}.",
                remedy="Make such a column in the job with transform().",
            )
