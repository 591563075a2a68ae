"""What earlier runs have left waiting for an output, found in the manifests and asked of its store (R8, R26)."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamproof.connectors.sink import Sink
from streamproof.core.manifest import Chain, Manifest
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import CheckpointError
from streamproof.runtime.batch.contradictions import another_driver
from streamproof.runtime.journal.losses import Loss, Losses
from streamproof.runtime.journal.manifests import ManifestStore, batches_with_rows
from streamproof.runtime.journal.published import emptied
from streamproof.runtime.watching.events import QueryEvents


@dataclass(frozen=True)
class LeftWaiting:
    """Looks back over the manifests of one query.

    Parameters
    ----------
    losses
        What of an output that was emptied is accepted as lost.
    """

    manifests: ManifestStore
    losses: Losses | None
    events: QueryEvents

    def of(self, output: str, sink: Sink, committed: Sequence[int]) -> list[int]:
        """The batches that an output waits for, oldest first: those after the newest that is published whole.

        Raises
        ------
        CheckpointError
            If the manifest of a batch that may wait is torn or missing.
        StoreEmptied
            If the output has lost what it was given, and no manifest of it is kept any more.
        SinkUnavailable
            If it cannot be asked.
        """
        left = list[int]()
        for link in batches_with_rows(self.manifest, output, committed):
            if link.manifest is not None and link.section is not None:
                if sink.complete(link.manifest, link.section):
                    break
                left.append(link.batch)
            elif link.chain is not None or sink.has_staged(link.batch):
                entries = sink.entries(link.batch)
                if entries and len(entries) >= entries[0].shards:
                    break
                if entries or link.chain is None or sink.has_staged(link.batch):
                    raise lost(self.manifests.path(link.batch), output)
                return self._without_what_is_gone(output, sink, link.chain, left[::-1], committed)
        return left[::-1]

    def staged(self, output: str, sink: Sink, committed: Sequence[int]) -> list[int]:
        """The batches with rows for an output of which anything is staged: all that can be known while it is down."""
        return [number for number in committed if self._has_rows(number, output) and sink.has_staged(number)]

    def manifest(self, batch: int) -> Manifest | None:
        """The manifest of a batch; CheckpointError where it is torn: what an output still waits for would be forgotten."""
        try:
            return self.manifests.read(batch)
        except ValueError as problem:
            raise CheckpointError(
                f"{self.manifests.path(batch)} is {problem}.",
                required="It names the rows that an output may still wait for.",
                remedy="Restore it from a backup of the checkpoint.",
            ) from problem

    def _without_what_is_gone(self, output: str, sink: Sink, gone: Chain, left: list[int], committed: Sequence[int]) -> list[int]:
        """What an output that was emptied still waits for, where that is accepted; else StoreEmptied."""
        mine = next(self.manifests.newest_first(), None)
        other = another_driver(sink, mine.incarnation) if mine is not None else None
        if other is not None:
            raise other
        if self.losses is None or not self.losses.lets_go(output, gone.count, gone.sum):
            raise emptied(sink, gone)
        staged = [number for number in left if sink.has_staged(number)]
        there, chain = self.manifests.batches(), Chain()
        later = [number for number in there if number > committed[-1] and self._has_rows(number, output)]
        for number in (*staged, *later):
            chain = chain.then(number)
        self.losses.keep(output, Loss(gone.count, gone.sum, there[-1], chain))
        said = f"{sink.place.where} knows nothing of what was published there up to batch {gone.newest}: accepted as lost."
        self.events.note(Note(NoteCode.LOSS_ACCEPTED, said))
        return staged

    def _has_rows(self, batch: int, output: str) -> bool:
        manifest = self.manifest(batch)
        section = manifest.section(output) if manifest is not None else None
        return section is not None and bool(section.digest.rows)


def lost(path: str, output: str) -> CheckpointError:
    return CheckpointError(
        f"{path} is gone, and {output} still waits for its batch.",
        required="It names the rows that are to be published.",
        remedy="Restore it from a backup of the checkpoint.",
    )
