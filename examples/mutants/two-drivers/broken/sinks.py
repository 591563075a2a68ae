"""The mistake: whether a batch is published is asked first, and what is written afterwards does not depend on the answer any more."""

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


class LooksFirst(Sink):
    """Looks, then writes: another driver that does the same in between is not noticed."""

    guarantee = "no batch is published twice, by one driver"

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
        steps.before("takings", batch)
        with psycopg.connect(STORE) as connection:
            connection.cursor().executemany("INSERT INTO takings VALUES (%s, %s)", [(batch, row[0]) for row in rows])
            entry = entry_of(manifest, section).to_json()
            connection.execute("INSERT INTO positions VALUES (%s, %s) ON CONFLICT DO NOTHING", (batch, entry))
        steps.after("takings", batch)

    def contents(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        with psycopg.connect(STORE) as connection:
            yield from connection.execute("SELECT batch, takings FROM takings")
