"""Where one scenario lies: the folder, the data of each input, and the services that the subject is bound to there."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

CHECKPOINT = "checkpoint"
OUT = "out"
TYPES = "types.json"
"""In a scenario's folder: by output the types of its columns, for services that keep none."""


@dataclass(frozen=True)
class ScenarioBinding:
    """Where one scenario lies.

    Parameters
    ----------
    base
        The URI that the subject is bound to.
    folder
        The same place on local disk.
    data
        By input, the folder of its files, or its topic.
    files_per_batch, records_per_batch
        How much of folders and topics is one batch; None takes what there is.
    urls
        Where the services of the proof are, by their names.
    environment
        Variables that the job finds when it is bound: where the stores are that it keeps by itself.
    """

    base: str
    folder: Path
    data: Mapping[str, str]
    files_per_batch: int | None
    records_per_batch: int | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def in_one_batch(self) -> "ScenarioBinding":
        """The same with a subject that takes what there is."""
        return replace(self, files_per_batch=None, records_per_batch=None)
