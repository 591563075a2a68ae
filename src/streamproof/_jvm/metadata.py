"""What Spark keeps beside a column: by it a column is event time with a watermark."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamproof._jvm.versions import FIRST_TO_KEEP_EMPTY_METADATA, installed_spark, numbers

if TYPE_CHECKING:
    from pyspark.sql import Column

_NO_EVENT_TIME: Mapping[str, str] = {"streamproof": "no event time"}


def without_metadata(column: "Column", name: str) -> "Column":
    """The column under a name, with nothing beside it; on Spark 4.0 with something that means nothing.

    There PySpark takes an alias with empty metadata for one that asks for none, and the optimiser removes it (`RemoveRedundantAliases`).
    """
    keeps_empty = numbers(installed_spark()) >= numbers(FIRST_TO_KEEP_EMPTY_METADATA)
    beside = {} if keeps_empty else dict(_NO_EVENT_TIME)
    return column.alias(name, metadata=beside)
