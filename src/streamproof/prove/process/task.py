"""What one scenario's process is told, and what it says when it ends."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from streamproof.core.notes import Note, NoteCode
from streamproof.prove.process.guard import Limits
from streamproof.prove.record.binding import ScenarioBinding

JOB_RAISED = "job-raised"
"""The code of a result whose job was stopped by an error of the user's own code."""
OWN_FAULT = "own-fault"
"""The code of a result whose job was stopped by a fault of Streamproof's own."""


STEPS = "steps-in-services"
"""In the folder of a scenario with services: the file for the steps that are taken in them."""


@dataclass(frozen=True)
class Door:
    """The gateway of a child to the JVM."""

    port: int = 0
    secret: str = ""


@dataclass(frozen=True)
class Conditions:
    """Under which conditions a child runs the job, where they are others than the job's own.

    Parameters
    ----------
    trace
        Whether rows bear their traces; without them the job is as it is shipped.
    replay_last
        Take back the newest commit first: the remedy of a damaged checkpoint.
    read_state
        Write down what is in the state at the end.
    count_tasks
        Say how many tasks the widest stage had.
    changed
        Whether the job is another one, which keeps other state.
    settings
        Settings of Spark.
    from_outside
        Settings that a session has before the job gives it its own.
    crash_at, desk
        The step in a service to die at, or where to report it to.
    """

    trace: bool = True
    replay_last: bool = False
    read_state: bool = True
    count_tasks: bool = False
    changed: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    from_outside: Mapping[str, str] = field(default_factory=dict)
    crash_at: str = ""
    desk: str = ""


@dataclass(frozen=True)
class ChildTask:
    """What a child does: run every query of the subject to its end on the scenario's folder, then write down what is in its state.

    Parameters
    ----------
    subject
        What is run: the module that runs it (`runners.RUNNER`), and what that needs to find it again in a process of its own.
    binding
        Where the scenario lies.
    result
        The file for how it ended.
    door
        How it reaches the JVM that is there.
    limits
        What it may touch.
    operators
        Per query, the stateful operators: operator id to Spark's name of it; None where they are not known yet.
    """

    id: str
    subject: Mapping[str, Any]
    binding: ScenarioBinding
    result: str
    door: Door = field(default_factory=Door)
    limits: Limits = field(default_factory=Limits)
    conditions: Conditions = field(default_factory=Conditions)
    operators: Mapping[str, Mapping[str, str]] | None = None

    @property
    def folder(self) -> Path:
        return self.binding.folder

    @property
    def steps(self) -> str:
        """A file for the steps that are taken in services; empty where there are none."""
        return str(self.folder / STEPS) if self.binding.urls else ""

    def under(self, **others: Any) -> "ChildTask":
        """The same under other conditions; its settings go on beside those that are given."""
        settings = {**self.conditions.settings, **others.pop("settings", {})}
        return replace(self, conditions=replace(self.conditions, settings=settings, **others))

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> "ChildTask":
        found = json.loads(text)
        binding = ScenarioBinding(**{**found["binding"], "folder": Path(found["binding"]["folder"])})
        parts = {"binding": binding, "door": Door(**found["door"]), "limits": Limits.of(found["limits"])}
        return cls(**{**found, **parts, "conditions": Conditions(**found["conditions"])})


@dataclass(frozen=True)
class ChildResult:
    """How it ended: `code` is that of the error that stopped the job (empty if none), `message` what it said, `action` what it asks for
    where a program can do it; `widest` how many tasks a stage had at most, where that was asked; `imported` the modules that were not there
    before: those of the job, and none of a library that each scenario has (`imported_once`).
    """

    code: str = ""
    message: str = ""
    remedy: str = ""
    action: str | None = None
    notes: tuple[Note, ...] = ()
    operators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attempts: Mapping[str, int] = field(default_factory=dict)
    widest: int = 0
    imported: tuple[str, ...] = ()

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "notes": [(note.code, note, note.about) for note in self.notes]})

    @classmethod
    def from_json(cls, text: str) -> "ChildResult":
        found = json.loads(text)
        return cls(
            **{
                **found,
                "imported": tuple(found["imported"]),
                "notes": tuple(Note(NoteCode(code), *rest) for code, *rest in found["notes"]),
            }
        )
