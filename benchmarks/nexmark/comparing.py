"""The rows of both sides, held against each other by Spark: what one has more often than the other."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.nexmark.generator import Input
from benchmarks.nexmark.query import Query
from benchmarks.nexmark.running import by_hand, job_in, rows_in
from benchmarks.nexmark.twins import unlike
from streamproof.runtime.run import run_job

_SHOWN = 3


@dataclass(frozen=True)
class Compared:
    """What both sides of a query have given.

    Parameters
    ----------
    rows
        How many rows the hand-written query has given.
    differences
        What differs, in sentences; empty where nothing does.
    unlike_model
        How the rows of the job differ from what the plain model says; None where it cannot say the query.
    account
        Where the job says that the events are.
    """

    rows: int
    differences: tuple[str, ...]
    unlike_model: tuple[str, ...] | None
    account: Mapping[str, int]


def compared(spark: SparkSession, source: Input, query: Query) -> Compared:
    """Runs both sides once, the job with its account, and compares their rows."""
    with tempfile.TemporaryDirectory() as base:
        one, other = Path(base, "ours"), Path(base, "by_hand")
        for folder in (one, other):
            folder.mkdir()
        account = run_job(job_in(one, source, query), spark=spark).account.as_dict()
        by_hand(spark, source, query)(other)
        mine, theirs = rows_in(spark, one), rows_in(spark, other)
        said = unlike(spark, source, query, mine)
        return Compared(theirs.count(), tuple(differences(mine, theirs)), None if said is None else tuple(said), account)


def differences(mine: DataFrame, theirs: DataFrame) -> list[str]:
    """What two tables differ in: columns, types, rows. The order of rows and of columns is none of it."""
    ours, by_hand_ = _columns(mine), _columns(theirs)
    if ours != by_hand_:
        return [
            f"ours has {dict(sorted(ours.items() - by_hand_.items()))}, by hand {dict(sorted(by_hand_.items() - ours.items()))}"
        ]
    mine = mine.select(theirs.columns)
    found = []
    for side, more in (("ours", mine.exceptAll(theirs)), ("by hand", theirs.exceptAll(mine))):
        number = more.count()
        if number:
            shown = ", ".join(str(row.asDict(recursive=True)) for row in more.limit(_SHOWN).collect())
            found.append(f"only {side} has {number:,} rows, such as {shown}")
    return found


def _columns(rows: DataFrame) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in rows.schema.fields}
