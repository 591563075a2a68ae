"""What one scenario's process is told, and what it says when it ends."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from streamproof.core.notes import Note, NoteCode

JOB_RAISED = "job-raised"
"""The code of a result whose job was stopped by an error of the user's own code."""
OWN_FAULT = "own-fault"
"""The code of a result whose job was stopped by a fault of Streamproof's own."""


@dataclass(frozen=True)
class ChildTask:
    """What a child does: run every query of the subject to its end on the scenario's folder, then write down what is in its state.

    Parameters
    ----------
    subject
        What is run: the module that runs it (`runners.RUNNER`), and what that needs to find it again in a process of its own.
    base, folder, data, files_per_batch
        The binding.
    port, secret
        The gateway of this child to the JVM.
    operators
        Per query, the stateful operators: operator id to Spark's name of it; None where they are not known yet.
    records_per_batch, urls, environment
        The rest of the binding, where services are in it.
    steps, crash_at, desk
        A file for the steps that are taken in services, the one to die at, or where to report it to.
    replay_last
        Take back the newest commit first: the remedy of a damaged checkpoint.
    count_tasks
        Say how many tasks the widest stage had.
    from_outside
        Settings that a session has before the job gives it its own.
    changed
        Whether the job is another one, which keeps other state.
    allowed_hosts, folders, own_network
        What it may touch, as in `Limits`.
    """

    id: str
    subject: Mapping[str, Any]
    base: str
    folder: str
    data: Mapping[str, str]
    files_per_batch: int | None
    port: int
    secret: str
    result: str
    trace: bool = True
    replay_last: bool = False
    count_tasks: bool = False
    read_state: bool = True
    operators: Mapping[str, Mapping[str, str]] | None = None
    records_per_batch: int | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    steps: str = ""
    crash_at: str = ""
    desk: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    from_outside: Mapping[str, str] = field(default_factory=dict)
    changed: bool = False
    allowed_hosts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    own_network: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ChildTask":
        found = json.loads(text)
        return cls(**{**found, **{name: tuple(found[name]) for name in ("allowed_hosts", "folders")}})


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
