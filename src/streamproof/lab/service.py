"""What all services of the lab are: started, asked where they are, stopped; and those of one process, which can die and come back."""

import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from streamproof.errors import LabError
from streamproof.lab.process import Process, free_ports


def empty(folder: Path) -> None:
    """Makes a folder that holds nothing, whatever an earlier service of a lab has left there; LabError where it is somebody else's."""
    mark = folder.with_name(f"{folder.name}.of-streamproof-lab")
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise LabError(f"{folder} is not empty, and no lab has made it.", remedy="Choose another folder: --dir.")
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    mark.touch()


class Service(ABC):
    """A running service; a context manager. What it has started is gone when `stop` returns, or when this process dies."""

    @abstractmethod
    def start(self) -> Self:
        """Starts it and waits until it answers.

        Raises
        ------
        LabError
            If something of it cannot be fetched, or it does not come up; with the end of its log.
        """

    @abstractmethod
    def stop(self) -> None:
        """Ends it."""

    @property
    def dead(self) -> str:
        """What of it has ended by itself, with the end of its log; empty where all of it runs."""
        return ""

    @property
    @abstractmethod
    def url(self) -> str:
        """What clients connect to."""

    @staticmethod
    @abstractmethod
    def answers(address: str) -> bool:
        """Whether it answers at its `url`, or at one address of several there, asked in its own protocol."""

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


@dataclass
class SingleProcess(Service):
    """A service of one process on one port of 127.0.0.1, which it keeps over `restart`.

    Parameters
    ----------
    folder
        Where its data and its log go.
    """

    folder: Path
    _port: int = field(default=0, init=False)
    _process: Process | None = field(default=None, init=False)

    def start(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._port = self._port or free_ports(1)[0]
        self._launch()
        return self

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()

    def kill(self) -> None:
        """Ends it as kill -9 does."""
        self._started.kill()

    def pause(self) -> None:
        """Stops it in its tracks: it holds its connections and answers nothing."""
        self._started.pause()

    def resume(self) -> None:
        self._started.resume()

    def restart(self) -> None:
        """Ends it where it still runs and starts it on the same port, and on its data where it keeps any; waits until it answers."""
        self._started.stop()
        self._launch()

    def revive(self) -> None:
        """Starts it again if it is dead."""
        if not self._started.running:
            self.restart()

    @property
    def dead(self) -> str:
        return "" if self._process is None else self._process.ended

    @abstractmethod
    def _launch(self) -> None:
        """Starts the process by `_run`."""

    def _run(self, process: Process) -> None:
        """Keeps the process and waits until it answers."""
        self._process = process
        process.ready(lambda: self.answers(self.url))

    @property
    def _started(self) -> Process:
        assert self._process is not None, "a service that was started has a process"
        return self._process
