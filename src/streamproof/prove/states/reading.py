"""Reads the state in a copy of a checkpoint as tables: the readers of `inspect`, on the JVM of the proof."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.checkpoint.inspection import FORMAT, Inspection, inspect_checkpoint
from streamproof.checkpoint.stores import Operator
from streamproof.checkpoint.tables import PARTITION, Read, readable, state_table
from streamproof.checkpoint.verify.state import partitions_gone
from streamproof.core.users_code import said
from streamproof.errors import StreamproofError
from streamproof.prove.states.beside import Side

MOST = 20_000
"""A state with more rows is counted and not compared."""
_TIMES = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_JOIN, _MATCHED = "symmetricHashJoin", "matched"
_KEYS = ("window_start", "window_end", "session_start")
_OF_PARTS = ("variable", "store", "key")
Found = tuple[int, str]
"""An operator: its number, and Spark's name of it."""


@dataclass(frozen=True)
class Looked:
    """A checkpoint: the newest batch that is committed, -1 before the first, and whether the next one is planned: it runs again then."""

    found: Inspection | None
    committed: int = -1
    planned: bool = False

    def last(self, wanted: int | None) -> int | None:
        """The batch after which its state is looked at: the one that is wanted where it is committed, else the newest."""
        if self.found is None or self.committed < 0:
            return None
        return wanted if wanted is not None and wanted in self.found.logs.committed else self.committed


def look(checkpoint: Path) -> Looked:
    """Looks at the files of a checkpoint; there may be none, and the disk of a crash may be torn."""
    try:
        found = inspect_checkpoint(checkpoint)
    except StreamproofError:
        return Looked(None)
    committed = found.logs.newest_committed
    newest = -1 if committed is None else committed
    return Looked(found, newest, newest + 1 in found.logs.planned)


def sides_of(spark: SparkSession, looked: Looked, wanted: int | None = None) -> dict[Found, Side]:
    """The state of each operator after a batch (`Looked.last`); nothing before the first commit. What cannot be read says why."""
    batch = looked.last(wanted)
    if looked.found is None or batch is None:
        return {}
    return {(operator.number, operator.name): _side(spark, looked.found, operator, batch) for operator in looked.found.operators}


def _side(spark: SparkSession, found: Inspection, operator: Operator, batch: int) -> Side:
    if partitions_gone(found, operator):
        return Side(batch, unread="a partition of it is not there")
    own = found.own
    made_by = own.newest.made_by if own is not None and own.newest is not None else {}
    session = spark.newSession()
    session.conf.set(FORMAT, str(found.state_format))
    session.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        with readable(found) as path:
            table = state_table(Read(session, path, operator, batch, made_by, traced=True))
            columns = [name for name in table.columns if name != PARTITION and not name.startswith("_")]
            return _read(table.select(*(f"`{name.replace('`', '``')}`" for name in columns)), batch, columns, operator)
    except Exception as problem:  # noqa: BLE001 -- no verdict hangs on it, and a crash may have torn anything
        return Side(batch, unread=f"Spark cannot read it: {said(problem)}")


def _read(table: DataFrame, batch: int, columns: Sequence[str], operator: Operator) -> Side:
    keys = _keys(operator, columns)
    if not columns:
        return Side(batch, columns, keys, count=table.count())
    texts = table.select(F.to_json(F.struct("*"), _TIMES)).limit(MOST + 1).collect()
    if len(texts) > MOST:
        return Side(batch, columns, keys, count=table.count(), unread=f"it has more than {MOST:,} rows, which are not compared")
    return Side(batch, columns, keys, [json.loads(text[0]) for text in texts], len(texts))


def _keys(operator: Operator, columns: Sequence[str]) -> list[str]:
    """The columns by which rows of both sides are the same one; of a join all but whether it has met a partner."""
    if operator.name == _JOIN:
        return [name for name in columns if name != _MATCHED]
    of_schema = {column.name for schema in operator.schemas for column in schema.key}
    parts = _OF_PARTS if columns[:1] and columns[0] in _OF_PARTS[:2] else ()
    return [name for name in columns if name in of_schema or name in _KEYS or name in parts]


__all__ = ["MOST", "Looked", "look", "sides_of"]
