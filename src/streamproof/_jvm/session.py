"""The JVM before and after a session: jars, launch, settings in force."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof._jvm.java import PROOF_JAR, java_class, production_jar
from streamproof.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def jars(*, proof: bool = False) -> list[str]:
    """The jars a Spark session needs; EnvironmentProblem where they were not built."""
    wanted = [production_jar(), PROOF_JAR] if proof else [production_jar()]
    for jar in wanted:
        if not jar.is_file():
            raise EnvironmentProblem(
                f"{jar.name} is missing from the installed package.",
                required="The wheel brings it; in a checkout it is compiled by the set-up, which needs a JDK.",
                remedy="Run: make setup",
            )
    return [str(jar) for jar in wanted]


def launch(settings: "Mapping[str, str]", log: Path | None) -> None:
    """Starts the JVM of this process, where there is none yet; what it writes to standard error goes to the log.

    Raises
    ------
    PySparkRuntimeError
        If it ends before it can be spoken to.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ or log is None:
        return
    configured = SparkConf()
    for key, value in settings.items():
        configured.set(key, value)
    with log.open("ab") as stderr:
        gateway = launch_gateway(configured, {"stderr": stderr})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)


def default_session(jvm: Any) -> Any:
    """The Java session of a JVM that runs already; its class lies in another package since Spark 4.0."""
    from py4j.java_gateway import JavaPackage

    since_4, before = (getattr(jvm, f"org.apache.spark.sql.{name}") for name in ("classic.SparkSession", "SparkSession"))
    class_ = before if isinstance(since_4, JavaPackage) else since_4  # what py4j gives for a class that is not there
    return class_.getDefaultSession().get()


def has_class(spark: "SparkSession", name: str) -> bool:
    """Whether a session has a Java class, by its full name."""
    from py4j.java_gateway import JavaPackage

    return not isinstance(getattr(spark._jvm, name), JavaPackage)


def task_slots(spark: "SparkSession") -> int:
    """How many tasks can run at the same time, of the executors that are there now."""
    context: Any = spark.sparkContext._jsc.sc()
    return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))


def live_settings(spark: "SparkSession", keys: "Mapping[str, str]") -> dict[str, str]:
    """By key the value in force that somebody has set, whoever it was; `keys` says where each is in force (`LiveSettings`)."""
    found: dict[str, str] = json.loads(java_class(spark, "LiveSettings").of(spark._jsparkSession, json.dumps(keys)))
    return found
