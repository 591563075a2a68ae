"""`DeltaTable` of a job in a proof: a table that is named by its path is that of the scenario; any other way to one is refused."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.places import output_at
from streamproof.prove.subjects.pyspark.writers import Started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REFUSED = ("forName", "convertToDelta", "create", "createIfNotExists", "createOrReplace", "replace")


def bind_delta(started: Started) -> None:
    """Replaces the ways to a table in this process; nothing where the Python package of Delta Lake is not installed."""
    if find_spec("delta") is None:
        return
    import delta
    from delta import pip_utils
    from delta.tables import DeltaTable

    for_path, is_table = DeltaTable.forPath, DeltaTable.isDeltaTable

    def bound(spark: "SparkSession", path: str, *more: Any) -> Any:
        started.written.note(output_at(path))
        return for_path(spark, started.places.of_batch_writer(path), *more)

    def is_bound(spark: "SparkSession", path: str) -> bool:
        return bool(is_table(spark, started.places.of_batch_writer(path)))

    DeltaTable.forPath, DeltaTable.isDeltaTable = staticmethod(bound), staticmethod(is_bound)
    for name in _REFUSED:
        setattr(DeltaTable, name, staticmethod(_refused(name)))
    delta.configure_spark_with_delta_pip = pip_utils.configure_spark_with_delta_pip = lambda builder, *_, **__: builder


def _refused(name: str) -> Any:
    def refused(*_: Any, **__: Any) -> Any:
        raise ScenarioError(
            f"The job calls DeltaTable.{name}, which a proof cannot bind: it would touch the real table.",
            required="A proof binds tables of Delta Lake that are named by their path.",
            remedy="Make the path an argument of the job, and take DeltaTable.forPath.",
        )

    return refused
