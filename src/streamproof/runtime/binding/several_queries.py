"""Says what it costs if several main outputs read one source: each is a query of its own (R14)."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from streamproof.core.notes import Note, NoteCode

if TYPE_CHECKING:
    from streamproof.stream.node import Node


def prices(main: "Mapping[str, Node]") -> Iterator[Note]:
    """A note for each source that several main outputs read, with what that costs. `main` has the tree of each."""
    readers: dict[str, list[str]] = {}
    for query, root in main.items():
        for source in root.sources:
            readers.setdefault(source, []).append(query)
    for source, queries in readers.items():
        if len(queries) > 1:
            yield _price(source, queries, decide_late=sum(main[query].stateful for query in queries) > 1)


def _price(source: str, queries: list[str], *, decide_late: bool) -> Note:
    *others, last = queries
    late = ", with a watermark of its own, so that they can disagree about what is late" if decide_late else ""
    said = (
        f"{', '.join(others)} and {last} are queries of their own: each reads {source} again{late}. Rows that are to go to several places "
        f"take one query: an output may have several sinks, such as [sink.{queries[0]}.postgres] and [sink.{queries[0]}.kafka]."
    )
    return Note(NoteCode.SEVERAL_QUERIES, said)
