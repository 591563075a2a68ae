"""What can be said of a record where no model knows what the job does with it: where it lies, which batch read it, and rows with its ids."""

from collections.abc import Iterator, Mapping
from typing import Any

from streamproof.prove.lineage.following import Follower
from streamproof.prove.lineage.kept import KeptEvent
from streamproof.prove.lineage.moments import Kind, Moment
from streamproof.prove.lineage.values import shown_values

_SHOWN = 5


class PlainFollower(Follower):
    """Follows records through a query of a job that was not written for Streamproof."""

    known = False

    def reads(self, event: KeptEvent) -> bool:
        """Whether the event is of an input of this query: what it has read says so, where it has read anything of the input."""
        files = {file for batch in self.story["batches"] for file in batch["files"]}
        of_input = {other.file for other in self._events.values() if other.source == event.source}
        return bool(files & of_input)

    def _moments(self, event: KeptEvent) -> Iterator[Moment]:
        batch = self._batch_of_file.get(event.file)
        place = {"file": event.file, "row": event.row, "source": event.source or None}
        yield Moment(Kind.NOT_READ, None, about=place) if batch is None else Moment(Kind.ARRIVED, batch["batch"], about=place)
        for output in self.kept.outputs:
            rows = [row for row in output["rows"] if self._has_an_id(row, event)]
            for row in rows[:_SHOWN]:
                about = {
                    "output": output["sink"],
                    "in": row["in"],
                    "values": shown_values(row["values"], output["instants"]),
                    "of": len(rows),
                }
                yield Moment(Kind.MAY_BE_IN, row["batch"], about=about)

    @staticmethod
    def _has_an_id(row: Mapping[str, Any], event: KeptEvent) -> bool:
        return any(str(value) in event.ids for value in row["values"].values() if value is not None)


__all__ = ["PlainFollower"]
