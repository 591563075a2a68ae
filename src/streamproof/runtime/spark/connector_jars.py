"""The jars that a job's connectors need and PySpark does not bring, fetched once (see `artifacts.toml`)."""

from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.connectors import lookups, services
from streamproof.connectors.sources import sources_of
from streamproof.runtime.spark.artifacts import Progress, fetched

if TYPE_CHECKING:
    from streamproof.config import JobConfig


def connector_jars(config: "JobConfig", progress: Progress | None = None) -> list[str]:
    """The jars for a job; none where it needs none, or where its own `spark.jars` bring the connector.

    Raises
    ------
    EnvironmentProblem
        If one cannot be fetched; names it, and where to put it.
    """
    needed = [jars for source in sources_of(config).values() for jars in source.jars]
    needed += [jars for sink in config.sink.values() for jars in services.jars(sink)]
    needed += [jars for table in config.table.values() for jars in lookups.jars(table)]
    if not needed:
        return []
    given = ",".join(config.spark.get(key, "") for key in ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"))
    spark = _jvm.minor_version(_jvm.installed_spark())
    bundles = dict.fromkeys(jars.bundle_for(spark) for jars in needed if jars.part_of_name not in given)
    return [jar for bundle in bundles for jar in jars_of(bundle, progress)]


def jars_of(bundle: str, progress: Progress | None = None) -> list[str]:
    """The jars of a bundle, fetched where they are not there yet."""
    return sorted(str(jar) for jar in fetched(bundle, progress).glob("*.jar"))
