"""After a checkpoint was restored: the batches after the backup are done again as they were planned, one by one (R2, R4).

Their manifests lie in `_streamproof/ahead`. The next one is put among the manifests, as it was when a crash had taken all else of its batch. So a start
restores its logs, Spark does that one batch, and it is compared with what the outputs have. Planned anew, the batches would be cut otherwise than
those that are published.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.checkpoint.own import AHEAD
from streamproof.core.notes import Note as CodedNote
from streamproof.core.notes import NoteCode
from streamproof.runtime.journal.logs import QueryLogs
from streamproof.runtime.journal.manifests import FOLDER, ManifestStore
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query
from streamproof.runtime.watching.events import Emitter, Note, QueryStarted, QueryStarting, RunEvent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.runtime.binding.bound import BoundJob

_LOOK_EVERY_SECONDS = 1
_PATIENCE_SECONDS = 30.0


def do_again_as_planned(
    bound: "BoundJob", query: str, spark: "SparkSession", start: Start, end: threading.Event
) -> Sequence[CodedNote]:
    """Does all batches again whose plans were restored with the checkpoint of a query; nothing where there are none. What is worth knowing of it.

    What a start is asked to accept holds for each of them. Where the run is asked to end, the next one goes on.

    Raises
    ------
    StreamproofError
        What stops a batch, as in any start; the plans stay, and the next start goes on with them.
    """
    ahead = _Ahead(_jvm.Storage(spark), bound.checkpoint(query))
    notes: list[CodedNote] = []

    def note(code: NoteCode, said: str) -> None:
        notes.append(CodedNote(code, said))
        start.emitter.emit(Note(query, said, str(code)))

    if bound.config.trigger.real_time:  # its rows go out at least once, and its manifests are made after the commit
        if left := ahead.give_up():
            note(NoteCode.PLANS_GIVEN_UP, _unused(query, left, "the trigger is real-time, whose rows are sent while a batch runs"))
        return notes
    quiet = Emitter(_OfOneStart(start.emitter))
    while not end.is_set():
        numbers = ahead.left()
        if not numbers:
            break
        batch, last = ahead.next, numbers[-1]
        if not ahead.ready():
            note(NoteCode.PLANS_GIVEN_UP, _unused(query, ahead.give_up(), f"the plan of batch {batch} is not among them"))
            break
        if not notes:
            said = f"The checkpoint of {query} was restored: its batches {batch} to {last} are done again as they were planned."
            note(NoteCode.AS_PLANNED, said)
        running = start_query(bound, query, spark.newSession(), replace(start, one_batch=True, replay_last=False, emitter=quiet))
        try:
            while not running.wait(_LOOK_EVERY_SECONDS) and not end.is_set():
                running.protocol.look_for_commit()
            if end.is_set():
                running.begin_no_more()
                running.end(_PATIENCE_SECONDS / 3)
            running.protocol.look_for_commit()
        except BaseException:
            running.stop()
            raise
        if ahead.next == batch:  # it was not committed: the start that comes now says why
            break
    return notes


def _unused(query: str, batches: Sequence[int], why: str) -> str:
    return f"The plans of the batches {batches[0]} to {batches[-1]} of {query} are not used: {why}. They are planned anew."


class _OfOneStart:
    """Hears the starts of these batches, and passes on what one start says: that the query begins, once; not that logs were put back for each batch."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter, self._begun = emitter, set[type[RunEvent]]()

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, Note) and event.code == NoteCode.RESTORED:
            return
        if isinstance(event, QueryStarting | QueryStarted):
            if type(event) in self._begun:
                return
            self._begun.add(type(event))
        self._emitter.emit(event)


class _Ahead:
    """The plans that lie in a checkpoint, of batches that it has not committed."""

    def __init__(self, storage: _jvm.Storage, checkpoint: str) -> None:
        self._storage, self._folder = storage, f"{checkpoint}/{FOLDER}/{AHEAD}"
        self._manifests, self._logs = ManifestStore(storage, checkpoint), QueryLogs(storage, checkpoint)

    @property
    def next(self) -> int:
        """The batch after the newest one that Spark has committed."""
        return max(self._logs.batches("commits"), default=-1) + 1

    def left(self) -> Sequence[int]:
        """The batches that are to be done again, ascending; plans of those that are done go."""
        there = sorted(int(name) for name in self._storage.names(self._folder) if name.isdigit())
        if not there:
            return ()
        begins = self.next
        for number in there:
            if number < begins:
                self._storage.delete(f"{self._folder}/{number}")
        left = [number for number in there if number >= begins]
        if not left:
            self._storage.delete(self._folder)
        return left

    def ready(self) -> bool:
        """Puts the manifest of the next batch among the manifests, unless Spark has planned that batch already; whether it can be done as planned."""
        batch = self.next
        text = self._storage.read(f"{self._folder}/{batch}")
        if text is not None:
            self._storage.create_atomic(self._manifests.path(batch), text)
        return text is not None or batch in self._logs.batches("offsets")

    def give_up(self) -> Sequence[int]:
        """Removes the plans; of which batches there were any."""
        left = self.left()
        if left:
            self._storage.delete(self._folder)
        return left
