"""What is said when a query of a job dies while others run: which one, and where each of the others was ended."""

from dataclasses import dataclass
from typing import ClassVar

from streamproof.runtime.watching.events import RunEvent
from streamproof.runtime.watching.failure import Stopped


@dataclass(frozen=True)
class QueryDied(RunEvent):
    """An error has ended a query. The other queries of the job are ended now, and then the run: `run-failed` comes last.

    Parameters
    ----------
    batch
        The one that it died in; None where it was in none, or that is not known.
    error, message, code
        As in `run-failed`.
    """

    kind: ClassVar[str] = "query-died"
    query: str
    batch: int | None
    error: str
    message: str
    code: str


@dataclass(frozen=True)
class QueryStopped(RunEvent):
    """A query was ended because another one of its job had died.

    Parameters
    ----------
    because
        The query that had died.
    after
        The newest batch that it has committed; None where it has none.
    in_batch
        The batch that was interrupted, since it took too long; None where the query was ended between two.
    code
        The code of the error that this query had died of by itself meanwhile; empty as a rule.
    """

    kind: ClassVar[str] = "query-stopped"
    query: str
    because: str
    after: int | None
    in_batch: int | None
    code: str = ""

    @classmethod
    def of(cls, stopped: Stopped, because: str) -> "QueryStopped":
        return cls(stopped.query, because, stopped.after, stopped.in_batch, stopped.code)
