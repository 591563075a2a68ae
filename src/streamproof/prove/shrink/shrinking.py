"""Shrinking from beginning to end: does it fail again, what is the least that fails, and does that fail again?"""

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from streamproof.core.clock import monotonic_seconds
from streamproof.prove import events
from streamproof.prove.lineage.kept import FOLDER, Keeper
from streamproof.prove.options import Options
from streamproof.prove.plan.planning import FAULT_FREE
from streamproof.prove.scenario.exactly import Exactly
from streamproof.prove.session import session
from streamproof.prove.shrink.kept import Kept, Whole
from streamproof.prove.shrink.reducing import Reduction
from streamproof.prove.shrink.tries import Failed, SameFinding, Tries
from streamproof.prove.subjects.subject import Preparation

AGAIN = 2
"""How often the whole scenario is run before it is said that it does not fail again."""


@dataclass(frozen=True)
class Size:
    """How large a scenario is."""

    events: int
    batches: int
    faults: int


@dataclass(frozen=True)
class Shrunk:
    """What came of the shrinking.

    Parameters
    ----------
    whole
        The size of the scenario.
    smallest
        The size of the smallest that fails with the same finding.
    exactly
        Its events; None where the scenario did not fail again, so that nothing was shrunk.
    failed
        The scenario that it fails in, and how.
    tries, seconds
        How many parts were run, and how long that took.
    to_the_end
        Whether nothing more can be left out of it: else the time was used up.
    not_run
        Of each part that the job could not be run on, why.
    again
        Whether it failed once more when it was run a second time.
    """

    whole: Size
    smallest: Size
    exactly: Exactly | None = None
    failed: Failed | None = None
    tries: int = 0
    seconds: float = 0.0
    to_the_end: bool = False
    again: bool = False
    not_run: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """What is shrunk: the scenario by its id, what it must fail with, and within how many seconds."""

    scenario: str
    finding: SameFinding
    seconds: float


def shrunk(
    preparation: Preparation,
    options: Options,
    folder: Path,
    asked: Asked,
    listener: Callable[[events.Event], None],
    end: threading.Event,
) -> Shrunk:
    """Shrinks one failing scenario of a subject.

    Parameters
    ----------
    folder
        For what the tries write meanwhile. What it takes to follow the events of the smallest scenario stays there.
    end
        Is set by whoever wants it to end: what is smallest by then is the result.

    Raises
    ------
    StreamproofError
        If the subject cannot be run, or cannot have events one by one.
    KeyboardInterrupt
        If it was asked to end before anything had failed again.
    """
    fault = asked.scenario != FAULT_FREE.id
    with session(preparation, folder, options, listener, end) as proof:
        whole = Whole(proof.open().made())
        tries = Tries(proof, preparation, whole, asked.scenario, asked.finding, options.selection.full)
        everything = whole.all(fault=fault)
        listener(events.Preparing(f"running {asked.scenario} again, {whole.events:,} events"))
        size = Size(whole.events, whole.batches, int(fault))
        if not any(tries.fails(everything) for _ in range(AGAIN)):
            return Shrunk(size, size, tries=AGAIN)
        started, budget = monotonic_seconds(), asked.seconds

        def tell(_: Kept | None = None) -> None:
            found = _size(whole, reduction.smallest)
            listener(events.Shrinking(reduction.tries, found.events, found.batches, found.faults, reduction.seconds_left, budget))

        def fails(part: Kept) -> bool:
            if end.is_set():
                return False
            try:
                return tries.fails(part)
            except Exception:
                if end.is_set():  # its children were ended under it
                    return False
                raise
            finally:
                tell()

        reduction = Reduction(everything, fails, budget, tell)
        tell()
        reduction.guess(_guesses(whole, everything, asked.finding))
        done = reduction.run()
        found, seconds = reduction.smallest, monotonic_seconds() - started
        shutil.rmtree(folder / FOLDER, ignore_errors=True)  # of a scenario that was shrunk before
        again = not end.is_set() and tries.fails(found, Keeper(folder / FOLDER))
        listener(events.Finished())
        return Shrunk(
            size,
            _size(whole, found),
            whole.of(found).exactly,
            tries.failed[found],
            reduction.tries,
            seconds,
            done and not end.is_set(),
            again,
            tuple(tries.not_run),
        )


def _size(whole: Whole, part: Kept) -> Size:
    exactly = whole.of(part).exactly
    return Size(exactly.total, exactly.batches, int(part.fault))


def _guesses(whole: Whole, everything: Kept, finding: SameFinding) -> list[Kept]:
    """Parts that a reader of the finding would try first: its first event alone, and with the last event of each batch, which moves the watermark."""
    if not finding.events:
        return []
    about = {number for number, name in enumerate(whole.event_ids(everything)) if name == finding.events[0]}
    last = {whole.batch_of(number): number for number in sorted(everything.events)}
    return [
        Kept(frozenset(wanted), everything.borders, everything.fault) for wanted in (about, about | set(last.values())) if about
    ]
