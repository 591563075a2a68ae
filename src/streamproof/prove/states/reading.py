"""Reads the state in a copy of a checkpoint as tables: the readers of `inspect`, on the JVM of the proof."""

import json
from collections.abc import Sequence
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


def sides_of(spark: SparkSession, checkpoint: Path) -> dict[Found, Side]:
    """The state of each operator of a checkpoint after its newest committed batch; nothing where there is none, or no checkpoint.

    What cannot be read says why: the disk of a crash may be torn.
    """
    try:
        found = inspect_checkpoint(checkpoint)
    except StreamproofError:
        return {}
    if found.logs.newest_committed is None:
        return {}
    return {(operator.number, operator.name): _side(spark, found, operator) for operator in found.operators}


def _side(spark: SparkSession, found: Inspection, operator: Operator) -> Side:
    batch = found.logs.newest_committed
    if partitions_gone(found, operator):
        return Side(batch, unread="a partition of it is not there")
    own = found.own
    made_by = own.newest.made_by if own is not None and own.newest is not None else {}
    session = spark.newSession()
    session.conf.set(FORMAT, str(found.state_format))
    session.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        with readable(found) as path:
            table = state_table(Read(session, path, operator, batch, made_by))
            columns = [name for name in table.columns if name != PARTITION and not name.startswith("_")]
            return _read(table.select(*(f"`{name.replace('`', '``')}`" for name in columns)), batch, columns, operator)
    except Exception as problem:  # noqa: BLE001 -- no verdict hangs on it, and a crash may have torn anything
        return Side(batch, unread=f"Spark cannot read it: {said(problem)}")


def _read(table: DataFrame, batch: int | None, columns: Sequence[str], operator: Operator) -> Side:
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


__all__ = ["MOST", "sides_of"]
