"""What one output has not taken yet, and how often it is asked while it is down (R8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from streamproof.connectors.sink import Sink
from streamproof.core.manifest import Section
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import SinkError, SinkUnavailable
from streamproof.runtime.batch.pauses import Pause
from streamproof.runtime.watching.events import PublicationWaiting


@dataclass
class Backlog:
    """The batches that wait for one output, and what is known of it since the run began.

    Parameters
    ----------
    limit
        How many batches may wait for it.
    whose
        Whose pauses they are: those of several jobs on one store lie apart.
    clock
        Gives the seconds.
    """

    output: str
    sink: Sink
    limit: int
    whose: str
    clock: Callable[[], float]
    waiting: list[int] = field(default_factory=list)
    """Oldest first."""
    why: SinkUnavailable | None = None
    """Why it could not be asked last."""
    unseen: Sequence[int] | None = None
    """Where it was down when the run began, the batches that Spark had committed then; None once it has answered."""
    newest: int | None = None
    """The newest batch that it had when it was admitted; None before that."""
    just_published: tuple[int, Section] | None = None
    """Where it catches up, what it has taken last: that stays staged until it has taken the next one."""
    _pause: Pause | None = None
    _most: int = 0

    @property
    def pauses(self) -> bool:
        """Whether it is left alone for a while, since it is down."""
        return self._seconds_left > 0

    @property
    def takes_now(self) -> bool:
        """Whether a batch may be published at once: nothing waits before it, and nobody has found the output down."""
        return not self.waiting and not self.pauses and self.unseen is None

    def is_down(self, problem: SinkUnavailable) -> None:
        self.why = problem
        self._pause = self._pause or Pause(self.whose, self.clock)
        self._pause.begin()

    def waits(self, batch: int) -> None:
        """Puts a batch at the end."""
        self.waiting.append(batch)
        self._most = max(len(self.waiting), self._most)

    def require_within_limit(self) -> None:
        """SinkError if more batches wait than may."""
        if len(self.waiting) > self.limit:
            assert self.why is not None, "batches wait for an output that is down"
            raise SinkError(
                f"{len(self.waiting)} batches wait for {self.output}: {self.why.message}",
                required=f"[sink.{self.output}] backlog lets {self.limit} wait. Nothing is lost.",
                remedy="Run the job again once it answers; it publishes them first. Or raise backlog.",
            ).is_at(output=self.output)

    def still_waits(self) -> SinkUnavailable:
        """The error for the end of a run."""
        assert self.why is not None, "batches wait for an output that is down"
        count = len(self.waiting)
        return SinkUnavailable(
            f"{count} batch{'es' if count > 1 else ''} of {self.output} wait: {self.why.message}",
            required="Nothing is lost: the rows are staged, their manifests name them.",
            remedy="Run the job again once it answers; it publishes them first.",
        ).is_at(output=self.output, batch=self.waiting[0])

    def is_over(self) -> Note | None:
        """That it had to wait, where it had; its pauses are forgotten. After the next failure they begin short again."""
        if self._pause is None:
            return None
        most, tries, why = self._most, self._pause.tries, self.why
        self._pause, self._most, self.why = None, 0, None
        assert why is not None, "a pause has a reason"
        held = f"{most} batch{'es' if most != 1 else ''} at most, " if most else ""
        said = f"The output {self.output} had to wait ({held}asked {tries + 1} times, with growing pauses): {why.message}"
        return Note(NoteCode.HAD_TO_WAIT, said)

    def now(self, query: str) -> PublicationWaiting:
        """What waits, as an event."""
        why = self.why.message if self.why is not None else ""
        return PublicationWaiting(query, self.output, len(self.waiting), self._seconds_left, why)

    @property
    def _seconds_left(self) -> float:
        return self._pause.seconds_left if self._pause is not None else 0.0
