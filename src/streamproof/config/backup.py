"""The table [backup]: where a job copies its checkpoints to while it runs, how often, and how many copies stay."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import PlainValidator

from streamproof.config.fields import Duration, Table, Text, count
from streamproof.config.places import is_remote, resolved
from streamproof.config.problems import Problem

OFTEN = timedelta(minutes=15)


class BackupConfig(Table):
    """Backups of a job's checkpoints on a schedule.

    Parameters
    ----------
    to
        The folder; each query has one of its own in it.
    every
        How long after one backup the next is due.
    keep
        So many of each query stay.
    """

    to: Text
    every: Duration = OFTEN
    keep: Annotated[int, PlainValidator(count)] = 3


def check_backup(backup: BackupConfig, checkpoint: str, root: Path) -> Iterator[Problem]:
    """What is wrong with where and how often checkpoints are backed up; the checkpoint as the file has it, relative to `root`."""
    if not backup.every:
        yield Problem(("backup", "every"), "every is of no length.", 'Write how often, such as "15 minutes".')
    remote = [(key, path) for key, path in ((("backup", "to"), backup.to), (("job", "checkpoint"), checkpoint)) if is_remote(path)]
    for key, path in remote:
        yield Problem(
            key,
            f"{key[1]} is {path}, which is in a store.",
            "Checkpoints are backed up from a folder of this machine to another one, a mounted disk for instance.",
            "Take [backup] out, and copy the checkpoint by the means of the store.",
        )
    if remote:
        return
    here, there = (Path(resolved(path, root).removeprefix("file:")).resolve() for path in (checkpoint, backup.to))
    if here == there or here in there.parents or there in here.parents:
        yield Problem(
            ("backup", "to"),
            f"to is {backup.to}, and the checkpoints are in {checkpoint}.",
            "What destroys the one must leave the other: neither lies in the other, best on another disk.",
            "Name another folder; it is made if it is not there.",
        )
