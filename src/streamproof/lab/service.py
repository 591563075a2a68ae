"""What all services of the lab are: started, asked where they are, stopped."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


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
    @abstractmethod
    def url(self) -> str:
        """What clients connect to."""

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
