"""Two stages of an aggregation (S13): rows are dealt over tasks whatever their key is, and each of these aggregates what it has got.

Spark then sends one row for each window and key from each of these tasks to the one that has the state. So there is one state, and it is the same
as without it.
"""

from typing import TYPE_CHECKING

from streamproof.stream.names import NUMBER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SEED = 17


def dealt(rows: "DataFrame", tasks: int) -> "DataFrame":
    """The rows, dealt over so many tasks.

    By a random number with a seed: a task that runs again makes the same numbers of the same rows, and no column has to be hashed for it.
    """
    from pyspark.sql import functions as F

    return rows.withColumn(NUMBER, F.rand(_SEED)).repartition(tasks, NUMBER).drop(NUMBER)
