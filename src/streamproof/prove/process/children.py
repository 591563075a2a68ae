"""The processes that run the job for a scenario: their environment, their time limit, and how they are started."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from streamproof.prove.process import apart
from streamproof.prove.process.engine import Engine, Gateway
from streamproof.prove.process.guard import Limits, ports_of
from streamproof.prove.process.task import ChildResult, ChildTask, Conditions, Door
from streamproof.prove.process.zygote import Zygote
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.recording import Recording

_PATIENCE_SECONDS, _RECORDINGS = 300.0, 30.0
FIRST_SECONDS = 1_800.0
"""How long a run of the job may take where nothing tells how long it takes: a recording, or a run beside the scenarios."""


def patience(recording: Recording | None) -> float:
    """How many seconds a run of the job may take: five minutes, or thirty times what the recording took, whichever is more."""
    if recording is None:
        return FIRST_SECONDS
    return max(_PATIENCE_SECONDS, _RECORDINGS * recording.seconds)


def _close(gateway: Gateway) -> None:
    """Closes a door of the JVM, beside: whoever tells of the ends of children waits for no JVM, which may be busy, or be gone."""

    def close() -> None:
        with suppress(Exception):
            gateway.close()

    threading.Thread(target=close, name="close-gateway", daemon=True).start()


class Run(Protocol):
    """What is run, as far as its processes are concerned."""

    folder: Path
    engine: Engine

    def child(self) -> Mapping[str, Any]:
        """What a child is told of it, as JSON: its `runners.RUNNER`, and what that needs."""


class Children:
    """Starts them."""

    def __init__(self, subject: Run, zygote: Zygote, allowed_hosts: Sequence[str] = ()) -> None:
        self._subject, self._zygote, self._hosts = subject, zygote, tuple(allowed_hosts)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables of every one."""
        return self._zygote.environment

    def start(
        self,
        identity: str,
        binding: ScenarioBinding,
        conditions: Conditions | None = None,
        *,
        recording: Recording | None = None,
        struck: bool = False,
    ) -> "Future[ChildResult]":
        """Runs the job in a process of its own.

        Parameters
        ----------
        conditions
            Those of the run; its settings come after those of the recording.
        recording
            The run that has shown the subject's operators; None for a recording itself.
        struck
            Whether a fault holds it up.
        """
        gateway = self._subject.engine.gateway()
        binding.folder.mkdir(parents=True, exist_ok=True)
        task = self.task(identity, binding, recording, conditions)
        task = replace(task, door=Door(gateway.port, gateway.secret))
        future = self._zygote.submit(task, patience(recording) * (2 if struck else 1))
        future.add_done_callback(lambda _: _close(gateway))
        return future

    def task(
        self, identity: str, binding: ScenarioBinding, recording: Recording | None, conditions: Conditions | None = None
    ) -> ChildTask:
        """What such a process is told."""
        results = self._subject.folder / "children"
        results.mkdir(exist_ok=True)
        result, given = str(results / f"{identity}.json"), conditions or Conditions()
        settings = {**(recording.settings if recording else {}), **given.settings}
        ports = ports_of([*binding.urls.values(), *binding.environment.values()])
        return ChildTask(
            id=identity,
            subject=self._subject.child(),
            binding=binding,
            result=result,
            limits=Limits(self._hosts, apart.folders(), ports, apart.has_own_network(), f"{result}.refused"),
            conditions=replace(given, settings=settings),
            operators=recording.operators if recording else None,
        )
