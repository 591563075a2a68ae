"""How much of a source a batch takes at most, in the JVM, where Spark asks for it."""

from typing import TYPE_CHECKING

from streamproof._jvm.java import java_class
from streamproof.core.ids import new_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTAKE = "streamproofIntake"
"""The option of a reader that names an intake."""
PACED_TOPICS = "io.streamproof.PacedTopics"
"""The format of Spark's connector for Kafka with an intake."""


class Intake:
    """The limit of one source of a query, which may change between two batches."""

    def __init__(self, spark: "SparkSession", most: int) -> None:
        self.name = new_id()
        self._java = java_class(spark, "Intake").register(self.name, most)

    @property
    def used(self) -> int | None:
        """How much the batch that Spark has asked for takes at most; None for one that was planned before this start."""
        used = int(self._java.used())
        return None if used < 0 else used

    @property
    def seconds(self) -> float:
        """How long ago Spark has asked for it."""
        return int(self._java.sinceAsked()) / 1000

    def set(self, most: int) -> None:
        """How much the next batch takes at most."""
        self._java.set(most)
