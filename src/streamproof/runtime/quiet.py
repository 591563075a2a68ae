"""Sources of a union that are quiet: the watermark is the least of those of all sources, so one that delivers nothing holds it (R13)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from streamproof.checkpoint.logs import is_initial_positions, parse_initial_positions, positions_in
from streamproof.core.notes import Note, NoteCode
from streamproof.runtime.logs import BatchLogs


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
            if _has_read(logs, number):
                self._newest[source] = batch

    def notes(self) -> Iterator[Note]:
        """A note for each source that holds the watermark, at the end of a run."""
        if len(self.sources) < 2 or not self._newest:
            return
        latest = max(self._newest.values())
        for source in self.sources:
            since = self._newest.get(source)
            if since != latest:
                yield self._note(source, since)

    def _note(self, source: str, since: int | None) -> Note:
        when = "in this run" if since is None else f"since batch {since}"
        others = " and ".join(other for other in self.sources if other != source)
        said = (
            f"{source} has delivered nothing {when}, and {others} has: the watermark of {self.query} is the least of those of its sources, so "
            f"{source} holds it. What is complete by {others} alone waits, and nothing is lost: it goes on when {source} delivers again."
        )
        return Note(NoteCode.SOURCE_QUIET, said, source)


def _has_read(logs: BatchLogs, number: int) -> bool:
    """Whether a batch has read files of a source, or records between two positions."""
    fingerprint, key = logs.fingerprint, str(number)
    if key in fingerprint.files:
        return bool(fingerprint.files[key])
    start = fingerprint.starts.get(key, "")
    begins = parse_initial_positions(start) if is_initial_positions(start) else positions_in(start) if start else None
    ends = positions_in(fingerprint.offsets[number]) if fingerprint.offsets[number] != "-" else begins
    return ends != begins
