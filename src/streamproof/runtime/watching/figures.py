"""Figures that events of a run consist of, beside their own fields: what an operator holds, how long partitions took."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OperatorState:
    """What one operator with state holds after a batch, all its partitions together.

    Parameters
    ----------
    operator
        Spark's name of it, such as "stateStoreSave".
    rows
        How many; None where Spark does not count them, which is so unless the job asks for it.
    updated, removed
        How many this batch has put there, and taken away.
    memory_bytes
        What the state store takes in memory.
    disk_bytes
        The files that hold the state; None of a state store without files.
    dropped
        How many rows of this batch Spark has dropped there as late, by its own count; None where nobody asks for it. A job of ours lets no late
        row come so far.
    """

    operator: str
    rows: int | None
    updated: int
    removed: int
    memory_bytes: int
    disk_bytes: int | None
    dropped: int | None = None


@dataclass(frozen=True)
class Times:
    """How long the tasks took in a batch that hold the partitions of a state.

    Parameters
    ----------
    tasks
        How many there are.
    slowest_ms, median_ms
        How long the slowest took, and the one in the middle.
    most_rows
        How many rows the fullest has read of what others sent.
    """

    tasks: int
    slowest_ms: int
    median_ms: int
    most_rows: int
