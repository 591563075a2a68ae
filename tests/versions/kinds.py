"""The kinds of plain PySpark jobs that the table has a row for, each with a job of examples/plain_pyspark and its broken twin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

JOBS = Path(__file__).parents[2] / "examples" / "plain_pyspark"
ROCKSDB = "spark.sql.streaming.stateStore.providerClass=org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
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
        What the command says after the target.
    since
        The first version of Spark that has what the job calls.
    packages
        By version of Spark the jars that the job takes, where it takes some; there are none for a version that is not named.
    """

    says: str
    target: str
    words: tuple[str, ...] = CLICKS
    since: str = "3.5"
    packages: Mapping[str, str] = field(default_factory=dict)

    def there(self, version: str) -> bool:
        """Whether a version of Spark has what the job takes."""
        old_enough = tuple(map(int, self.since.split("."))) <= tuple(map(int, version.split(".")))
        return old_enough and (not self.packages or version in self.packages)

    def settings(self, version: str) -> list[str]:
        """The words that give the job its jars."""
        if not self.packages:
            return []
        extension = "io.delta.sql.DeltaSparkSessionExtension"
        catalog = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        wanted = {
            "spark.jars.packages": self.packages[version],
            "spark.sql.extensions": extension,
            "spark.sql.catalog.spark_catalog": catalog,
        }
        return [word for key, value in wanted.items() for word in ("--conf", f"{key}={value}")]


# Of Delta Lake there is no release for Spark 4.3 yet.
DELTA = {
    "3.5": "io.delta:delta-spark_2.12:3.3.2",
    "4.0": "io.delta:delta-spark_2.13:4.0.1",
    "4.1": "io.delta:delta-spark_2.13:4.1.0",
    "4.2": "io.delta:delta-spark_2.13:4.3.1",
}

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
    Kind(
        "`transformWithState` with rows (Spark has it since 4.1)", "detector.py:payments", (*CLICKS, "--conf", ROCKSDB), since="4.1"
    ),
    Kind("Delta Lake: `foreachBatch`, `append` with `txnAppId`", "lake.py:spending", packages=DELTA),
)
