"""How much of a source is still unread (S3)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lag:
    """One partition of a topic: the offset after the last record that is published or waits staged, the end of the partition, and how many
    offsets lie between; the marks of transactions have offsets too.

    Where only committed records are read, the end is the offset after the last record that can be read.
    """

    source: str
    topic: str
    partition: int
    position: int
    end: int
    lag: int


@dataclass(frozen=True)
class PartitionLag(Lag):
    """The lag at the end of a run; `undecided` offsets lie after the end, in a transaction that is open, or after one."""

    undecided: int = 0
