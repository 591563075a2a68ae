"""What the rows of a query have, as its plan says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class Columns:
    """The columns of a query's rows, and how those of the main output are summed.

    Parameters
    ----------
    of_outputs
        By output what its rows have.
    floats
        The columns of the main output that are summed, by the step that each may come out apart.
    steps
        The columns that depend on the order in which floats are added.
    parked
        The columns of rows that may have to wait, as Spark gives them; None where none have to.
    """

    of_outputs: "Mapping[str, StructType]"
    floats: Mapping[str, float]
    steps: Mapping[str, float] = field(default_factory=dict)
    parked: "StructType | None" = None
