"""A query that runs: waiting for it, ending it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.core.clock import monotonic_seconds
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import StreamproofError
from streamproof.runtime.batch.protocol import BatchProtocol, RunEnds
from streamproof.runtime.spark.failures import translated

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK_EVERY_SECONDS = 1


@dataclass
class RunningQuery:
    """A started query with its protocol."""

    name: str
    stream: "StreamingQuery"
    protocol: BatchProtocol
    advise: Callable[[StreamproofError], None] = lambda _: None
    """Looks whether what an error advises can help."""
    for_ever: bool = False
    """Whether it ends only where somebody asks it to, or an error comes."""

    @property
    def notes(self) -> list[Note]:
        """What is worth knowing of it, so far."""
        return self.protocol.events.notes

    def wait(self, seconds: int | None = None) -> bool:
        """Waits for the end of the query, at most `seconds`. True if it has ended.

        Raises
        ------
        StreamproofError
            What stopped it, in our words where we know them.
        """
        try:
            ended = self.stream.awaitTermination(seconds)
        except Exception as problem:  # noqa: BLE001 -- what PySpark raises for a query that died has no common type
            cause = self.protocol.failure
            if isinstance(cause, RunEnds):
                return True
            if isinstance(cause, StreamproofError):
                self.advise(cause)
                raise cause from None
            error = translated(cause or problem)
            self.advise(error)
            raise error from (cause or problem)
        return ended is not False

    def end(self, patience_seconds: float) -> bool:
        """Ends the query between two batches, or in the middle of one that takes longer than this; whether it was between two.

        Raises
        ------
        StreamproofError
            What stopped it meanwhile.
        """
        between = self.is_between_batches(patience_seconds)
        if self.stream.exception() is not None:  # it has died by itself: at our asking, or of what `wait` raises
            self.wait(_LOOK_EVERY_SECONDS)
        self.stop()
        return between

    def is_between_batches(self, patience_seconds: float) -> bool:
        """Waits until no batch is under way, at most as long as this; whether none is.

        Raises
        ------
        StreamproofError
            What stopped the query meanwhile.
        """
        deadline = monotonic_seconds() + patience_seconds
        between = not self.stream.status["isTriggerActive"]
        while not between and self.protocol.ends_between_batches and monotonic_seconds() < deadline:
            between = not self.stream.status["isTriggerActive"] or self.wait(_LOOK_EVERY_SECONDS)
        return between

    def begin_no_more(self) -> None:
        """No batch begins from now on."""
        self.protocol.ending = True

    def stop(self) -> None:
        """Ends the query where it still runs; a batch under way is interrupted, and done again by the next start.

        What cannot be interrupted, such as a call to a store that does not answer, is left where it is: it ends with this process.
        """
        try:
            self.stream.stop()
        except Exception:  # noqa: BLE001 -- Spark's patience is over, or the JVM is gone; neither has a type of its own
            said = f"{self.name} did not stop in time; what it was doing ends with this process."
            self.protocol.events.note(Note(NoteCode.NOT_STOPPED, said))
