"""Tables of PostgreSQL in a proof: a schema for each scenario."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from streamproof.config import PostgresSink, ServiceSink
from streamproof.connectors.postgres.database import LEDGER, identifier
from streamproof.connectors.postgres.transactions import ENTRY
from streamproof.core.manifest import LedgerEntry
from streamproof.prove.services.kind import Published, Reader

_ROWS = "SELECT to_jsonb(t) AS row, l.batch FROM {table} t LEFT JOIN {ledger} l ON l.xmin = t.xmin AND l.target = %s"
"""A row and the ledger entry of one transaction have the same xmin: which batch has published a row is not what it says of itself."""


class Tables(Reader):
    """Reads what a scenario has left in its tables."""

    def open(self, sink: ServiceSink) -> None:
        with self._connected(sink) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(_schema(sink))))

    def rows(self, sink: ServiceSink, types: Mapping[str, str]) -> Iterator[Published]:
        assert isinstance(sink, PostgresSink), "the reader of tables is asked about tables"
        with self._connected(sink) as connection:
            if not self._is_there(connection, sink.table):
                return
            query = sql.SQL(_ROWS).format(table=identifier(sink.table), ledger=identifier(_ledger(sink)))
            for row in connection.execute(query, (sink.table,)):
                yield Published(row["batch"], row["row"])

    def ledger(self, sink: ServiceSink, home: Path) -> Sequence[LedgerEntry]:
        assert isinstance(sink, PostgresSink), "the reader of tables is asked about tables"
        with self._connected(sink) as connection:
            if sink.mode == "upsert" or sink.shards > 1 or not self._is_there(connection, _ledger(sink)):
                return []
            query = sql.SQL("SELECT * FROM {} WHERE target = %s").format(identifier(_ledger(sink)))
            found = connection.execute(query, (sink.table,)).fetchall()
        return [LedgerEntry(**{**{name: row[name] for name in ENTRY}, "hash": int(row["hash"])}) for row in found]

    def close(self, sink: ServiceSink) -> None:
        with self._connected(sink) as connection:
            connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(_schema(sink))))

    @staticmethod
    def _connected(sink: ServiceSink) -> psycopg.Connection[dict[str, Any]]:
        assert isinstance(sink, PostgresSink), "the reader of tables is asked about tables"
        return psycopg.connect(sink.url, row_factory=dict_row, options="-c timezone=UTC -c client_min_messages=warning")

    @staticmethod
    def _is_there(connection: psycopg.Connection[dict[str, Any]], table: str) -> bool:
        found = connection.execute("SELECT to_regclass(%s) IS NOT NULL AS there", (table,)).fetchone()
        return bool(found and found["there"])


def _schema(sink: ServiceSink) -> str:
    assert isinstance(sink, PostgresSink), "the reader of tables is asked about tables"
    return sink.table.partition(".")[0]


def _ledger(sink: ServiceSink) -> str:
    return f"{_schema(sink)}.{LEDGER}"
