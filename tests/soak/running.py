"""A job that runs for many batches in processes of its own, and is looked at while it does."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from soak.kinds import Kind
from soak.samples import Sample, sampled
from streamproof.core.clock import monotonic_seconds

AT_MOST = 300.0
"""So many seconds no batch may take, nor a start, nor an end."""
SAMPLES = 40
ENDED_AS_ASKED = (128 + signal.SIGTERM, -signal.SIGTERM)
"""The exit code of `streamproof run` after SIGTERM, and that of a program that the signal has ended."""


@dataclass
class Soaked:
    """What a run has shown: samples, and of each start how long it took, by the batch that it came after."""

    kind: str
    batches: int
    samples: list[Sample] = field(default_factory=list)
    starts: dict[int, float] = field(default_factory=dict)


class Process:
    """The job, running."""

    def __init__(self, kind: Kind, folder: Path, log: Path, given: Mapping[str, str]) -> None:
        self.took_ms: list[float] = []
        tmp = folder / "tmp"
        tmp.mkdir(exist_ok=True)
        environment = {**os.environ, **given, "TMPDIR": str(tmp), "SPARK_LOCAL_DIRS": str(tmp)}
        java = f"-Djava.io.tmpdir={tmp} {environment.get('SPARK_SUBMIT_OPTS', '')}"
        self._log = log.open("a")
        self._popen = subprocess.Popen(
            kind.command(folder),
            env={**environment, "SPARK_SUBMIT_OPTS": java},
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=folder,
        )
        threading.Thread(target=self._hear, name="soak-events", daemon=True).start()

    @property
    def number(self) -> int:
        return self._popen.pid

    def require_alive(self) -> None:
        if self._popen.poll() is not None:
            raise RuntimeError(f"The job has ended with {self._popen.returncode}; see {self._log.name}.")

    def end(self) -> None:
        """Asks it to end; RuntimeError if it ends for another reason, such as an account that does not add up."""
        self._popen.send_signal(signal.SIGTERM)
        try:
            code = self._popen.wait(AT_MOST)
        finally:
            self._popen.kill()
            self._log.close()
        if code not in ENDED_AS_ASKED:
            raise RuntimeError(f"The job has ended with {code}; see {self._log.name}.")

    def taken(self) -> list[float]:
        """How long the batches took since it was asked last."""
        taken, self.took_ms = self.took_ms, []
        return taken

    def _hear(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("kind") == "batch-committed" and event.get("total_ms") is not None:
                self.took_ms.append(float(event["total_ms"]))


def soaked(
    kind: Kind,
    folder: Path,
    batches: int,
    settings: Mapping[str, str],
    *,
    every: float = 0.0,
    say: Callable[[Sample], None] = lambda _: None,
) -> Soaked:
    """Runs a job until it has committed so many batches; after the first twentieth, and before the last, it is started anew.

    A file is fed once the one before is read, each `every` seconds at most. Batches without input, which Spark makes when a watermark has
    moved, count too.

    Raises
    ------
    RuntimeError
        If the job ends, or hangs.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kind.write(folder, settings)
    found = Soaked(kind.name, batches)
    sample_at, start_at = deque(range(*_each(batches))), deque((batches // 20, batches - 1))
    with kind.around(folder) as given, closing(_Run(kind, folder, every, given)) as run:
        while (done := run.on()) < batches:
            if done >= sample_at[0]:
                sample_at.popleft()
                found.samples.append(run.sample(done))
                say(found.samples[-1])
            if start_at and done >= start_at[0]:
                found.starts[start_at.popleft()] = run.again()
        found.samples.append(run.sample(done))
    return found


def _each(batches: int) -> tuple[int, int, int]:
    each = max(batches // SAMPLES, 5)
    return each, batches + 2 * each, each


class _Run:
    """A job that is fed, and started anew."""

    def __init__(self, kind: Kind, folder: Path, every: float, given: Mapping[str, str]) -> None:
        self._kind, self._folder, self._every, self._given = kind, folder, every, given
        self._log = folder.with_name(f"{folder.name}.log")
        self._log.unlink(missing_ok=True)
        self._fed, self._fed_at, self._done, self._done_at = 0, 0.0, 0, monotonic_seconds()
        self.process = Process(kind, folder, self._log, given)

    def on(self) -> int:
        """Feeds it when it is due, and waits a moment; how many batches are committed."""
        self.process.require_alive()
        now = monotonic_seconds()
        if self._kind.read(self._folder) >= self._fed and now >= self._fed_at + self._every:
            self._kind.feed(self._folder, self._fed, self._given)
            self._fed, self._fed_at = self._fed + 1, now
        time.sleep(0.02)
        done = self._kind.committed(self._folder)
        if done > self._done:
            self._done, self._done_at = done, now
        elif now > self._done_at + AT_MOST:
            raise RuntimeError(f"No batch was committed for {AT_MOST:.0f} seconds after batch {done}; see {self._log}.")
        return done

    def sample(self, done: int) -> Sample:
        return sampled(self._folder, self._kind.query, self.process.number, done, self.process.taken())

    def close(self) -> None:
        self.process.end()

    def again(self) -> float:
        """Ends the job and starts it; how many seconds until it has committed a batch."""
        self.process.end()
        done, began = self._kind.committed(self._folder), monotonic_seconds()
        self.process = Process(self._kind, self._folder, self._log, self._given)
        while self.on() <= done:
            pass
        self.process.taken()
        return monotonic_seconds() - began
