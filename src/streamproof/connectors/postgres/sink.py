"""A table of PostgreSQL, exactly once: rows copied beside it by the tasks, then one transaction with the ledger entry (R6, R7)."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from pyspark.sql import functions as F

from streamproof.connectors.postgres import copying, tables
from streamproof.connectors.postgres.database import connected, identifier, where_of
from streamproof.connectors.sink import Sink, SinkPlace, entry_of, same_manifest
from streamproof.core.ids import new_id, short
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.errors import ConfigurationError, SinkError, SinkUnavailable, StagedRowsGone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from streamproof.config import PostgresSink

LEDGER = "streamproof_ledger"
_DELETE = "_delete"
_KEY_COLUMNS = "job, output, incarnation, batch, shard"
_COLUMNS = f"{_KEY_COLUMNS}, manifest, fingerprint, rows, hash"
_MAKE_LEDGER = """
CREATE TABLE IF NOT EXISTS {} (
  job text, output text, incarnation text, batch bigint, shard int, target text NOT NULL, manifest text NOT NULL,
  fingerprint text NOT NULL, rows bigint NOT NULL, hash numeric NOT NULL, published timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job, output, incarnation, batch, shard))
"""
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('streamproof'))"


class TableSink(Sink):
    """Inserts, upserts or deletes rows of a table; `streamproof_ledger` beside it says what is published."""

    guarantee = "exactly once (each batch one transaction, with its ledger entry)"
    may_lag = True

    def __init__(self, place: SinkPlace, config: "PostgresSink") -> None:
        super().__init__(place)
        self._config = config
        schema, dot, _ = config.table.rpartition(".")
        self._beside = f"{schema}{dot}"
        self._ledger = identifier(f"{self._beside}{LEDGER}")
        self._stages: dict[int, str] = {}
        self._has_ledger = False

    @staticmethod
    def where(config: "PostgresSink") -> str:
        """What the store is called."""
        return where_of(config.url, config.table)

    # -- before the first batch

    def require(self, columns: "StructType") -> None:
        if self._config.mode == "upsert" and not self._config.key:
            raise ConfigurationError(
                f'[sink.{self.place.output}] mode = "upsert" needs the key.',
                remedy='key = ["client", "window_start"], the table\'s primary key.',
            )
        if self._config.mode == "insert" and (self._config.delete or self._config.order_by):
            raise ConfigurationError(f'[sink.{self.place.output}] delete and order_by are for mode = "upsert".')
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

    # -- the ledger

    def published(self, batch: int) -> LedgerEntry | None:
        return self._entry("job = %s AND output = %s AND incarnation = %s AND batch = %s", (*self._whose, batch))

    def owner(self) -> LedgerEntry | None:
        """An entry of this table, one of this checkpoint's first."""
        order = "ORDER BY (job, output, incarnation) = (%s, %s, %s) DESC, published DESC"
        return self._entry(f"target = %s {order}", (self._config.table, *self._whose))

    @property
    def _whose(self) -> tuple[str, str, str]:
        return self.place.job, self.place.output, self.place.incarnation

    def _entry(self, condition: str, values: tuple[object, ...]) -> LedgerEntry | None:
        with self._connected() as connection:
            self._require_ledger(connection)
            return self._found(connection, condition, values)

    def _found(self, connection: psycopg.Connection, condition: str, values: tuple[object, ...]) -> LedgerEntry | None:
        query = sql.SQL("SELECT {} FROM {} WHERE {} LIMIT 1").format(sql.SQL(_COLUMNS), self._ledger, sql.SQL(condition))
        row = connection.execute(query, values).fetchone()
        if row is None:
            return None
        return LedgerEntry(**{**dict(zip(_COLUMNS.split(", "), row, strict=True)), "hash": int(row[-1])})

    def _require_ledger(self, connection: psycopg.Connection) -> None:
        if not self._has_ledger:
            if not tables.exists(connection, f"{self._beside}{LEDGER}"):
                connection.execute(_ONE_AT_A_TIME)
                connection.execute(sql.SQL(_MAKE_LEDGER).format(self._ledger))
            self._has_ledger = True

    # -- publishing

    def prepare(self, manifest: Manifest, section: Section) -> None:
        """Copies the staged rows beside the table, each try into a table of its own; what earlier tries have left goes."""
        if not self.staged_whole(section):
            if self.published(manifest.batch) is None:
                raise _gone(manifest, section)
            return
        begins = f"streamproof_{self.place.output[:24]}_{manifest.id[:12]}_"
        stage = f"{begins}{short(new_id())}"
        with self._connected() as connection:
            self._require_ledger(connection)
            if self._found(
                connection, "job = %s AND output = %s AND incarnation = %s AND batch = %s", (*self._whose, manifest.batch)
            ):
                return
            for left in self._left(connection, begins):
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(identifier(left)))
            rows = self._staged(section)
            columns = [name for name in rows.columns if name != _DELETE]
            like = sql.SQL("CREATE TABLE {} AS SELECT {} FROM {} WITH NO DATA").format(
                identifier(f"{self._beside}{stage}"), _listed(columns), identifier(self._config.table)
            )
            connection.execute(like)
            if _DELETE in rows.columns:
                connection.execute(
                    sql.SQL("ALTER TABLE {} ADD COLUMN {} boolean").format(
                        identifier(f"{self._beside}{stage}"), sql.Identifier(_DELETE)
                    )
                )
            connection.execute(sql.SQL("CREATE TABLE {} (part int PRIMARY KEY)").format(identifier(f"{self._beside}{stage}_parts")))
        copying.copy(rows, self._config.url, self.place.where, f"{self._beside}{stage}", f"{self._beside}{stage}_parts")
        self.place.steps.after(f"{self.place.output}.copied", manifest.batch)
        self._stages[manifest.batch] = f"{self._beside}{stage}"

    def publish(self, manifest: Manifest, section: Section) -> None:
        entry = entry_of(manifest, section)
        with self._connected() as connection:
            self._require_ledger(connection)
            values = sql.SQL(", ").join(sql.Placeholder() * 10)
            claim = sql.SQL("INSERT INTO {} ({}, target) VALUES ({}) ON CONFLICT DO NOTHING").format(
                self._ledger, sql.SQL(_COLUMNS), values
            )
            claimed = connection.execute(claim, (*_values(entry), self._config.table)).rowcount
            if not claimed:
                found = self._found(
                    connection,
                    "job = %s AND output = %s AND incarnation = %s AND batch = %s AND shard = %s",
                    (*self._whose, entry.batch, entry.shard),
                )
                assert found is not None, "what is in conflict is there"
                same_manifest(found, manifest, section)
                return
            stage = self._stages.get(manifest.batch)
            if stage is None:
                raise _gone(manifest, section)
            self._move(connection, stage, section)
            self.place.steps.before(self.place.output, manifest.batch)
        self.place.steps.after(self.place.output, manifest.batch)
        self._stages.pop(manifest.batch, None)

    def _move(self, connection: psycopg.Connection, stage: str, section: Section) -> None:
        """Moves the rows from where they were copied to into the table, and verifies their number."""
        staged = identifier(stage)
        count = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(staged)).fetchone()
        if count != (section.digest.rows,):
            raise SinkUnavailable(
                f"{self.place.where}: {count[0] if count else 0:,} of {section.digest.rows:,} rows were copied beside the table.",
                required="Nothing of the batch is published; it is copied again.",
            )
        rows = self._staged_names(section)
        key, table = self._config.key, identifier(self._config.table)
        into = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(table, _listed(rows), _listed(rows), staged)
        if self._config.mode == "insert":
            connection.execute(into)
        else:
            if self._config.order_by:
                connection.execute(_only_newest(staged, key, self._config.order_by))
            if self._config.delete:
                connection.execute(_deleted(table, staged, key))
                into = sql.SQL("{} WHERE {} IS NOT TRUE").format(into, sql.Identifier(_DELETE))
            connection.execute(sql.SQL("{} {}").format(into, _on_conflict(rows, key)))
        connection.execute(sql.SQL("DROP TABLE {}, {}").format(staged, identifier(f"{stage}_parts")))

    def _staged(self, section: Section) -> "DataFrame":
        rows = self.place.staged_rows(section)
        return rows.withColumn(_DELETE, F.expr(self._config.delete)) if self._config.delete else rows

    def _staged_names(self, section: Section) -> list[str]:
        return self.place.staged_rows(section).columns

    def clear(self) -> None:
        with self._connected() as connection:
            self._require_ledger(connection)
            if tables.exists(connection, self._config.table):
                connection.execute(sql.SQL("DELETE FROM {}").format(identifier(self._config.table)))
            connection.execute(sql.SQL("DELETE FROM {} WHERE target = %s").format(self._ledger), (self._config.table,))
        super().clear()

    def _left(self, connection: psycopg.Connection, begins: str) -> list[str]:
        """The tables that earlier tries of this publication have left."""
        schema = self._beside.rstrip(".")
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE starts_with(tablename, %s) AND schemaname = coalesce(nullif(%s, ''), current_schema())",
            (begins, schema),
        )
        return [f"{self._beside}{name}" for (name,) in found.fetchall()]

    def _connected(self) -> AbstractContextManager[psycopg.Connection]:
        return connected(self._config.url, self.place.where)


def _values(entry: LedgerEntry) -> tuple[object, ...]:
    return (
        entry.job,
        entry.output,
        entry.incarnation,
        entry.batch,
        entry.shard,
        entry.manifest,
        entry.fingerprint,
        entry.rows,
        entry.hash,
    )


def _listed(names: "list[str] | tuple[str, ...]") -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _on_conflict(columns: list[str], key: tuple[str, ...]) -> sql.Composed:
    others = [name for name in columns if name not in key]
    sets = sql.SQL(", ").join(sql.SQL("{} = EXCLUDED.{}").format(sql.Identifier(name), sql.Identifier(name)) for name in others)
    does = sql.SQL("UPDATE SET {}").format(sets) if others else sql.SQL("NOTHING")
    return sql.SQL("ON CONFLICT ({}) DO {}").format(_listed(key), does)


def _only_newest(staged: sql.Identifier, key: tuple[str, ...], order_by: str) -> sql.Composed:
    """Leaves of each key the row with the greatest value."""
    return sql.SQL(
        "DELETE FROM {staged} WHERE ctid IN (SELECT ctid FROM (SELECT ctid, row_number() OVER (PARTITION BY {key} ORDER BY {order} DESC NULLS LAST)"
        " AS n FROM {staged}) numbered WHERE n > 1)"
    ).format(staged=staged, key=_listed(key), order=sql.Identifier(order_by))


def _deleted(table: sql.Identifier, staged: sql.Identifier, key: tuple[str, ...]) -> sql.Composed:
    same = sql.SQL(" AND ").join(sql.SQL("t.{} = s.{}").format(sql.Identifier(name), sql.Identifier(name)) for name in key)
    return sql.SQL("DELETE FROM {} t USING {} s WHERE s.{} AND {}").format(table, staged, sql.Identifier(_DELETE), same)


def _gone(manifest: Manifest, section: Section) -> StagedRowsGone:
    return StagedRowsGone(
        f"Batch {manifest.batch} of {section.output} is not published, and its staged rows are not whole.",
        required="The manifest names them.",
        remedy=f"Run again with --replay-last: batch {manifest.batch} is computed again from its recorded input.",
    )
