"""How much is in the state of a checkpoint, by partition of an operator, as far as its files say it."""

from collections.abc import Iterator
from dataclasses import dataclass

from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.stores import Operator


@dataclass(frozen=True)
class StateSize:
    """The state of one operator.

    Parameters
    ----------
    rows
        By partition; None where the files do not count them.
    bytes
        By partition what a start would read.
    """

    operator: Operator
    rows: tuple[int, ...] | None
    bytes: tuple[int, ...]


def sizes_of(checkpoint: Inspection) -> Iterator[StateSize]:
    """The state of each operator of a checkpoint that keeps some."""
    for operator in checkpoint.operators:
        stores = checkpoint.sizes.get(operator.number, ())
        if not stores:
            continue
        partitions = sorted({size.store.partition for size in stores})
        rows = [sum(size.rows or 0 for size in stores if size.store.partition == number) for number in partitions]
        counted = all(size.rows is not None for size in stores)
        total = [sum(size.bytes for size in stores if size.store.partition == number) for number in partitions]
        yield StateSize(operator, tuple(rows) if counted else None, tuple(total))
