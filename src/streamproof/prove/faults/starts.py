"""Faults of the one who starts a job again: without its checkpoint, with --replay-last, with other settings, with another job.

- *new-checkpoint*: the job must refuse the outputs that another checkpoint has filled, and leave them as they are; with the checkpoint put
  back it goes on. It fired if the disk was that of the step, which has published rows.
- *replay-last*: the newest batch is computed again, which its commit tells, what is published of it whole stands, and everything stays exact.
  It fired if the disk was that of the step.
- *other-settings*: the interrupted batch is split into other tasks, state partitions stay as the checkpoint has them, and everything is
  exact. It fired if a stage had more tasks than the recorded settings give.
- *outside-settings*: the session has settings from somewhere else by which records are lost; the job says so, and has its own. It fired if
  the job noted each of them.
- *changed-job*: the job that starts keeps other state than the checkpoint was made with. It must refuse, and publish nothing; as it was, it
  goes on. It fired if the disk was that of the step.
"""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof.core.notes import NoteCode
from streamproof.core.phases import Phase, Side, StepName
from streamproof.errors import OutputInUse, PlanChanged
from streamproof.prove.faults.on_files import Case, FileFault, NotMet, Unmet, after, middle_batch, require_same

if TYPE_CHECKING:
    from streamproof.prove.process.task import ChildResult

_INPUT_PARTITIONS = 5
OTHER_SETTINGS = {
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.files.minPartitionNum": str(_INPUT_PARTITIONS),
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.adaptive.enabled": "false",
}

OUTSIDE_SETTINGS = {
    "mapreduce.input.linerecordreader.line.maxlength": "20",
    "spark.sql.files.ignoreCorruptFiles": "true",
}


def _new_checkpoint(case: Case) -> "ChildResult":
    used, away = case.written(), case.checkpoints.with_name("checkpoint-away")
    case.checkpoints.rename(away)
    refused = case.start()
    shutil.rmtree(case.checkpoints, ignore_errors=True)
    away.rename(case.checkpoints)
    case.require_stopped_by(OutputInUse, refused)
    require_same("a new checkpoint has changed outputs that another one has filled", used, case.written())
    return case.start()


def _replay_last(case: Case) -> "ChildResult":
    commit = case.checkpoint / "commits" / str(case.batch)
    before, published = commit.stat().st_mtime_ns, case.published()
    result = case.start(replay_last=True)
    if result.code:
        return result
    if not commit.exists() or commit.stat().st_mtime_ns == before:
        raise NotMet(
            Unmet.NOT_REPLAYED,
            "--replay-last has not computed the newest batch again",
            "its commit is written anew",
            "the one that was there",
        )
    left = {name: content for name, content in case.published().items() if name in published}
    require_same("--replay-last has published anew what was published whole", published, left)
    return result


def _other_settings(case: Case) -> "ChildResult":
    result = case.start(settings=OTHER_SETTINGS)
    case.fired &= bool(result.code) or result.widest >= _INPUT_PARTITIONS
    return result


def _outside_settings(case: Case) -> "ChildResult":
    result = case.start(from_outside=OUTSIDE_SETTINGS)
    noted = {note.about for note in result.notes if note.code is NoteCode.SET_FROM_OUTSIDE}
    case.fired &= bool(result.code) or noted >= OUTSIDE_SETTINGS.keys()
    return result


def _changed_job(case: Case) -> "ChildResult":
    before = case.published()
    case.require_stopped_by(PlanChanged, case.start(changed=True))
    require_same("a job that was refused has changed what is published", before, case.published())
    return case.start()


def _with_state(steps: Sequence[StepName]) -> StepName | None:
    """After the commit of the middle batch, of queries that keep state."""
    stateful = any(step.phase is Phase.WORK and step.kind.startswith("state") for step in steps)
    return after(Phase.COMMIT, "commits")(steps) if stateful else None


def _behind_rows(steps: Sequence[StepName]) -> StepName | None:
    """After the commit of the middle one of the batches from which on rows are published."""
    first = min((step.batch for step in steps if step.phase is Phase.PUBLISH), default=None)
    commits = [
        step
        for step in steps
        if step.phase is Phase.COMMIT and step.side is Side.AFTER and first is not None and step.batch >= first
    ]
    return commits[len(commits) // 2] if commits else None


def _half_published(steps: Sequence[StepName]) -> StepName | None:
    """After the first publication of the middle batch: the replay must equal what stands. Else after its manifest."""
    middle = middle_batch(steps)
    behind = [step for step in steps if (step.batch, step.side) == (middle, Side.AFTER)]
    published = (step for step in behind if step.phase is Phase.PUBLISH and not step.kind.endswith((".ledger", ".copy")))
    return next(published, None) or after(Phase.STAGE, "manifest")(steps)


FAULTS = (
    FileFault("new-checkpoint", "the job starts with a new checkpoint over its used outputs", _behind_rows, _new_checkpoint),
    FileFault(
        "replay-last", "the process dies, and starts again with --replay-last,", after(Phase.COMMIT, "commits"), _replay_last
    ),
    FileFault(
        "other-settings",
        "the process dies, and starts again with other settings of Spark,",
        _half_published,
        _other_settings,
    ),
    FileFault(
        "outside-settings",
        "the process dies, and starts again in a session with settings that lose records,",
        after(Phase.PLAN, "offsets"),
        _outside_settings,
    ),
    FileFault("changed-job", "the process dies, and a job that keeps other state starts", _with_state, _changed_job),
)
