"""Hashes of Redis in a proof: a prefix for each scenario."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamproof.config import RedisSink, ServiceSink
from streamproof.connectors.redis.sink import COUNTS, LEDGER
from streamproof.connectors.redis.writing import BATCH, client
from streamproof.core.manifest import LedgerEntry
from streamproof.prove.services.kind import Published, Reader

_AS_JSON = ("bigint", "int", "smallint", "tinyint", "double", "float", "boolean", "array", "map", "struct")


class Hashes(Reader):
    """Reads what a scenario has left under its prefix. All values are texts there."""

    def open(self, sink: ServiceSink) -> None:
        """Nothing has to be made."""

    def rows(self, sink: ServiceSink, types: Mapping[str, str]) -> Iterator[Published]:
        assert isinstance(sink, RedisSink), "the reader of hashes is asked about hashes"
        with client(sink.url) as connection:
            for key in connection.scan_iter(f"{sink.prefix}*", count=1_000):
                values = dict(connection.hgetall(key))
                batch = int(values.pop(BATCH))
                yield Published(batch, {name: _typed(value, types.get(name, "string")) for name, value in values.items()})

    def ledger(self, sink: ServiceSink, home: Path) -> Sequence[LedgerEntry]:
        """Nothing: a row takes the place of that of an earlier batch."""
        return []

    def close(self, sink: ServiceSink) -> None:
        assert isinstance(sink, RedisSink), "the reader of hashes is asked about hashes"
        with client(sink.url) as connection:
            keys = [f"{LEDGER}{sink.prefix}", f"{COUNTS}{sink.prefix}", *connection.scan_iter(f"{sink.prefix}*", count=1_000)]
            connection.delete(*keys)


def _typed(value: str, type_: str) -> Any:
    """What the text says in a column of a type."""
    return json.loads(value) if type_.startswith(_AS_JSON) else value
