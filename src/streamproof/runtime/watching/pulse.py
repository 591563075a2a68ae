"""The pulse of a run: about once a second its own thread says that it is alive, and what it sees of each query.

It is no event: nobody who reads the events of a run wants one each second.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class QueryPulse:
    """What the thread of the run sees of a query.

    Parameters
    ----------
    says
        What Spark says that it does, such as "Getting offsets from ...".
    waits
        Whether it has looked for input and found none, and waits for the next time.
    works
        Whether it has found some.
    tasks
        Changes whenever a task of the batch under way has come to an end; None where nobody has looked.
    look
        Changes whenever it looks for input again; None where nobody has looked.
    ended
        Whether it runs no more.
    """

    query: str
    says: str = ""
    waits: bool = False
    works: bool = False
    tasks: tuple[int, ...] | None = None
    look: int | None = None
    ended: bool = False


@dataclass(frozen=True)
class Pulse:
    """One beat: all queries of the job, each of which has been started."""

    queries: tuple[QueryPulse, ...]


class FeelsPulse:
    """The base of a listener of ours that is given the pulse of a run, too.

    It is a class and no protocol: an object of a user's may have a method `beat` that means something else.
    """

    def beat(self, pulse: Pulse) -> None:
        """Called by the thread of the run, which waits for nothing in it."""
        raise NotImplementedError
