"""What a run without a fault shows of the job itself: rows that Spark dropped as late, state that it never frees."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from streamproof.core.notes import Note, NoteCode
from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.subjects.pyspark import before_state, stateful
from streamproof.prove.subjects.pyspark.before_state import Reached
from streamproof.prove.subjects.pyspark.events import Offered
from streamproof.prove.subjects.pyspark.expected import LATE, UNBOUNDED_STATE, Expected
from streamproof.prove.subjects.pyspark.lateness import Lateness, lateness_of
from streamproof.prove.subjects.pyspark.reading import Batch, Left, read_left
from streamproof.prove.subjects.pyspark.stateful import NeverFreed, Stateful, never_freed

LATE_ROWS, STATE = "late-rows", "bounded-state"


class Code(StrEnum):
    """What is found here."""

    DROPPED_AS_LATE = "dropped-as-late"
    NEVER_FREED = "never-freed"


@dataclass(frozen=True)
class FaultFree:
    """What a run without a fault has shown.

    Parameters
    ----------
    late
        By query that drops late rows, which they were.
    kept
        The states that are never freed.
    problem
        Why the plans of the queries could not be looked at; empty where they were.
    """

    expected: Expected = field(default_factory=Expected)
    late: tuple[Lateness, ...] = ()
    kept: tuple[NeverFreed, ...] = ()
    problem: str = ""

    def checks(self) -> list[CheckResult]:
        late, state = list(self._late()), list(self._state())
        return [
            CheckResult(name, Verdict.FAIL if found else Verdict.PASS, tuple(found), len(found))
            for name, found in ((LATE_ROWS, late), (STATE, state))
        ]

    @property
    def _own(self) -> int:
        return sum(one.own for one in self.late)

    def _late(self) -> Iterator[Finding]:
        if self._own <= self.expected.late_at_most:
            return
        for one in (one for one in self.late if one.own):
            at_least = "at least " if one.worked_out is None else ""
            yield Finding(
                Code.DROPPED_AS_LATE,
                None,
                f"Spark dropped {at_least}{_rows(one.own)} of the query {one.query} as late, without a word, that nobody meant to be late",
                None,
                f"at most {self.expected.late:,} (--expect {LATE}={self.expected.late})" if self.expected.late else "none",
                f"{one.dropped:,} dropped, {one.own:,} of them the job's own; Spark's own count says {one.counted:,}",
                f'{_longer(one)}; --expect "{LATE}={self._own}" lets them be'
                + (", --as-is leaves the sample in its own order" if one.disturbed else ""),
            )

    def _state(self) -> Iterator[Finding]:
        for one in self.kept if not self.expected.unbounded_state else ():
            if one.certain:
                yield Finding(
                    Code.NEVER_FREED,
                    None,
                    f"the state of the query {one.query} is never freed: {one.what}",
                    None,
                    "state that Spark frees at some time",
                    f"{_rows(one.rows)} in state at the end",
                    f"mend: {one.remedy}; or --expect {UNBOUNDED_STATE}, which lets it be",
                    page=one.page,
                )

    def notes(self) -> Iterator[Note]:
        """What the user has expected, and what there was of it."""
        said = []
        if self.expected.late is not None:
            said.append(f"{LATE}={self.expected.late} ({_rows(self._own)} of the job's own dropped as late)")
        if self.expected.unbounded_state:
            found = "; ".join(f"{one.query}: {one.what}" for one in self.kept) or "every state is freed"
            said.append(f"{UNBOUNDED_STATE} ({found})")
        if said:
            yield Note(NoteCode.EXPECTED, f"Let be, by --expect: {', '.join(said)}.")

    def about_late_rows(self) -> str:
        """In words what is known of late rows."""
        if self.problem:
            return f"plain PySpark drops them silently; {self.problem}"
        if not self.late:
            return "none can be: no operator of the job goes by a watermark"
        return "plain PySpark drops them silently; " + "; ".join(map(_known, self.late))

    def about_state(self) -> str:
        """In words what is known of state."""
        said = "what is in the state stores is not read; what comes of it is"
        lasting = [one for one in self.kept if not one.certain or self.expected.unbounded_state]
        return "; ".join([said, *(f"{one.query}: {one.what}, {_rows(one.rows)} at the end" for one in lasting)])


def look(
    folder: Path,
    batches: Mapping[str, Sequence[Batch]],
    offered: Mapping[str, Offered],
    expected: Expected,
    run: Callable[[], tuple[Path, str]],
) -> FaultFree:
    """What the run in a folder shows.

    Parameters
    ----------
    run
        Runs the job once more and keeps the rows that reach its stateful operators; gives the folder, and in words what went wrong.
    """
    states, problem = stateful.noted(folder)
    kept = tuple(found for one in states if (found := never_freed(one)) is not None)
    dropping: dict[str, list[Stateful]] = {}
    for one in states:
        if one.drops_late:
            dropping.setdefault(one.query, []).append(one)
    if not dropping:
        return FaultFree(expected, (), kept, problem)
    looked, stopped = run()
    left = None if stopped else read_left(looked)
    late = tuple(
        lateness_of(query, its, batches.get(query, ()), _reached(looked, left, query, stopped), offered)
        for query, its in dropping.items()
    )
    return FaultFree(expected, late, kept, problem)


def _reached(folder: Path, left: Left | None, query: str, stopped: str) -> tuple[Reached, Sequence[Batch]] | str:
    if left is None:
        return stopped
    return before_state.reached(folder, query), left.batches.get(query, ())


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _longer(one: Lateness) -> str:
    """How long a watermark would have kept the rows."""
    if one.longest_us is None:
        return "a longer watermark keeps them"
    needed = one.delay_ms / 1_000 + one.longest_us / 1_000_000
    return f"its watermark waits {one.delay_ms / 1_000:g} s; one of {int(needed) + 1:,} s would have kept them"


def _known(one: Lateness) -> str:
    counted = "none" if not one.counted else f"{one.counted:,}"
    if one.worked_out is None:
        return f"how many {one.query} lost cannot be worked out ({one.why_not}); Spark's own count says {counted}"
    own = f"{one.own:,} of them the job's own" if one.own else "all of them meant to come too late"
    lost = "none" if not one.worked_out else f"{one.worked_out:,}, {own}"
    return f"{one.query} lost {lost}, by events and watermarks; Spark's own count says {counted}"
