"""The mistake: the position is committed first, and the rows are inserted by the transaction after it."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from pyspark.sql import functions as F

from streamproof.connectors import Sink, SinkPlace
from streamproof.connectors.sink import entry_of
from streamproof.core.manifest import LedgerEntry, Manifest, Section

STORE = os.environ.get("TAKINGS_POSTGRES", "postgresql://localhost/takings")


class PositionFirst(Sink):
    """Commits the position, then inserts the rows: after a crash between the two nobody knows that they are missing."""

    guarantee = "no batch is published twice"

    def __init__(self, place: SinkPlace) -> None:
        super().__init__(place)
        with psycopg.connect(STORE) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS positions (batch int PRIMARY KEY, entry jsonb NOT NULL)")
            connection.execute("CREATE TABLE IF NOT EXISTS takings (batch int NOT NULL, takings jsonb NOT NULL)")

    def published(self, batch: int) -> LedgerEntry | None:
        with psycopg.connect(STORE) as connection:
            found = connection.execute("SELECT entry FROM positions WHERE batch = %s", (batch,)).fetchone()
        return LedgerEntry.from_json(json.dumps(found[0])) if found else None

    def publish(self, manifest: Manifest, section: Section) -> None:
        batch, steps = manifest.batch, self.place.steps
        if self.published(batch) is not None:
            return
        rows = self.place.staged_rows(section).select(F.to_json(F.struct("*"))).collect()
        with psycopg.connect(STORE) as connection:
            connection.execute("INSERT INTO positions VALUES (%s, %s)", (batch, entry_of(manifest, section).to_json()))
        steps.after("takings.ledger", batch)
        with psycopg.connect(STORE) as connection:
            connection.cursor().executemany("INSERT INTO takings VALUES (%s, %s)", [(batch, row[0]) for row in rows])
            steps.before("takings", batch)
        steps.after("takings", batch)

    def contents(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        with psycopg.connect(STORE) as connection:
            yield from connection.execute("SELECT batch, takings FROM takings")
