"""The twin of session windows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import isinf, isnan
from typing import Any, ClassVar

from streamproof.core.durations import format_duration
from streamproof.prove.oracle.windows.window import PlainWindow


@dataclass(frozen=True)
class PlainGap:
    """The gap that each event brings in a column, and the longest that counts."""

    column: str
    at_most_us: int

    @property
    def refusals(self) -> tuple[str, ...]:
        """Every reason of a row whose gap is none: null, no number, not above zero, too long."""
        longest = format_duration(timedelta(microseconds=self.at_most_us))
        why = ("is null", "is not a number", "is not above zero", f"is above {longest}")
        return tuple(f"session gap {self.column} ({reason})" for reason in why)

    def judged(self, value: Any) -> int | str:
        """The gap, microseconds, that a value of the column says: seconds, or a timedelta; the reason where it says none."""
        null, no_number, not_above_zero, too_long = self.refusals
        if value is None:
            return null
        seconds = value / timedelta(seconds=1) if isinstance(value, timedelta) else float(value)
        if isnan(seconds):
            return no_number
        if isinf(seconds):
            return too_long if seconds > 0 else not_above_zero
        gap_us = round(seconds * 1e6)
        if gap_us <= 0:
            return not_above_zero
        return too_long if gap_us > self.at_most_us else gap_us


@dataclass(frozen=True)
class PlainSession(PlainWindow):
    """A window from an instant to `gap_us` behind it; those of a key that meet become one, but never across a multiple of `longest_us`.

    Where events bring a gap of their own, `gap_us` is the longest that it may be.
    """

    gap_us: int
    longest_us: int | None = None
    own: PlainGap | None = None
    merges: ClassVar[bool] = True

    def assign(self, instant_us: int) -> list[tuple[int, int]]:
        return [(instant_us, instant_us + self.gap_us)]

    def of_event(self, instant_us: int, gap_us: int | None) -> list[tuple[int, int]]:
        if self.own is None:
            return self.assign(instant_us)
        assert gap_us is not None, "an event without a gap is rejected before"
        return [(instant_us, instant_us + gap_us)]

    @property
    def columns(self) -> tuple[str, ...]:
        return () if self.own is None else (self.own.column,)

    @property
    def refusals(self) -> tuple[str, ...]:
        return () if self.own is None else self.own.refusals

    def refuses(self, values: Mapping[str, Any]) -> str | None:
        judged = self._judged(values)
        return judged if isinstance(judged, str) else None

    def gap_in(self, values: Mapping[str, Any]) -> int | None:
        judged = self._judged(values)
        return None if isinstance(judged, str) else judged

    def _judged(self, values: Mapping[str, Any]) -> int | str | None:
        return None if self.own is None else self.own.judged(values[self.own.column])

    @property
    def late_by_time(self) -> bool:
        return self.own is not None

    def may_merge(self, start_us: int, other_us: int) -> bool:
        return self.longest_us is None or start_us // self.longest_us == other_us // self.longest_us

    def last_late(self, bound_us: int, tick_us: int) -> int:
        last = bound_us if self.late_by_time else bound_us - self.gap_us
        return last - last % tick_us
