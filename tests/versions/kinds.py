"""The kinds of plain PySpark jobs that the table has a row for, each with a job of examples/plain_pyspark and its broken twin."""

from dataclasses import dataclass
from pathlib import Path

JOBS = Path(__file__).parents[2] / "examples" / "plain_pyspark"
CLICKS = ("--input", f"clicks={JOBS / 'clicks.jsonl'}")


@dataclass(frozen=True)
class Kind:
    """A row of the table.

    Parameters
    ----------
    says
        The row's first cell.
    target
        Below examples/plain_pyspark.
    words
        What the command says behind the target.
    since
        The first version of Spark that has what the job calls.
    """

    says: str
    target: str
    words: tuple[str, ...] = CLICKS
    since: str = "3.5"


KINDS = (
    Kind("a function of a stream, `session_window`", "sessions.py:click_sessions"),
    Kind(
        "a function of two streams, an outer join of them",
        "pairs.py:paid_clicks",
        (*CLICKS, "--input", f"payments={JOBS / 'payments.jsonl'}"),
    ),
    Kind("a program that starts its query, from Kafka to Kafka", "topics.py:main"),
    Kind("a script, files to Parquet", "script.py", (*CLICKS, "--argument", "50")),
    Kind(
        "a join with a table, `foreachBatch` to SQLite",
        "upsert.py:spending",
        (
            *CLICKS,
            *("--set", "database={folder}/spending.db", "--read", "spending=upsert:read_spending"),
            *("--table", f"customers={JOBS / 'customers.csv'}"),
        ),
    ),
    Kind("`applyInPandasWithState`", "totals.py:totals"),
    Kind("`transformWithState`", "detector.py:payments", since="4.0"),
)
