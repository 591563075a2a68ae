"""Before a query starts: is what it has published still there, and whole (R20, R26)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from streamproof.connectors.sink import Sink
from streamproof.core.manifest import Chain, LedgerEntry, Manifest
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import RemedyAction, SinkError, SinkUnavailable, StoreEmptied, TornCheckpoint
from streamproof.runtime.journal.losses import Loss, Losses
from streamproof.runtime.journal.manifests import ManifestStore

_LOOK_BACK = 2
_NAMED = 5
"""So many batches a message names."""


def require_all(
    manifests: ManifestStore, sinks: Mapping[str, Sink], committed: Sequence[int], notes: list[Note], losses: Losses
) -> None:
    """Looks whether every batch that was published is there, at a cost that does not grow with history but by the length of a listing of names.

    What was removed from the beginning on, as a retention does, is noted. A store that is no directory is asked by `Publisher.look_back`.

    Raises
    ------
    StoreEmptied
        If batches are gone, one message for all of an output, unless `losses` lets them go.
    """
    newest = next(manifests.newest_first(), None)
    for section in newest.sections if newest is not None else ():
        sink, earlier = sinks.get(section.output), section.earlier
        if newest is None or sink is None or earlier is None or not sink.listed:
            continue
        there = sink.counted(newest.batch)
        begins = _before(sink, there.oldest)
        if begins.count:
            said = f"The output {section.output} has no batch before {there.oldest} any more; older ones were removed."
            notes.append(Note(NoteCode.OLDER_REMOVED, said))
        is_published = newest.batch in (there.newest, *committed[-1:])
        chain = (section.chain(newest.batch) if is_published else None) or earlier
        lost, lost_sum = chain.count - begins.count - there.count, chain.sum - begins.sum - there.sum
        if (lost, lost_sum) in ((0, 0), (chain.lost, chain.lost_sum)):
            continue
        if losses.known(section.output, lost, lost_sum):
            said = f"Of {section.output} {_counted(lost)} gone, as an earlier run has accepted."
            notes.append(Note(NoteCode.LOSS_KNOWN, said))
            continue
        missing = _missing(manifests, sink, chain, newest.batch)
        if not missing or (missing == [newest.batch] and (there.count or chain.count == 1)):
            continue  # what is published last is computed again by --replay-last
        if not losses.lets_go(section.output, lost, lost_sum):
            raise _gone(sink, chain, missing, none_left=not there.count)
        notes.append(Note(NoteCode.LOSS_ACCEPTED, f"Of {section.output} {_listed(missing)} gone, and accepted as lost."))
        goes_on = replace(chain, lost=lost, lost_sum=lost_sum) if there.count else Chain()
        waits = section.digest.rows and not is_published
        losses.keep(section.output, Loss(lost, lost_sum, newest.batch, goes_on.then(newest.batch) if waits else goes_on))


def require_whole(manifests: ManifestStore, sinks: Mapping[str, Sink], committed: Sequence[int]) -> None:
    """SinkError if what the newest batches that Spark has committed have published is torn: by its ledgers, with or without a manifest."""
    for batch in committed[-_LOOK_BACK:]:
        manifest = manifests.whole(batch)
        for output, sink in sinks.items():
            torn = sink.torn(batch, manifest.section(output) if manifest is not None else None)
            if torn is not None:
                again = "Run again with --replay-last: the batch is computed again from its recorded input, and published whole."
                backup = "Restore its directory from a backup, or start over with a new checkpoint and --new-output."
                is_newest = batch == committed[-1] and not any(number > batch for number in manifests.batches())
                raise SinkError(
                    f"Batch {batch} of {output} is published, and {torn}.",
                    required="A power failure can take what was not on the disk yet; the ledger says what was there.",
                    remedy=again if is_newest else backup,
                    action=RemedyAction.REPLAY_LAST if is_newest else None,
                )


def require_account(manifests: ManifestStore, committed: Sequence[int]) -> None:
    """TornCheckpoint if the manifest of the newest batch is not whole although Spark has committed it: the account is in it.

    A batch on top of it that has staged carries the account on.
    """
    newest = committed[-1] if committed else -1
    there = manifests.batches()
    if newest < 0 or (there and there[-1] > newest) or manifests.whole(newest) is not None:
        return
    raise TornCheckpoint(
        f"The manifest {manifests.path(newest)} is {'torn' if newest in there else 'gone'}, and Spark has committed its batch.",
        required="It names what the batch has published, and the account since the checkpoint began.",
        remedy="Run again with --replay-last: the batch is computed again from its recorded input and compared with what is published.",
        action=RemedyAction.REPLAY_LAST,
    )


def chain_before(manifests: ManifestStore, sink: Sink, output: str, before: Manifest | None, batch: int) -> Chain | None:
    """The batches with rows that an output had before `batch`; None if nothing tells any more.

    The manifest `before` says which they were up to itself. If manifests between the two are lost, the ledger says it, or the staged rows. A
    section that was staged when all earlier manifests were lost has no chain. Then the manifests since are counted.
    """
    if before is None:
        return Chain() if batch == 0 else None
    section = before.section(output)
    if section is None:
        return Chain()
    chain = section.chain(before.batch)
    if chain is not None:
        for number in range(before.batch + 1, batch):
            chain = chain.then(number) if _had_rows(sink, number) else chain
        return chain
    found = Chain()
    for number in manifests.batches():
        manifest = manifests.whole(number) if number < batch else None
        mine = manifest.section(output) if manifest is not None else None
        if mine is not None and mine.digest.rows:
            found = found.then(number)
    return found


def _before(sink: Sink, batch: int) -> Chain:
    """What lay before a batch; nothing where its ledger does not say so."""
    entry = _ledger(sink, batch) if batch >= 0 else None
    return entry.earlier if entry is not None and entry.earlier is not None else Chain()


def _missing(manifests: ManifestStore, sink: Sink, chain: Chain, last: int) -> list[int]:
    """Batches that are gone, older than the oldest that is there, newest first: each batch names the one before, as do the manifests that are
    left.
    """
    missing: list[int] = []
    expected = chain.newest
    for batch in sorted((batch for batch in sink.batches() if batch <= last), reverse=True) or (-1,):
        while expected > batch:
            missing.append(expected)
            manifest = manifests.whole(expected)
            section = manifest.section(sink.place.output) if manifest is not None else None
            expected = section.earlier.newest if section is not None and section.earlier is not None else batch
        if batch == expected >= 0:
            expected = _before(sink, batch).newest
    return missing


def _had_rows(sink: Sink, batch: int) -> bool:
    """Whether a batch without a manifest is published, or waits."""
    with suppress(SinkUnavailable, TornCheckpoint):
        if sink.entries(batch):
            return True
    return sink.may_lag and sink.has_staged(batch)


def emptied(sink: Sink, chain: Chain) -> StoreEmptied:
    """The error for a store that knows nothing of the newest batch that it was given, in one place."""
    of = f", the newest of {chain.count:,} that were" if chain.count > 1 else ", which was"
    return _lacks(f"{sink.place.where} knows nothing of batch {chain.newest}{of} published there")


def _gone(sink: Sink, chain: Chain, missing: Sequence[int], *, none_left: bool) -> StoreEmptied:
    where = sink.place.where
    all_of_them = f"{where} has none of the {chain.count} batches that were published there"
    return _lacks(all_of_them if none_left else f"Of {where} {_listed(missing)} gone")


def _lacks(what: str) -> StoreEmptied:
    return StoreEmptied(
        f"{what}.",
        required="Every batch that was published is there, but for the oldest ones, which a retention may remove.",
        remedy="Bring it back from a backup. Without one, compute the output anew: another [job] checkpoint, and a new output.\n"
        "To go on without what is gone: run --accept-missing",
    )


def _listed(batches: Sequence[int]) -> str:
    """ "batch 3 is", "batches 3, 5 are"; of many the first few."""
    if len(batches) == 1:
        return f"batch {batches[0]} is"
    named = ", ".join(map(str, sorted(batches)[:_NAMED]))
    return f"batches {named}{f' and {len(batches) - _NAMED} more' if len(batches) > _NAMED else ''} are"


def _counted(batches: int) -> str:
    return "1 batch is" if batches == 1 else f"{batches:,} batches are"


def _ledger(sink: Sink, batch: int) -> LedgerEntry | None:
    """What the ledger of a batch says; None where it is not there or torn."""
    with suppress(TornCheckpoint):
        return sink.published(batch)
    return None
