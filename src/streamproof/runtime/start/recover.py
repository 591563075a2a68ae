"""Second step of a start: puts right what a crash has left, and checks that everything published is there and whole (R2, R8, R20, R26)."""

from dataclasses import dataclass

from streamproof.core.durations import micros_of
from streamproof.core.notes import Note
from streamproof.runtime.batch.publishing import Publisher
from streamproof.runtime.journal import published
from streamproof.runtime.journal.losses import Losses
from streamproof.runtime.real_time import unaccounted
from streamproof.runtime.recovery import mending
from streamproof.runtime.recovery.dropped_outputs import require_outputs_kept
from streamproof.runtime.recovery.left_checksums import remove_left_checksums
from streamproof.runtime.rows.parking import Parking
from streamproof.runtime.start.validate import Validated


@dataclass(frozen=True)
class Recovered:
    """A query whose checkpoint and outputs agree: what is still to be published, what was accepted as lost, which rows wait for their window."""

    publisher: Publisher
    losses: Losses
    parking: Parking | None


def recover(valid: Validated) -> Recovered:
    """Restores logs, finishes what was interrupted, looks at what was published, and removes what earlier attempts have left.

    Raises
    ------
    StreamproofError
        If the checkpoint is not whole, or an output is not.
    """
    journal, sinks, events = valid.journal, valid.sinks.by_name, valid.events
    storage, logs, manifests = journal.storage, journal.logs, journal.manifests
    real_time, replay_last = valid.query.config.trigger.real_time, valid.start.replay_last
    events.note(*unaccounted.put_in_order(journal, real_time=real_time, replay_last=replay_last))
    events.note(*mending.restore_logs(journal, sinks))
    if replay_last:
        events.note(*mending.roll_back(journal, sinks, valid.spark))
    interrupted = mending.open_manifest(journal)
    require_outputs_kept(valid.query, manifests, interrupted, sinks, storage)
    mended = mending.mend_publications(interrupted, sinks) if interrupted is not None else []
    events.note(*mended)
    committed = logs.batches("commits")
    losses = Losses(storage, manifests.checkpoint, accept=valid.start.accept_missing)
    _require_published(valid, committed, losses)
    publisher = Publisher(manifests, sinks, _limits(valid), events, accepted=valid.start.accept_replay, losses=losses)
    # Of its commits Spark keeps the newest; what waits may be older, and keeps its manifest.
    publisher.look_back(sorted({*committed, *(number for number in manifests.batches() if committed and number <= committed[-1])}))
    parking = _parking(valid)
    if parking is not None:
        parking.require_whole(committed)
        parking.remove_orphans()
    mending.remove_orphans(storage, manifests, sinks, publisher.open_batches, publisher.unseen)
    remove_left_checksums(manifests.checkpoint)
    return Recovered(publisher, losses, parking)


def _parking(valid: Validated) -> Parking | None:
    """Where the rows of the query wait; None where none have to."""
    root = valid.query.root
    if not root.emission.parks:
        return None
    return Parking(valid.journal.storage, valid.journal.manifests, micros_of(root.allowed_lateness))


def _require_published(valid: Validated, committed: list[int], losses: Losses) -> None:
    """Looks whether what was published is there, and whole, and publishes what is not yet; see `published.require_all`."""
    manifests, sinks, notes = valid.journal.manifests, valid.sinks.by_name, list[Note]()
    if not valid.start.replay_last:  # of several that are gone only the newest comes back; the run says what the account leaves out
        published.require_account(manifests, committed)
    published.require_all(manifests, sinks, committed, notes, losses)
    valid.events.note(*notes)
    published.require_whole(manifests, sinks, committed)
    mending.publish_open(manifests, sinks, committed, losses.outputs)


def _limits(valid: Validated) -> dict[str, int]:
    """By sink of a service how many batches may wait for it."""
    places = valid.query.places.items()
    return {name: place.service.backlog for name, place in places if place.service is not None}
