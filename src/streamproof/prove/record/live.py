"""How to crash a new run, live, at a step that a recording has named."""

from dataclasses import dataclass
from enum import StrEnum

from streamproof.core.phases import Side, StepName
from streamproof.errors import StreamproofError
from streamproof.prove.record.journal import Operation
from streamproof.prove.record.paths import pattern
from streamproof.prove.record.steps import Act, Step, Timeline

PREFIX = "streamproof.recording."
MARKER = "killed-here"  # in the recording's folder, once a `kill` has fired and the disk stands still


class Action(StrEnum):
    """What happens at the step: an error, then silence (die); standing still until the kill comes (kill); a full disk (enospc); a
    report to a desk, and on it goes (call); the end of the attempt of the task that does it, once (retry).
    """

    DIE = "die"
    KILL = "kill"
    ENOSPC = "enospc"
    CALL = "call"
    RETRY = "retry"


@dataclass(frozen=True)
class Arming:
    """The arguments of `io.streamproof.proof.Faults.arm`, after the recording's id."""

    operation: str
    path: str
    side: str
    occurrence: int
    since: str
    action: Action

    def place(self) -> tuple[str, str, str, int, str]:
        """Where it happens: all but the action."""
        return (self.operation, self.path, self.side, self.occurrence, self.since)

    def arguments(self) -> tuple[str, str, str, int, str, str]:
        return (*self.place(), self.action.value)

    def configuration(self, recording: str, folder: str) -> dict[str, str]:
        """The same as Spark configuration for a child process, which opens the recording and arms the fault by itself."""
        mine = f"spark.hadoop.{PREFIX}{recording}."
        return {
            f"{mine}folder": folder,
            f"{mine}fault.operation": self.operation,
            f"{mine}fault.path": self.path,
            f"{mine}fault.side": self.side,
            f"{mine}fault.occurrence": str(self.occurrence),
            f"{mine}fault.since": self.since,
            f"{mine}fault.action": self.action.value,
        }


def arming(timeline: Timeline, step: str | StepName, *, action: Action = Action.DIE) -> Arming:
    """The fault that hits, in a new run over the same batches, the very step that `step` names in the recorded one.

    Ids, run ids and attempt numbers in the path are left open; where several operations then look alike, the occurrence
    counts them in the order of the recording, from when the step's batch was planned: how many table files earlier batches
    write depends on when RocksDB compacts.

    Raises
    ------
    StreamproofError
        If the recording has no such step; for example a batch that is not there.
    """
    wanted = step if isinstance(step, StepName) else StepName.parse(step)
    for found in timeline.steps:
        if found.name(wanted.side) == wanted:
            planned = _planned(timeline, found)
            return Arming(
                operation=found.act.entry.operation.value,
                path=pattern(found.act.entry.target),
                side=wanted.side.value,
                occurrence=_occurrence(timeline, found, planned),
                since=pattern(planned.entry.target) if planned else "",
                action=action,
            )
    raise StreamproofError(
        f"The recorded run has no step {wanted}.",
        required=f"It has {len(timeline.steps)} steps, from {_ends(timeline)}.",
        remedy="streamproof prove --list shows them.",
    )


def arming_task(timeline: Timeline, step: StepName) -> Arming | None:
    """The fault that ends, once, the attempt of the task that has written what the step makes durable; None if no task has.

    What a committer of Spark's makes durable in the driver the task has put below `_temporary`, in a directory of its own.
    """
    found = next((each for each in timeline.steps if each.name(step.side) == step), None)
    planned = _planned(timeline, found) if found is not None else None
    if found is None or planned is None:
        return None
    if found.act.entry.task is not None and found.act.entry.operation is Operation.RENAME:
        return arming(timeline, step, action=Action.RETRY)
    for act in timeline.acts[: found.position]:
        entry = act.entry
        mine = entry.operation is Operation.RENAME and found.act.entry.path.startswith(f"{entry.target}/")
        folder, committer, _ = entry.target.partition("/_temporary/")
        if mine and committer and entry.task is not None:
            path = pattern(folder).removesuffix("$") + "/_temporary/.*task_[^/]+$"
            return Arming(entry.operation.value, path, Side.AFTER.value, 1, pattern(planned.entry.target), Action.RETRY)
    return None


def armed_at(timeline: Timeline, step: StepName, action: Action) -> Arming | None:
    """Where an action is armed for a step: at its operation; what ends a task, at what the task has done for it. None if no task has."""
    return arming_task(timeline, step) if action is Action.RETRY else arming(timeline, step, action=action)


def _planned(timeline: Timeline, step: Step) -> Act | None:
    """What planned the step's batch, if that came before the step."""
    for act in timeline.acts:
        mine = (act.place.query, act.batch) == (step.act.place.query, step.act.batch)
        if mine and act.place.kind == "offsets" and act.entry.operation is Operation.RENAME and act.entry.seq < step.act.entry.seq:
            return act
    return None


def _occurrence(timeline: Timeline, step: Step, planned: Act | None) -> int:
    looks = pattern(step.act.entry.target)
    alike = [
        act.entry.seq
        for act in timeline.acts
        if act.entry.operation is step.act.entry.operation
        and pattern(act.entry.target) == looks
        and (planned is None or act.entry.seq > planned.entry.seq)
    ]
    return sorted(alike).index(step.act.entry.seq) + 1


def _ends(timeline: Timeline) -> str:
    if not timeline.steps:
        return "none to none"
    return f"{timeline.steps[0].name(Side.BEFORE)} to {timeline.steps[-1].name(Side.AFTER)}"
