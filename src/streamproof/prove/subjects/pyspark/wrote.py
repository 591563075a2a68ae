"""Which query's function has written which output, by the bound writers of a job: its rows are read back then."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Written:
    """The outputs that functions of `foreachBatch` have written, by query.

    Each query calls its function in a thread of its own. If the function
    writes from further threads, such as a pool, the write counts for every function that runs at that moment.
    """

    def __init__(self) -> None:
        self._by: dict[str, list[str]] = {}
        self._here = threading.local()
        self._running: list[str] = []

    @contextmanager
    def by(self, query: str) -> Iterator[None]:
        """While the function of a query runs."""
        self._here.query = query
        self._running.append(query)
        try:
            yield
        finally:
            self._running.remove(query)
            del self._here.query

    def note(self, output: str) -> None:
        """Notes that a bound writer writes an output now."""
        here = getattr(self._here, "query", None)
        for query in [here] if here is not None else set(self._running):
            its = self._by.setdefault(query, [])
            if output not in its:
                its.append(output)

    def of(self, query: str) -> tuple[str, ...]:
        return tuple(self._by.get(query, ()))
