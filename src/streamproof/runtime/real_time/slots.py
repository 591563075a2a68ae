"""Are there cores enough for the real-time trigger: each partition that is read takes one, for as long as the job runs."""

from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.runtime.binding.bound import BoundJob, OutputPlace

_AS_LONG = (
    "Each partition takes a core for as long as the job runs. Spark would never read those that get none, and would not say so."
)


def require_slots(bound: "BoundJob", spark: "SparkSession") -> None:
    """Compares the partitions that all queries of a job read with the cores that the session has now.

    A task of this trigger reads one partition until its batch is over. Spark starts a batch with fewer cores too, and says nothing: the
    partitions that got none are not read, in this batch and in all that follow. Side rows that a Spark job publishes need a core beside them:
    without one it would wait until the batch is over, and longer if the next one has begun.

    Raises
    ------
    EnvironmentProblem
        If there are fewer cores.
    StreamproofError
        If the brokers do not tell.
    """
    asked, inputs = dict[str, int](), bound.inputs
    for root in bound.outputs.main.values():
        for name in root.sources:
            asked[name] = asked.get(name, 0) + inputs[name].partitions(spark)
    beside = next((place.name for place in bound.places.values() if place.side is not None and not _is_moved(place)), None)
    cores, needed = _jvm.task_slots(spark), sum(asked.values()) + (beside is not None)
    if cores >= needed:
        return
    told = ", ".join(f"{name} {partitions}" for name, partitions in asked.items())
    and_one = (
        f" A Spark job publishes {beside} meanwhile, which takes one more; JSON files need none." if beside is not None else ""
    )
    raise EnvironmentProblem(
        f"[job] trigger is {bound.config.trigger}: {sum(asked.values())} partitions are to be read at the same time ({told}), and Spark has "
        f"{cores} core{'' if cores == 1 else 's'}.{and_one}",
        required=_AS_LONG,
        remedy=f'Give it {needed}: "spark.master" = "local[{needed}]" below [spark], or more executors; where they come up late, '
        '"spark.scheduler.minRegisteredResourcesRatio" = "1.0" waits for them.',
    )


def require_still_read(spark: "SparkSession", query: str, read: int, before: int) -> None:
    """EnvironmentProblem if a query reads more partitions than when it began, or than there are cores by now.

    Parameters
    ----------
    read, before
        The partitions of its newest batch, and of the first one of this run.
    """
    cores = _jvm.task_slots(spark)
    if read <= min(before, cores):
        return
    grown = f"reads {read} partitions, and read {before} when this run began" if read > before else f"reads {read} partitions"
    raise EnvironmentProblem(
        f"{query} {grown}; Spark has {cores} core{'' if cores == 1 else 's'} now.",
        required=_AS_LONG,
        remedy="Run it again: the start counts partitions and cores. Nothing is lost: what is not accounted for is read again.",
    )


def _is_moved(place: "OutputPlace") -> bool:
    """Whether the rows of a side output are published as the tasks have written them."""
    return place.is_folder and {place.format, place.shown_format} == {"json"}
