"""Are there cores enough for the real-time trigger: each partition that is read takes one, for as long as the job runs."""

from typing import TYPE_CHECKING

from streamproof.config import KafkaSource
from streamproof.connectors.kafka import source as kafka
from streamproof.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.runtime.bound import BoundJob


def require_slots(bound: "BoundJob", spark: "SparkSession") -> None:
    """Compares the partitions that all queries of a job read with the cores that the session has now.

    A task of this trigger reads one partition until its batch is over. Spark starts a batch with fewer cores too, and says nothing: the
    partitions that got none are not read, in this batch and in all that follow.

    Raises
    ------
    EnvironmentProblem
        If there are fewer cores than partitions.
    StreamproofError
        If the brokers do not tell.
    """
    asked: dict[str, int] = {}
    for recipe in bound.outputs.main.values():
        for name in recipe.sources:
            source = bound.config.source[name]
            assert isinstance(source, KafkaSource), "binding has refused every other one"
            asked[name] = asked.get(name, 0) + kafka.partitions(spark, name, source)
    cores, needed = spark.sparkContext.defaultParallelism, sum(asked.values())
    if cores >= needed:
        return
    told = ", ".join(f"{name} {partitions}" for name, partitions in asked.items())
    raise EnvironmentProblem(
        f"[job] trigger is {bound.config.trigger}: {needed} partitions are to be read at the same time ({told}), and Spark has "
        f"{cores} core{'' if cores == 1 else 's'}.",
        required="Each partition takes a core for as long as the job runs. Spark would never read those that get none, and would not say so.",
        remedy=f'Give it {needed}: "spark.master" = "local[{needed}]" below [spark], or more executors; where they come up late, '
        '"spark.scheduler.minRegisteredResourcesRatio" = "1.0" waits for them.',
    )
