"""Sources of a union that are quiet: the watermark is the least of those of all sources, so one that delivers nothing holds it (R13)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from streamproof.core.notes import Note, NoteCode
from streamproof.runtime.journal.logs import BatchLogs


@dataclass
class QuietSources:
    """Told each batch of a query; knows which of its sources have delivered nothing while others have.

    Parameters
    ----------
    sources
        Their names, in the order in which Spark numbers them; none where no watermark stands on them.
    """

    query: str
    sources: Sequence[str]
    _newest: dict[str, int] = field(default_factory=dict)
    """By source the newest batch of this run that has read something of it."""

    def saw(self, batch: int, logs: BatchLogs) -> None:
        """A batch is done."""
        for number, source in enumerate(self.sources):
            if logs.has_read(number):
                self._newest[source] = batch

    def notes(self, left_out: Collection[str]) -> Iterator[Note]:
        """A note for each source that holds the watermark, at the end of a run; those that are left out do not."""
        if len(self.sources) < 2 or not self._newest:
            return
        latest = max(self._newest.values())
        delivered = [source for source in self.sources if self._newest.get(source) == latest]
        for source in self.sources:
            if source not in delivered and source not in left_out:
                yield self._note(source, self._newest.get(source), delivered)

    def _note(self, source: str, since: int | None, delivered: Sequence[str]) -> Note:
        when = "in this run" if since is None else f"since batch {since}"
        others, have = " and ".join(delivered), "has" if len(delivered) == 1 else "have"
        said = (
            f"{source} has delivered nothing {when}, and {others} {have}: the watermark of {self.query} is the least of those of its sources, "
            f"so {source} holds it. What is complete by {others} alone waits, and nothing is lost: it goes on when {source} delivers again."
        )
        return Note(NoteCode.SOURCE_QUIET, said, source)
