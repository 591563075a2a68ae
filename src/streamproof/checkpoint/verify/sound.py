"""Whether a checkpoint is sound, found without starting the job, and the newest batch that a start can go on from."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from streamproof.checkpoint.batches import FILES, NONE_YET, Batch
from streamproof.checkpoint.inspection import Inspection
from streamproof.checkpoint.verify.finding import Look, Problem
from streamproof.checkpoint.verify.logs import look_at_lines, look_at_logs, look_at_manifests, look_at_metadata, look_at_order
from streamproof.checkpoint.verify.sources import look_at_sources
from streamproof.checkpoint.verify.state import look_at_state, may_have_lost_its_state


@dataclass(frozen=True)
class Cost:
    """What going back to a batch costs: the batches after it are computed again, with what they have read, as far as that is known."""

    batches: int
    records: int | None
    files: int | None


@dataclass(frozen=True)
class Verified:
    """The result.

    Parameters
    ----------
    newest
        The newest batch that is planned or committed; None where there is none.
    sound
        The committed batches that a start can go on from, ascending.
    cost
        What going back to the newest sound batch costs; None where nothing has to be gone back to.
    looked_at
        How many files were read.
    unsure
        What no file tells, and a person may know, in sentences.
    """

    problems: tuple[Problem, ...]
    newest: int | None
    sound: tuple[int, ...]
    cost: Cost | None
    looked_at: int
    unsure: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.problems

    @property
    def goes_on(self) -> bool:
        """Whether a start goes on all the same: what was found is about older batches than the newest sound one, and that is the newest."""
        older = all(
            one.batches is not None and all(batch < self.sound[-1] for batch in one.batches) for one in self.problems if self.sound
        )
        return bool(self.sound) and older

    def as_dict(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        return {
            "sound": self.is_sound,
            "goes_on": self.goes_on,
            "looked_at": self.looked_at,
            "newest": self.newest,
            "sound_batches": list(self.sound),
            "unsure": list(self.unsure),
            "cost": None if self.cost is None else asdict(self.cost),
            "problems": [
                {
                    "harm": problem.harm.value,
                    "path": problem.path,
                    "says": problem.says,
                    "means": problem.means,
                    "batches": None if problem.batches is None else sorted(problem.batches),
                }
                for problem in self.problems
            ],
        }


def verify(found: Inspection, say: Callable[[str], None] = lambda _: None) -> Verified:
    """Looks at every file of a checkpoint that a start may need, and changes none.

    Two partitions of a state in format 1 that were exchanged, each whole, are not noticed: their files say nothing of where they belong.

    Parameters
    ----------
    say
        Told how far it is.
    """
    look = Look(found, say)
    look_at_metadata(look)
    look_at_logs(look)
    look_at_lines(look)
    look_at_order(look)
    look_at_sources(look)
    look_at_state(look)
    look_at_manifests(look)
    harmed = {one.batches for one in look.problems}
    kept = [number for number in look.committed if _is_kept(found, number) and number not in look.not_kept]
    sound = [number for number in kept if not any(batches is None or number in batches for batches in harmed)]
    newest = found.logs.newest
    best = max(sound, default=None)
    cost = None if best is None or newest is None or best == newest or not look.problems else cost_of(found, best)
    return Verified(tuple(look.problems), newest, tuple(sound), cost, len(look.looked_at), tuple(_unsure(found)))


def _is_kept(found: Inspection, batch: int) -> bool:
    """Whether the offset logs are there that a start after a batch reads: its own, and where it begins."""
    return batch in found.logs.planned and (batch == 0 or found.before(batch) is not None)


def _unsure(found: Inspection) -> Iterator[str]:
    if found.left_out:
        yield (
            f"The logs leave out {len(found.left_out)} of the batches {min(found.left_out)} to {max(found.left_out)}, and there is no state. That is right "
            "with asyncProgressTrackingEnabled. Else these files are gone, and Spark may not start."
        )
    if found.logs.shared and found.own is None:
        yield (
            "Sources of the query have read equally far in each batch, and some have no folder below sources. That is right for a query that reads one "
            "stream twice, as in a union with itself. Else the logs of these sources are gone."
        )
    if may_have_lost_its_state(found):
        yield "Its watermark moves, and it has no state. That is right for a job without windows, deduplication, joins or other state. Else all state is gone."


def cost_of(found: Inspection, back_to: int) -> Cost:
    """What going back to a batch costs."""
    newest = found.logs.newest or back_to
    later = [batch for batch in found.batches if batch.number > back_to]
    own = found.own.manifests if found.own is not None else {}
    whole = len(later) == newest - back_to
    counted = [_records(batch, own[batch.number].counts.get("input") if batch.number in own else None) for batch in later]
    records = sum(one for one in counted if one is not None) if whole and None not in counted else None
    known = whole and all(len(batch.files) == sum(read.kind == FILES for read in batch.sources) for batch in later)
    files = sum(sum(batch.files.values()) for batch in later) if known and any(batch.files for batch in later) else None
    return Cost(newest - back_to, records, files)


def _records(batch: Batch, counted: int | None) -> int | None:
    if counted is not None:
        return counted
    known = all(number in batch.records for number, read in enumerate(batch.sources) if read.kind != NONE_YET)
    return sum(batch.records.values()) if known else None
