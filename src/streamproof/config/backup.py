"""The table [backup]: where a job copies its checkpoints to while it runs, how often, and how many copies stay."""

from datetime import timedelta
from typing import Annotated

from pydantic import PlainValidator

from streamproof.config.fields import Duration, Table, Text, count

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
