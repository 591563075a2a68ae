"""The manifest of a batch: what was staged, of which input, and what the account says up to there (PROTOCOL R2, R15, R26)."""

from dataclasses import dataclass, replace

from streamproof import __version__
from streamproof.core.account import OF_A_BATCH
from streamproof.core.ids import new_id
from streamproof.core.manifest import Chain, Manifest, first_unknown
from streamproof.core.notes import Note, NoteCode
from streamproof.core.places import seen_from
from streamproof.runtime.batch.held import since
from streamproof.runtime.batch.staging import WRITTEN_COPIES, Staged
from streamproof.runtime.batch.started import StartedQuery
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.journal.losses import Losses
from streamproof.runtime.journal.published import chain_before


@dataclass
class Describing:
    """Describes batches of one query; it goes on from the manifests that are there."""

    query: StartedQuery
    losses: Losses

    def manifest(self, batch: int, attempt: str, logs: BatchLogs, staged: Staged) -> Manifest:
        """What an attempt has staged, as a manifest that nobody has written yet."""
        identity, sinks, manifests = self.query.identity, self.query.sinks.by_name, self.query.journal.manifests
        before = self._before(batch)
        counts = since(staged.counts, before, goes_on=self.query.root.passes_on)
        totals = {
            f"total.{key}": counts.get(key, 0) + (before.counts.get(f"total.{key}", 0) if before else 0)
            for key in (*OF_A_BATCH, WRITTEN_COPIES)
        }
        return Manifest(
            id=new_id(),
            job=identity.job,
            query=identity.query,
            incarnation=identity.incarnation,
            batch=batch,
            attempt=attempt,
            fingerprint=logs.fingerprint,
            offset_log=logs.offset_log,
            source_logs=logs.source_logs,
            sections=tuple(replace(section, earlier=self._earlier(section.output, before, batch)) for section in staged.sections),
            counts={**counts, **totals},
            places={output: seen_from(manifests.checkpoint, sink.place.where) for output, sink in sinks.items()},
            connectors={output: sink.place.connector for output, sink in sinks.items()},
            topics=identity.topics,
            made_by=identity.made_by,
            version=__version__,
            unknown_since=_unknown_since(before, batch),
            parked=staged.parked,
        )

    def _earlier(self, output: str, before: Manifest | None, batch: int) -> Chain | None:
        """The batches with rows that an output has had before this one (R26)."""
        accepted, journal = self.losses.earlier(output, batch), self.query.journal
        return (
            accepted
            if accepted is not None
            else chain_before(journal.manifests, self.query.sinks.by_name[output], output, before, batch)
        )

    def _before(self, batch: int) -> Manifest | None:
        """The manifest whose totals this batch goes on from: of the batch before, else the nearest that is left."""
        if batch == 0:
            return None
        manifests = self.query.journal.manifests
        found = manifests.read(batch - 1)
        if found is not None:
            return found
        earlier = [number for number in manifests.batches() if number < batch]
        said = (
            f"The manifest of batch {batch - 1} of {self.query.name} is missing: the account leaves out what lies between "
            f"batch {earlier[-1] if earlier else 'none'} and batch {batch}."
        )
        self.query.events.note(Note(NoteCode.MANIFEST_MISSING, said))
        return manifests.read(earlier[-1]) if earlier else None


def counts_of(manifest: Manifest) -> dict[str, int]:
    """Where the records of a batch are, as events say it."""
    return {key: manifest.counts.get(key, 0) for key in OF_A_BATCH}


def _unknown_since(before: Manifest | None, batch: int) -> int | None:
    """Since when the account is unknown of a batch that goes on from the manifest `before`: with one between them lost, it leaves that out."""
    follows = before.batch + 1 if before is not None else 0
    return first_unknown(before.unknown_since if before is not None else None, follows if follows < batch else None)
