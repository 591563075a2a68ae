"""Windows that begin at times of the clock of a zone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamproof._jvm.java import java_class
from streamproof.errors import JobDefinitionError

if TYPE_CHECKING:
    from pyspark.sql import Column


class ZoneWindows:
    """Which window an instant is in. Both are bigint, microseconds since 1970-01-01T00:00:00Z.

    Parameters
    ----------
    unit
        "day", "week" (from Monday) or "month".
    minutes
        At how many minutes after midnight of such a day windows begin, from early to late.
    zone
        A name of the IANA database.

    Raises
    ------
    JobDefinitionError
        If this Java does not have the zone: its database can be older than Python's.
    """

    def __init__(self, unit: str, minutes: Sequence[int], zone: str) -> None:
        from py4j.protocol import Py4JJavaError
        from pyspark import SparkContext
        from pyspark.errors import PySparkException

        context: Any = SparkContext._active_spark_context
        assert context is not None, "a session is running"
        given = context._gateway.new_array(context._jvm.int, len(minutes))
        for place, minute in enumerate(minutes):
            given[place] = minute
        try:
            self._java = java_class(context, "ZoneWindows")(unit, given, zone)
        except (Py4JJavaError, PySparkException) as unknown:
            raise JobDefinitionError(
                f'The Java that Spark runs on has no time zone "{zone}".',
                required="Windows by the clock of a zone go by Java's database of zones, which can be older than Python's.",
                remedy="Update Java, or name a zone that keeps the same time.",
            ) from unknown

    def end_of(self, instant: "Column") -> "Column":
        from pyspark.sql import Column

        return Column(self._java.endOf(instant._jc))

    def begin_of(self, instant: "Column") -> "Column":
        from pyspark.sql import Column

        return Column(self._java.beginOf(instant._jc))
