"""What every emission has to say of itself."""

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pyspark.sql import Column

    from streamproof.stream.doors import Doors

REVISION = "revision"
"""The column that numbers the rows of a window, from 0 on."""


class Emission(ABC):
    """When a window gives rows, and how they are told apart."""

    name: ClassVar[str]
    output_mode: ClassVar[str] = "update"
    """Spark's output mode."""
    revised: ClassVar[bool] = True
    """Whether a window can give several rows; they have the column `revision` then."""
    gives_several: ClassVar[str] = "A window gives several rows"
    or_else: ClassVar[str] = "or let the window be final"
    """In words what gives several rows, and what becomes of them by the column that tells them apart; asked where there is such a column."""
    parks: ClassVar[bool] = False
    """Whether rows wait behind Spark's plan until their window is on time."""

    @property
    def apart(self) -> str | None:
        """The column by which the rows of one window, or of one key, are told apart; None where each gives one row."""
        return REVISION if self.revised else None

    @abstractmethod
    def gives(self, lateness: timedelta, doors: "Doors") -> "Column":
        """Whether a record, which is in its window by now, makes that give a row in this batch; else the row waits (boolean)."""

    @abstractmethod
    def emitted_up_to(self, watermark_us: int, lateness_us: int) -> int | None:
        """The end of windows, microseconds UTC, up to which those in state have given a row; None where none of them has."""
