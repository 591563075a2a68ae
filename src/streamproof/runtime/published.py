"""Before a query starts: is what it has published still there, and whole (R20, R26)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from streamproof.connectors.sink import Sink
from streamproof.core.manifest import Chain, LedgerEntry, Manifest
from streamproof.errors import SinkError, StoreEmptied, TornCheckpoint
from streamproof.runtime.manifests import ManifestStore

_LOOK_BACK = 2
_NAMED = 5
"""So many batches a message names."""


def require_all(
    manifests: ManifestStore, sinks: Mapping[str, Sink], committed: Sequence[int], notes: list[str], *, accept: bool
) -> dict[str, Chain]:
    """Looks whether every batch that was published is there, at a cost that does not grow with history but by the length of a listing of names.

    What was removed from the beginning on, as a retention does, is noted. Gives, for outputs of which something was accepted as lost, the
    chain that the next manifest goes on from.

    Raises
    ------
    StoreEmptied
        If batches are gone, one message for all of an output, unless `accept` lets them go.
    """
    newest = next(manifests.newest_first(), None)
    accepted: dict[str, Chain] = {}
    for section in newest.sections if newest is not None else ():
        sink, earlier = sinks.get(section.output), section.earlier
        found = sink.batches() if sink is not None else None
        if newest is None or sink is None or earlier is None or found is None:
            continue
        there = sorted(batch for batch in found if batch <= newest.batch)
        begins = _before_oldest(sink, there)
        if begins.count:
            notes.append(f"The output {section.output} has no batch before {there[0]} any more; older ones were removed.")
        is_published = newest.batch in there or newest.batch in committed
        chain = (section.chain(newest.batch) if is_published else None) or earlier
        lost, lost_sum = chain.count - begins.count - len(there), chain.sum - begins.sum - sum(there)
        if (lost, lost_sum) == (chain.lost, chain.lost_sum):
            continue
        missing = _missing(manifests, sink, section.output, chain, there)
        if not missing or (missing == [newest.batch] and (there or chain.count == 1)):
            continue  # what is published last is computed again by --replay-last
        if not accept:
            raise _gone(sink, chain, there, missing)
        notes.append(f"Of {section.output} {_listed(missing)} gone, and accepted as lost.")
        accepted[section.output] = replace(chain, lost=lost, lost_sum=lost_sum) if there else Chain()
    return accepted


def require_whole(manifests: ManifestStore, sinks: Mapping[str, Sink], committed: Sequence[int]) -> None:
    """SinkError if what the newest batches that Spark has committed have published is torn: by its ledgers, with or without a manifest."""
    for batch in committed[-_LOOK_BACK:]:
        manifest = _whole_manifest(manifests, batch)
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
                )


def require_account(manifests: ManifestStore, committed: Sequence[int]) -> None:
    """TornCheckpoint if the manifest of the newest batch is not whole although Spark has committed it: the account is in it.

    A batch on top of it that has staged carries the account on.
    """
    newest = committed[-1] if committed else -1
    there = manifests.batches()
    if newest < 0 or (there and there[-1] > newest) or _whole_manifest(manifests, newest) is not None:
        return
    raise TornCheckpoint(
        f"The manifest {manifests.path(newest)} is {'torn' if newest in there else 'gone'}, and Spark has committed its batch.",
        required="It names what the batch has published, and the account since the checkpoint began.",
        remedy="Run again with --replay-last: the batch is computed again from its recorded input and compared with what is published.",
    )


def chain_before(manifests: ManifestStore, output: str, before: Manifest | None, batch: int) -> Chain | None:
    """The batches with rows that an output has had before `batch`, by the manifest `before` it; None where that cannot be told any more.

    Versions before 0.2 did not write it down, and kept every manifest.
    """
    if before is None:
        return Chain() if batch == 0 else None
    section = before.section(output)
    if section is None:
        return Chain()
    if section.earlier is not None:
        return section.chain(before.batch)
    found = Chain()
    for number in manifests.batches():
        manifest = _whole_manifest(manifests, number) if number < batch else None
        mine = manifest.section(output) if manifest is not None else None
        if mine is not None and mine.digest.rows:
            found = found.then(number)
    return found


def _before_oldest(sink: Sink, there: Sequence[int]) -> Chain:
    """What lay before the oldest batch that is there; nothing where its ledger does not say so."""
    oldest = _ledger(sink, there[0]) if there else None
    return oldest.earlier if oldest is not None and oldest.earlier is not None else Chain()


def _missing(manifests: ManifestStore, sink: Sink, output: str, chain: Chain, there: Sequence[int]) -> list[int]:
    """Batches that are gone from behind the oldest that is there, newest first: each batch names the one before, as do the manifests that are
    left.
    """
    missing: list[int] = []
    expected = chain.newest
    for batch in reversed(there) if there else (-1,):
        while expected > batch:
            missing.append(expected)
            manifest = _whole_manifest(manifests, expected)
            section = manifest.section(output) if manifest is not None else None
            if section is None or section.earlier is None:
                expected = -1 if batch < 0 else batch
            else:
                expected = section.earlier.newest
        if batch == expected >= 0:
            entry = _ledger(sink, batch)
            expected = entry.earlier.newest if entry is not None and entry.earlier is not None else -1
    return missing


def _gone(sink: Sink, chain: Chain, there: Sequence[int], missing: Sequence[int]) -> StoreEmptied:
    where = sink.place.where
    said = (
        f"{where} has none of the {chain.count} batches that were published there"
        if not there
        else f"Of {where} {_listed(missing)} gone"
    )
    return StoreEmptied(
        f"{said}.",
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


def _ledger(sink: Sink, batch: int) -> LedgerEntry | None:
    """What the ledger of a batch says; None where it is not there or torn."""
    with suppress(TornCheckpoint):
        return sink.published(batch)
    return None


def _whole_manifest(manifests: ManifestStore, batch: int) -> Manifest | None:
    with suppress(ValueError):
        return manifests.read(batch)
    return None
