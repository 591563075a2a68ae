"""What the oracle has to know of a kind of window."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar


class PlainWindow(ABC):
    """A kind of window over instants in microseconds UTC. Starts are inclusive, ends exclusive."""

    several: ClassVar[bool] = False
    """Whether an instant can lie in several windows."""
    merges: ClassVar[bool] = False
    """Whether windows of a key that meet become one."""

    @abstractmethod
    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        """The windows that an instant lies in, as (start, end), the earliest first."""

    def of_event(self, instant_us: int, gap_us: int | None) -> list[tuple[int, int]]:
        """The windows of an event; `gap_us` is the gap that it brings, where it brings one."""
        return self.assign(instant_us)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of an event that say in which windows it is, beside its time."""
        return ()

    @property
    def refusals(self) -> tuple[str, ...]:
        """Every reason for which an event may be in none of them."""
        return ()

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        """Why an event with these values may be in none of them; None where it may."""
        return None

    def gap_in(self, values: Mapping[str, Any]) -> int | None:
        """The gap that an event with these values brings, microseconds, where events bring one."""
        return None

    @property
    def late_by_time(self) -> bool:
        """Whether an event is late by its own time, and not by the end of its window."""
        return False

    @abstractmethod
    def last_late(self, bound_us: int, tick_us: int) -> int:
        """The last instant, in whole ticks, that is late for all its windows by a bound."""

    def may_merge(self, start_us: int, other_us: int) -> bool:
        """Whether two windows of a key that meet become one, by their starts; asked only of a kind that merges."""
        return self.merges

    @property
    def at_least_us(self) -> int:
        """How long a window is at least, microseconds: findings show the day of long ones."""
        start, end = self.assign(0)[-1]
        return end - start
