"""One shard of a batch in one transaction, in a task: the ledger row first, then the rows by COPY (R6)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql

from streamproof.connectors.answers import answer
from streamproof.connectors.ledgers import AT_ONCE, KEPT, behind
from streamproof.connectors.postgres.database import (
    DISCARDED,
    NO_KEY,
    OVERTAKEN,
    SWALLOWED,
    UNKNOWN_FORMAT,
    WENT_BACK,
    Said,
    identifier,
    opened,
)
from streamproof.connectors.postgres.facts import Facts
from streamproof.connectors.postgres.lines import DELETE, text_of
from streamproof.connectors.steps import Steps
from streamproof.core.manifest import LEDGER_ENTRY, LedgerEntry
from streamproof.errors import UnknownFormat

ENTRY = ("job", "output", "incarnation", "batch", "shard", "manifest", "fingerprint", "rows", "hash", "shards")
FENCED = "streamproof_fenced"
"""The table of manifests that were discarded: none of them is published any more."""
RESULT = "entry string, rows bigint, sqlstate string, message string, constraint string, column string"
_FIELDS: list[Any] = [
    ("entry", pa.string()),
    ("rows", pa.int64()),
    *((name, pa.string()) for name in ("sqlstate", "message", "constraint", "column")),
]
_KEY = ENTRY[:5]
_STAGE = sql.Identifier("streamproof_staged")


@dataclass(frozen=True)
class Upsert:
    """How rows take the place of others; without a key they are inserted.

    Parameters
    ----------
    order_by
        Where a batch has several rows of a key, the column whose greatest value stays.
    deletes
        Whether rows have `_delete` (boolean).
    facts
        How rows are held against those of earlier batches, where the sink names a version.
    """

    key: tuple[str, ...] = ()
    order_by: str | None = None
    deletes: bool = False
    facts: Facts | None = None

    @property
    def not_null(self) -> tuple[str, ...]:
        """The columns that every row has a value in."""
        return (*self.key, self.facts.version) if self.facts else self.key


@dataclass(frozen=True)
class Shard:
    """What a task needs to publish one shard of a batch.

    Parameters
    ----------
    table, ledger, fenced
        Names, with their schema where they have one.
    entry
        Its ledger entry.
    of
        How many shards the batch has.
    rows
        How many rows the shard has.
    columns
        The columns of the table, as the lines have them; after them `_delete` if the upsert deletes.
    before
        The batch that was published before this one, where that is known: the ledger must have all its shards still.
    kept
        So many batches stay in the ledger.
    """

    url: str
    table: str
    ledger: str
    fenced: str
    entry: LedgerEntry
    of: int
    rows: int
    columns: tuple[str, ...]
    upsert: Upsert
    steps: Steps
    before: int | None = None
    kept: int = KEPT

    def publish(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Publishes; gives the entry that the shard has in the ledger, or what PostgreSQL said."""
        row: dict[str, Any] = {name: None for name, _ in _FIELDS}
        try:
            with opened(self.url) as connection:
                entry, row["rows"] = self._published(connection, batches)
            row["entry"] = entry.to_json() if entry is not None else None
        except UnknownFormat as problem:
            row.update(sqlstate=UNKNOWN_FORMAT, message=problem.message)
        except Discarded:
            row.update(sqlstate=DISCARDED, message="its manifest was discarded")
        except Overtaken as newer:
            row.update(sqlstate=OVERTAKEN, message=behind(self.entry.batch, newer.batch))
        except WentBack:
            row.update(sqlstate=WENT_BACK, message=f"batch {self.before}")
        except NoKey as missing:
            row.update(sqlstate=NO_KEY, message="a key column is null", column=missing.column)
        except Swallowed as some:
            row.update(sqlstate=SWALLOWED, message=str(some))
        except psycopg.Error as problem:
            row.update(vars(Said.by(problem)))
        yield answer([row], _FIELDS)

    def _published(self, connection: psycopg.Connection, batches: Iterator[pa.RecordBatch]) -> tuple[LedgerEntry | None, int]:
        known = self._claim(connection)
        if known is not None:
            return known, 0
        self._require_newest(connection)
        self._require_the_one_before(connection)
        self._prune(connection)
        rows = self._upserted(connection, batches) if self.upsert.key else self._copied(connection, identifier(self.table), batches)
        if rows != self.rows:
            connection.rollback()
            return None, rows
        kind = self.entry.output if self.of == 1 else f"{self.entry.output}.{self.entry.shard}"
        self.steps.before(kind, self.entry.batch)
        connection.commit()
        self.steps.after(kind, self.entry.batch)
        return self.entry, rows

    def _claim(self, connection: psycopg.Connection) -> LedgerEntry | None:
        """Inserts the ledger row; the entry of the shard where one is there. Waits for a transaction under way, and for who discards."""
        lock(connection, self.entry)
        columns, ledger = _listed((*ENTRY, "target")), identifier(self.ledger)
        claim = sql.SQL(
            "INSERT INTO {} ({}) SELECT {} WHERE NOT EXISTS (SELECT FROM {} WHERE manifest = %s) ON CONFLICT DO NOTHING"
        ).format(ledger, columns, sql.SQL(", ").join(sql.Placeholder() * (len(ENTRY) + 1)), identifier(self.fenced))
        values = [getattr(self.entry, name) for name in ENTRY]
        if connection.execute(claim, (*values, self.table, self.entry.manifest)).rowcount:
            return None
        mine = sql.SQL(" AND ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in _KEY)
        found = connection.execute(select_entries(ledger, mine), values[: len(_KEY)]).fetchone()
        if found is None:
            connection.rollback()
            raise Discarded
        return entry_in(found, self.ledger)

    def _require_newest(self, connection: psycopg.Connection) -> None:
        """Overtaken if a later batch is published: this one was too, and its entry is no longer kept."""
        look = sql.SQL("SELECT max(batch) FROM {} WHERE {}").format(identifier(self.ledger), self._mine)
        (newest,) = connection.execute(look, self._whose).fetchone() or (None,)
        if newest is not None and newest > self.entry.batch:
            connection.rollback()
            raise Overtaken(newest)

    def _prune(self, connection: psycopg.Connection) -> None:
        """Drops entries that no rule asks for any more; the batch before stays: other shards look for it, and drop the same."""
        end = min(self.entry.batch - self.kept + 1, self.entry.batch if self.before is None else self.before)
        old = sql.SQL(
            "DELETE FROM {0} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {0} WHERE {1} AND batch < %s ORDER BY batch LIMIT %s FOR UPDATE SKIP LOCKED))"
        )
        connection.execute(old.format(identifier(self.ledger), self._mine), (*self._whose, end, AT_ONCE))

    @property
    def _whose(self) -> tuple[str, ...]:
        return self.entry.job, self.entry.output, self.entry.incarnation, self.table

    @property
    def _mine(self) -> sql.Composed:
        names = (*ENTRY[:3], "target")
        return sql.SQL(" AND ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in names)

    def _require_the_one_before(self, connection: psycopg.Connection) -> None:
        """WentBack if the database has lost a part of what was committed there. After the claim: a pooler asks the primary server then."""
        if self.before is None:
            return
        mine = sql.SQL(" AND ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in _KEY[:4])
        look = sql.SQL("SELECT count(*) >= max(shards) FROM {} WHERE {}").format(identifier(self.ledger), mine)
        values = (self.entry.job, self.entry.output, self.entry.incarnation, self.before)
        if connection.execute(look, values).fetchone() != (True,):
            connection.rollback()
            raise WentBack

    def _copied(self, connection: psycopg.Connection, into: sql.Identifier, batches: Iterator[pa.RecordBatch]) -> int:
        """How many rows were sent; Swallowed if the table has taken fewer."""
        columns = (*self.columns, DELETE) if self.upsert.deletes else self.columns
        rows, cursor = 0, connection.cursor()
        with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(into, _listed(columns))) as copy:
            for batch in batches:
                copy.write(text_of(batch))
                rows += batch.num_rows
        _require("wrote", cursor.rowcount, rows)
        return rows

    def _upserted(self, connection: psycopg.Connection, batches: Iterator[pa.RecordBatch]) -> int:
        """Copies to a table that goes with the transaction, and from there row by key."""
        table, names = identifier(self.table), _listed(self.columns)
        like = sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA")
        connection.execute(like.format(_STAGE, names, table))
        changes = [sql.SQL("ALTER {} SET NOT NULL").format(sql.Identifier(name)) for name in self.upsert.not_null]
        if self.upsert.deletes:
            changes.append(sql.SQL("ADD {} boolean").format(sql.Identifier(DELETE)))
        connection.execute(sql.SQL("ALTER TABLE {} {}").format(_STAGE, sql.SQL(", ").join(changes)))
        rows = self._copied_with_keys(connection, batches)
        if self.upsert.facts:
            connection.execute(self.upsert.facts.only_greatest(_STAGE))
            connection.execute(self.upsert.facts.write(table, _STAGE))
            (missing,) = connection.execute(self.upsert.facts.missing(table, _STAGE)).fetchone() or (0,)
            _require("wrote", rows - missing, rows)
            return rows
        kept = rows
        if self.upsert.order_by:
            kept -= connection.execute(_only_newest(self.upsert.key, self.upsert.order_by)).rowcount
        elif self.upsert.deletes:
            self._require_one_of_each_key(connection)
        into = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(table, names, names, _STAGE)
        if self.upsert.deletes:
            kept -= self._deleted(connection, table)
            into = sql.SQL("{} WHERE {} IS NOT TRUE").format(into, sql.Identifier(DELETE))
        written = connection.execute(sql.SQL("{} {}").format(into, _on_conflict(self.columns, self.upsert.key))).rowcount
        if set(self.columns) == set(self.upsert.key):  # rows that are there already are left alone, and not counted
            written = self._count(
                connection, sql.SQL("{} IS NOT TRUE AND EXISTS ({})" if self.upsert.deletes else "EXISTS ({1})"), table
            )
        _require("wrote", written, kept)
        return rows

    def _deleted(self, connection: psycopg.Connection, table: sql.Identifier) -> int:
        """How many staged rows delete their key; Swallowed if one of these keys is still there."""
        connection.execute(_delete(table, self.upsert.key))
        (of,) = connection.execute(
            sql.SQL("SELECT count(*) FROM {} WHERE {}").format(_STAGE, sql.Identifier(DELETE))
        ).fetchone() or (0,)
        left = self._count(connection, sql.SQL("{} AND EXISTS ({})"), table)
        _require("deleted", of - left, of)
        return int(of)

    def _count(self, connection: psycopg.Connection, condition: sql.SQL, table: sql.Identifier) -> int:
        """How many staged rows a condition holds of: over the column of those that delete, and a query for the key's row in the table."""
        same = sql.SQL("SELECT FROM {} t WHERE {}").format(table, _same(self.upsert.key))
        holds = condition.format(sql.Identifier(DELETE), same)
        (found,) = connection.execute(sql.SQL("SELECT count(*) FROM {} s WHERE {}").format(_STAGE, holds)).fetchone() or (0,)
        return int(found)

    def _copied_with_keys(self, connection: psycopg.Connection, batches: Iterator[pa.RecordBatch]) -> int:
        """NoKey if a row has a null in its key: an index takes it for another row each time, so that it would be inserted again."""
        try:
            return self._copied(connection, _STAGE, batches)
        except psycopg.errors.NotNullViolation as problem:
            connection.rollback()
            raise NoKey(problem.diag.column_name or "") from None

    def _require_one_of_each_key(self, connection: psycopg.Connection) -> None:
        """Refuses several rows of one key in a batch, as PostgreSQL does for upserts; also a delete beside a write, since nobody knows which came last."""
        key = sql.SQL(", ").join(map(sql.Identifier, self.upsert.key))
        several = sql.SQL("SELECT FROM {} GROUP BY {} HAVING count(*) > 1 LIMIT 1").format(_STAGE, key)
        if connection.execute(several).fetchone() is not None:
            raise psycopg.errors.CardinalityViolation("several rows of one key")


def select_entries(ledger: sql.Identifier, condition: sql.Composable) -> sql.Composed:
    """Asks for rows of the ledger as `entry_in` takes them."""
    return sql.SQL("SELECT {}, format FROM {} WHERE {}").format(_listed(ENTRY), ledger, condition)


def entry_in(row: Sequence[Any], ledger: str) -> LedgerEntry:
    """The entry that a row holds, with the columns of `ENTRY` and the format; UnknownFormat if that is not known (R30)."""
    *values, number = row
    found = dict(zip(ENTRY, values, strict=True))
    where = f"The row of batch {found['batch']} of {found['output']} in the table {ledger}"
    LEDGER_ENTRY.require_known(number, where)
    return LedgerEntry(**{**found, "hash": int(found["hash"])})


class Discarded(Exception):
    """The manifest that is to be published was discarded by a driver that came later (R4)."""


class Overtaken(Exception):
    """A later batch is published: who publishes this one has slept through it (R7)."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        super().__init__(batch)


class WentBack(Exception):
    """The ledger does not know any more what it has known."""


class Swallowed(Exception):
    """The table has taken fewer rows than it was given, without an error."""


class NoKey(Exception):
    """A row has a null in a column of its key, or in its version."""

    def __init__(self, column: str) -> None:
        self.column = column
        super().__init__(column)


def lock(connection: psycopg.Connection, entry: LedgerEntry) -> None:
    """Lets one transaction at a time decide about a shard, to its end: who publishes it, and who discards its manifest."""
    of = json.dumps([getattr(entry, name) for name in _KEY])
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (of,))


def _require(did: str, rows: int, of: int) -> None:
    """Swallowed unless PostgreSQL itself has counted all of the rows."""
    if rows != of:
        raise Swallowed(f"{did} {rows} of {of} rows")


def _listed(names: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _on_conflict(columns: tuple[str, ...], key: tuple[str, ...]) -> sql.Composed:
    others = [name for name in columns if name not in key]
    sets = sql.SQL(", ").join(sql.SQL("{} = EXCLUDED.{}").format(sql.Identifier(name), sql.Identifier(name)) for name in others)
    does = sql.SQL("UPDATE SET {}").format(sets) if others else sql.SQL("NOTHING")
    return sql.SQL("ON CONFLICT ({}) DO {}").format(_listed(key), does)


def _only_newest(key: tuple[str, ...], order_by: str) -> sql.Composed:
    """Leaves of each key the row with the greatest value."""
    return sql.SQL(
        "DELETE FROM {staged} WHERE ctid IN (SELECT ctid FROM (SELECT ctid, row_number() OVER (PARTITION BY {key} ORDER BY {order} DESC NULLS LAST)"
        " AS n FROM {staged}) numbered WHERE n > 1)"
    ).format(staged=_STAGE, key=_listed(key), order=sql.Identifier(order_by))


def _delete(table: sql.Identifier, key: tuple[str, ...]) -> sql.Composed:
    return sql.SQL("DELETE FROM {} t USING {} s WHERE s.{} AND {}").format(table, _STAGE, sql.Identifier(DELETE), _same(key))


def _same(key: tuple[str, ...]) -> sql.Composed:
    """Whether a row of the table, t, has the key of a staged one, s."""
    return sql.SQL(" AND ").join(sql.SQL("t.{} = s.{}").format(sql.Identifier(name), sql.Identifier(name)) for name in key)
