"""Can the newest batch be computed again: looked at before anything is taken back, and before anybody is told to ask for it (R2)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.checkpoint.logs import OffsetLog, parse_commit, parse_offsets, state_ids
from streamproof.checkpoint.state import operators, reachable
from streamproof.errors import CheckpointError, RemedyAction, StreamproofError, TornCheckpoint
from streamproof.runtime.spark.session import STATE_FORMAT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof._jvm import Storage
    from streamproof.connectors.sink import Sink
    from streamproof.runtime.journal.journal import Journal
    from streamproof.runtime.journal.logs import QueryLogs

_PARTITIONS = "spark.sql.shuffle.partitions"
_LOST_STATE = re.compile(
    r"CANNOT_LOAD|STATE_STORE|CHECKSUM|[Cc]hecksum|does not exist|FileNotFound|MISSING_STATE|Corruption|ZipException|EOF"
)
_NAMED = 3
"""So many files of the state a message names."""


@dataclass(frozen=True)
class Obstacle:
    """Why a batch cannot be computed again: `says` is a sentence, `path` what would have to come back for it."""

    says: str
    path: str


def to_take_back(
    planned: Sequence[int], committed: Sequence[int], has_manifest: Callable[[int], bool], is_published: Callable[[int], bool]
) -> tuple[int, bool]:
    """The batch that `--replay-last` takes back, and whether a newer one is planned on top of it, of which nothing is staged nor published.

    One that is published keeps its plan: other records would land in it.
    """
    newest = planned[-1]
    on_top = bool(committed) and newest not in committed and not has_manifest(newest) and not is_published(newest)
    return (committed[-1] if on_top else newest), on_top


def obstacle(storage: "Storage", logs: "QueryLogs", batch: int, spark: "SparkSession | None" = None) -> Obstacle | None:
    """What is missing of what a batch began with; None where it can be computed again.

    Parameters
    ----------
    spark
        Reads the state that the batch began with, where it is given; else only its files are looked for.
    """
    for number in (batch - 1, batch) if batch else (batch,):
        path = f"{logs.checkpoint}/offsets/{number}"
        if (bad := _unlike(storage.read(path), parse_offsets)) is not None:
            return Obstacle(f"{path} is {bad}, and says what batch {number} has read.", path)
    if batch == 0:
        return None
    path = f"{logs.checkpoint}/commits/{batch - 1}"
    text = storage.read(path)
    keeps_state = bool(storage.list(f"{logs.checkpoint}/state")) or state_ids(text) != {}
    if not keeps_state:
        return None
    if (bad := _unlike(text, parse_commit)) is not None:
        return Obstacle(f"{path} is {bad}, and names the state that batch {batch} began with.", path)
    found = logs.offsets(batch)
    assert found is not None, "it was looked at above"
    lost = list(_lost_state(storage, logs.checkpoint, batch, state_ids(text), found[1]))
    if lost:
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        return Obstacle(
            f"the state that batch {batch} began with is not there: {', '.join(lost[:_NAMED])}{more}.", f"{logs.checkpoint}/state"
        )
    said = _unreadable(spark, logs.checkpoint, batch - 1, 2 if state_ids(text) else 1) if spark is not None else None
    return (
        None
        if said is None
        else Obstacle(f"the state that batch {batch} began with cannot be read: {said}", f"{logs.checkpoint}/state")
    )


def cannot_be_replayed(found: Obstacle, batch: int) -> TornCheckpoint:
    """The error for `--replay-last` where it cannot help, in one place."""
    return TornCheckpoint(
        f"--replay-last cannot compute batch {batch} again: {found.says}",
        required="A batch is computed again from its recorded input, and from the state that the batch before it has left. Nothing was changed.",
        remedy=what_helps(found.path),
    )


def what_helps(path: str) -> str:
    """The ways out where the newest batch cannot be computed again, in one place."""
    return (
        f"Restore {path} from a backup of the checkpoint; the whole checkpoint, as it was when it published last, does as well. Without one start "
        "over: another [job] checkpoint, and new outputs. What is published stays as it is."
    )


def advise(problem: StreamproofError, look: Callable[[], Obstacle | None], *, tried: bool) -> None:
    """Gives an error that advises `--replay-last` another remedy, where that cannot help, or was just tried and has not helped.

    Parameters
    ----------
    look
        Says what stands in the way of computing the newest batch again.
    """
    if problem.action is not RemedyAction.REPLAY_LAST:
        return
    found = look()
    if found is not None:
        problem.change_remedy(f"--replay-last does not help here: {found.says}\n{what_helps(found.path)}")
    elif tried and type(problem) in (CheckpointError, TornCheckpoint):
        problem.change_remedy(f"--replay-last was tried, and does not help here.\n{what_helps('what is named above')}")


def of_query(journal: "Journal", sinks: "Mapping[str, Sink]", spark: "SparkSession") -> Obstacle | None:
    """What stands in the way of computing the newest batch of a query again; None where nothing does, or that cannot be found out now."""
    storage, logs, manifests = journal.storage, journal.logs, journal.manifests
    try:
        planned = logs.batches("offsets")
        if not planned:
            return None
        begun = any(sink.begun(planned[-1]) for sink in sinks.values() if sink.listed)
        batch, _ = to_take_back(
            planned, logs.batches("commits"), lambda number: storage.exists(manifests.path(number)), lambda _: begun
        )
        return obstacle(storage, logs, batch, spark)
    except Exception:  # noqa: BLE001 -- whatever it is, the error that it was asked for says more
        return None


def _unlike(text: str | None, parse: Callable[[str], object]) -> str | None:
    """ "gone" or "torn"; None where it is whole."""
    if text is None:
        return "gone"
    try:
        parse(text)
    except TornCheckpoint:
        return "torn"
    return None


def _lost_state(storage: "Storage", checkpoint: str, version: int, ids: Mapping[str, Any], planned: OffsetLog) -> Iterator[str]:
    """What of a version of the state is not there, partition by partition."""
    if ids:
        for operator, partitions in ids.items():
            for partition, stores in enumerate(partitions):
                folder = f"{checkpoint}/state/{operator}/{partition}"
                there = _files(storage, folder)
                for name in stores:
                    wanted = f"{version}_{name}"
                    if not any(file.startswith(wanted) and size > 0 for file, size in there.items()):
                        yield f"{folder}/{wanted}"
        return
    count = int(planned.settings.get(_PARTITIONS, "0"))
    for operator, size in storage.list(f"{checkpoint}/state").items():
        for partition in range(count) if size < 0 else ():
            folder = f"{checkpoint}/state/{operator}/{partition}"
            there = _files(storage, folder)
            if not any(file.startswith(f"{version}.") and size > 0 for file, size in there.items()):
                yield f"{folder}/{version}"


def _files(storage: "Storage", folder: str) -> dict[str, int]:
    """The files of a partition; those of an operator with several stores lie one folder deeper."""
    found = dict(storage.list(folder))
    for name, size in tuple(found.items()):
        if size < 0 and name not in ("SSTs", "_metadata", "logs"):
            found |= storage.list(f"{folder}/{name}")
    return found


def _unreadable(spark: "SparkSession", checkpoint: str, batch: int, state_format: int) -> str | None:
    """Why the state after a batch cannot be loaded; None where it can, or where Spark's reader does not know how.

    The reader goes by the session's checkpoint format. That is the job's, and the checkpoint may have been begun with another one.
    """
    try:
        own = spark.newSession()
        own.conf.set(STATE_FORMAT, str(state_format))
        with reachable(checkpoint) as path:
            for operator in operators(own, path):
                reader = own.read.format("statestore").option("operatorId", operator).option("batchId", batch)
                reader.load(path).count()
    except Exception as problem:  # noqa: BLE001 -- what Spark raises has no common type
        causes = _jvm.causes_of(problem)
        return _jvm.plain(causes[-1])[:300] if any(map(_LOST_STATE.search, causes)) else None
    return None
