"""Two stages of an aggregation (S13): rows are dealt over tasks whatever their key is, and each of these aggregates what it has got.

Spark then sends one row for each window and key from each of these tasks to the one that has the state. So there is one state, and it is the same
as without it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DEALS_ALIKE: Mapping[str, str] = {"spark.sql.execution.sortBeforeRepartition": "true"}
"""A task that deals its rows again, since an executor was lost, must deal each to the same task: else a row is aggregated twice, or by none."""


def dealt(rows: "DataFrame", tasks: int) -> "DataFrame":
    """The rows, dealt over so many tasks in turn, in an order that does not depend on how they came: Spark sorts them first (SPARK-23207)."""
    return rows.repartition(tasks)
