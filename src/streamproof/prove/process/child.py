"""One scenario in a process of its own on the warm JVM: fresh job module, fresh Python memory (R17)."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from streamproof.core.notes import Note, NoteCode
from streamproof.errors import StreamproofError
from streamproof.prove.process import guard
from streamproof.prove.process.gateway import attach

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
        What is run: its kind, and what that kind needs to find it again in a process of its own.
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
    where a program can do it; `widest` how many tasks a stage had at most, where that was asked.
    """

    code: str = ""
    message: str = ""
    remedy: str = ""
    action: str | None = None
    notes: tuple[Note, ...] = ()
    operators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attempts: Mapping[str, int] = field(default_factory=dict)
    widest: int = 0

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "notes": [(note.code, note, note.about) for note in self.notes]})

    @classmethod
    def from_json(cls, text: str) -> "ChildResult":
        found = json.loads(text)
        return cls(**{**found, "notes": tuple(Note(NoteCode(code), *rest) for code, *rest in found["notes"])})


def run_child(task: ChildTask) -> ChildResult:
    """Attaches to the JVM, runs the job, reads its state."""
    guard.install(limits_of(task))
    return run_on(attach(task.port, task.secret), task)


def run_on(spark: "SparkSession", task: ChildTask) -> ChildResult:
    """Runs the subject of a task on a session, reads its state."""
    from streamproof.prove.subjects.runners import runner

    limits = limits_of(task)
    guard.allow_in_workers(spark.sparkContext, limits)
    os.environ.update(task.environment)
    result = runner(task.subject["kind"]).run(spark, task)
    refused: StreamproofError | None = guard.refused(limits.record)  # a job that goes on after that is not proved by going on
    if refused is None and result.code == JOB_RAISED:
        refused = guard.of_a_real_place(result.message, "", own_network=task.own_network)
    return result if refused is None else replace(result, code=refused.code, message=refused.message, remedy=refused.remedy)


def limits_of(task: ChildTask) -> guard.Limits:
    """What the processes of a task may touch."""
    ports = guard.ports_of([*task.urls.values(), *task.environment.values()])
    return guard.Limits(task.allowed_hosts, task.folders, ports, task.own_network, f"{task.result}.refused")
