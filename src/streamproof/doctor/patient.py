"""What the doctor has in hand of a job: some of it may be missing, and then it is said why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from streamproof.doctor.finding import Place
from streamproof.doctor.text.settings import settings_of

if TYPE_CHECKING:
    from streamproof.checkpoint.inspection import Inspection
    from streamproof.config import JobConfig
    from streamproof.connectors.source import Holding
    from streamproof.doctor.text.program import Program
    from streamproof.runtime.checks.rehearsal import Steps


class Part(StrEnum):
    """What a finding may need, in the words in which the screen says that it is not there."""

    CONFIGURATION = "configuration"
    STEPS = "steps of the job"
    TEXT = "Python text"
    CHECKPOINT = "checkpoint"
    FOLDERS = "folders of the sources"
    SERVICES = "services of the sources"


@dataclass(frozen=True)
class Patient:
    """A job as it is looked at.

    Parameters
    ----------
    steps
        What each query does, by calling the job without Spark.
    programs
        The Python files of the job, parsed: the file that it begins in, and those of its own sinks.
    checkpoints
        Those that are there, one for each query.
    holdings
        By source what it holds now: folders, and topics where services were asked.
    outage
        How long the job must be able to stand still without losing anything.
    missing
        By part why it is not there.
    """

    target: str
    config: "JobConfig | None" = None
    steps: "Sequence[Steps]" = ()
    programs: "Sequence[Program]" = ()
    checkpoints: "Sequence[Inspection]" = ()
    holdings: "Mapping[str, Sequence[Holding]]" = field(default_factory=dict)
    outage: timedelta = timedelta(days=1)
    missing: Mapping[Part, str] = field(default_factory=dict)

    def has(self, *parts: Part) -> bool:
        """Whether all of these are there."""
        return not self.missing.keys() & set(parts)

    @property
    def is_unread(self) -> bool:
        """Whether the target is a text, and nothing of a job was found in it."""
        return bool(self.programs) and not self.has(Part.TEXT)

    @property
    def bound(self) -> "JobConfig":
        """The configuration, for who needs it and has said so."""
        assert self.config is not None, "a way that needs the configuration is taken only where there is one"
        return self.config

    def key(self, *path: str) -> Place:
        """The place of a key of the configuration file."""
        table = path[:2] if path[0] in ("source", "sink", "table") else path[:1]
        rest = ".".join(path[len(table) :])
        return Place(self.bound.file, self.bound.line_of(*path), f"[{'.'.join(table)}]{f' {rest}' if rest else ''}")

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of Spark that the configuration or the text of the job gives; those of the command line are not known here."""
        found = dict(self.config.spark) if self.config is not None else {}
        for program in self.programs:
            found = {**settings_of(program), **found}
        return found
