"""Writes the state of a stopped query to a file. The child reads the state; the proving process only reads the file."""

import json
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.checkpoint import state


def write_state(
    spark: SparkSession, checkpoint: str, known: Mapping[str, str] | None, target: Path
) -> dict[str, str]:
    """Writes what the stateful operators of a checkpoint hold, read by one Spark job, as `reading.read_state` takes it.

    Parameters
    ----------
    known
        The operators, id to Spark's name; None where they have to be looked up. They are given back.
    """
    operators = (
        dict(known) if known is not None else {str(number): name for number, name in state.operators(spark, checkpoint).items()}
    )
    readers = {number: state.reader_of(name, int(number), checkpoint) for number, name in operators.items()}
    read = {number: reader.table(spark, checkpoint, int(number)) for number, reader in readers.items()}
    rows: dict[str, list[dict[str, Any]]] = {number: [] for number in read}
    texts = [contents.select(F.lit(number), F.to_json(F.struct("*"))) for number, contents in read.items()]
    for number, text in reduce(DataFrame.unionAll, texts).collect() if texts else ():
        rows[number].append(json.loads(text))
    written = [
        {"operator": int(number), "holds": readers[number].holds, "rows": _ROWS[readers[number].holds](found)}
        for number, found in rows.items()
    ]
    target.write_text(json.dumps({"operators": written}))
    return operators


def write_unread(why: str, target: Path) -> None:
    """Writes instead that the state could not be read, and why."""
    target.write_text(json.dumps({"unread": why}))


def _windows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A window of a record without a time has no end."""
    return [{"hash": None, "end_us": None, **row, "by": json.loads(row["by"])} for row in rows]


def _keys(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, **{part: json.loads(row[part]) for part in ("key", "columns") if part in row}} for row in rows]


_ROWS = {"window": _windows, "key": _keys}
