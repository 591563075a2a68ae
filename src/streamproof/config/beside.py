"""What a run does beside its batches: the tables [backup] and [openlineage]."""

from dataclasses import dataclass

from streamproof.config.backup import BackupConfig
from streamproof.config.fields import Table, Text


class OpenLineageConfig(Table):
    """A catalogue that is told what the queries of a job read and write.

    Parameters
    ----------
    to
        The URL of a collector, "http://localhost:5000", or "file:PATH" for a file that takes one JSON object a line.
    """

    to: Text


@dataclass(frozen=True)
class Beside:
    """Both; None of what a job has not."""

    backup: BackupConfig | None = None
    openlineage: OpenLineageConfig | None = None
