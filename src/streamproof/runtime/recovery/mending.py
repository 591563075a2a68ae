"""Before a query starts: what a crash has torn or left undone in checkpoint and outputs is put right (R2, R8, R20)."""

import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from streamproof.checkpoint.logs import (
    OffsetLog,
    is_initial_positions,
    parse_commit,
    parse_initial_positions,
    parse_offsets,
    parse_source_log,
)
from streamproof.config import output_of
from streamproof.connectors.sink import Sink
from streamproof.core.ids import new_uuid
from streamproof.core.manifest import Manifest
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import SinkUnavailable, TornCheckpoint
from streamproof.runtime.batch.contradictions import may_be_visible
from streamproof.runtime.journal.journal import Journal
from streamproof.runtime.journal.logs import QueryLogs, delete_log
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.real_time.unaccounted import require_again_possible
from streamproof.runtime.recovery.replayable import cannot_be_replayed, obstacle, to_take_back
from streamproof.runtime.recovery.source_logs import restore_source_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof._jvm import Storage

_LOOK_BACK = 2


def restore_logs(journal: Journal, sinks: Mapping[str, Sink]) -> list[Note]:
    """Puts back what is gone of Spark's log files, from the manifests (R2); says what it did.

    Raises
    ------
    TornCheckpoint
        If a file is torn that no manifest holds, or a manifest that an output may still wait for.
    """
    storage, logs, manifests, notes = journal.storage, journal.logs, journal.manifests, list[Note]()
    committed = logs.batches("commits")
    numbers = manifests.batches()
    for number in numbers[-_LOOK_BACK:]:
        if number in committed and number == numbers[-1]:
            manifest = manifests.whole(number)  # one that is torn stays: the account is in it
        else:
            manifest = _manifest_or_none(storage, manifests, number, notes, sinks if number in committed else {})
        if manifest is None:
            continue
        for source, entries in manifest.source_logs.items():
            for name, text in entries.items():
                path = f"{logs.checkpoint}/sources/{source}/{name}"
                compacted = storage.read(f"{path}.compact")
                if compacted is None and not (_is_compact(name, text, logs) and storage.read(path) is None):
                    whole = parse_initial_positions if is_initial_positions(text) else partial(_names_all, text)
                    _restore(storage, path, text, whole, notes)
        _restore(storage, f"{logs.checkpoint}/offsets/{number}", manifest.offset_log, whole_offsets, notes)
    _drop_torn(storage, logs, "commits", parse_commit, notes)
    _drop_torn(storage, logs, "offsets", whole_offsets, notes)
    restore_source_logs(storage, logs, manifests, notes)
    _drop_torn_sources(storage, logs, notes)
    _clear_before_first_batch(storage, logs, manifests)
    _restore_metadata(storage, logs, notes)
    return notes


def _is_compact(name: str, text: str, logs: QueryLogs) -> bool:
    """Whether Spark looks for an entry of a source's log in a compact file: `restore_source_logs` puts that together."""
    return not is_initial_positions(text) and name.isdigit() and (int(name) + 1) % logs.compact_interval == 0


def open_manifest(journal: Journal) -> Manifest | None:
    """The newest manifest, if Spark has not committed its batch: the one that a crash interrupted."""
    numbers = journal.manifests.batches()
    if not numbers or numbers[-1] in journal.logs.batches("commits"):
        return None
    return journal.manifests.read(numbers[-1])


def mend_publications(manifest: Manifest, sinks: Mapping[str, Sink]) -> list[Note]:
    """Lets the sinks put right what a power failure has left of an interrupted batch; says what they did."""
    mended = [
        sinks[section.output].mend(manifest, section)
        for section in manifest.sections
        if section.digest.rows and section.output in sinks
    ]
    return [Note(NoteCode.PUBLICATION_MENDED, said) for said in mended if said]


def publish_open(manifests: ManifestStore, sinks: Mapping[str, Sink], committed: list[int], lost: Collection[str]) -> None:
    """Publishes what Spark has committed and a sink that may not fall behind has not made visible, in order.

    Parameters
    ----------
    lost
        Outputs of which what is gone was accepted as lost.

    Raises
    ------
    StagedRowsGone
        If the rows are neither published nor staged any more.
    """
    for number in committed[-_LOOK_BACK:]:
        manifest = manifests.read(number)
        if manifest is None:
            continue
        for section in manifest.sections:
            sink = sinks.get(section.output)
            if sink is None or sink.may_lag or not section.digest.rows or sink.complete(manifest, section):
                continue
            older = number != committed[-1] and sink.listed  # looked for among all that were published
            if (older or section.output in lost) and not sink.staged_whole(section):
                continue
            sink.prepare(manifest, section)
            sink.publish(manifest, section)


def roll_back(journal: Journal, sinks: Mapping[str, Sink], spark: "SparkSession | None" = None) -> list[Note]:
    """`run --replay-last`: takes back Spark's commit of the newest batch, so that it is computed again from its recorded input.

    What is published whole stands, and the replay is compared with it; what is torn is published again. A batch that is planned on top of
    the newest commit and published is replayed as it was planned, though its manifest and the one below are lost. Says what it did.

    It changes nothing before it has seen that the batch can be computed again.

    Raises
    ------
    TornCheckpoint
        If the plan of the batch, or the state that it began with, is not there.
    CheckpointError
        If the rows of the batch went out while it ran (the real-time trigger); nothing is taken back then.
    DataError
        If a file that the batch has read is gone; nothing is taken back then either.
    SinkUnavailable
        If a store cannot be asked whether the batch is published there; nothing is taken back then either.
    """
    storage, logs, manifests = journal.storage, journal.logs, journal.manifests
    planned, notes = logs.batches("offsets"), list[Note]()
    if not planned:
        return notes
    on_disk = lambda number: storage.exists(manifests.path(number))  # noqa: E731
    newest, on_top = to_take_back(planned, logs.batches("commits"), on_disk, lambda number: _is_published(number, sinks))
    require_again_possible(manifests.whole(newest), manifests.checkpoint)
    if (found := obstacle(storage, logs, newest, spark)) is not None:
        raise cannot_be_replayed(found, newest)
    logs.require_inputs(logs.of(newest), newest, whole=())  # without them it could not be computed again
    if on_top:  # planned on the batch that is taken back, and nothing staged: its files stay in the source log
        delete_log(storage, f"{logs.checkpoint}/offsets/{planned[-1]}")
    manifest, begun = manifests.whole(newest), False
    if manifest is not None:
        notes += mend_publications(manifest, sinks)
        begun = bool(notes) or may_be_visible(manifest, sinks)
    delete_log(storage, f"{logs.checkpoint}/commits/{newest}")
    said = f"Batch {newest} of {logs.checkpoint.rpartition('/')[2]} was taken back and is computed again."
    if not begun:
        manifests.discard(newest)
    return [*notes, Note(NoteCode.BATCH_TAKEN_BACK, said)]


def _is_published(batch: int, sinks: Mapping[str, Sink]) -> bool:
    """Whether any output has something of a batch; SinkUnavailable where none that answers has, and one does not answer."""
    unasked: SinkUnavailable | None = None
    for sink in sinks.values():
        try:
            if sink.begun(batch):
                return True
        except SinkUnavailable as problem:
            unasked = problem
    if unasked is not None:
        raise unasked
    return False


def remove_orphans(
    storage: "Storage",
    manifests: ManifestStore,
    sinks: Mapping[str, Sink],
    waiting: Collection[int] = (),
    unseen: Mapping[str, int] | None = None,
) -> None:
    """Removes staged rows of earlier attempts that no open manifest names.

    Batches beyond the next one that this checkpoint plans are another copy's of it: who puts that back needs them. The next one may be ours, if a
    power failure has taken its plan; it can be computed again.

    Parameters
    ----------
    waiting
        Older batches that an output still waits for.
    unseen
        Of outputs that are down, the newest batch that Spark has committed: up to it, what is staged without a manifest may wait for them,
        and the manifest be lost. It is told once they answer.
    """
    named, planned = set(), manifests.newest_planned()
    for number in {*manifests.batches()[-_LOOK_BACK:], *waiting}:
        manifest = manifests.read(number)
        if manifest is not None:
            named.add(manifest.attempt)
    there = set(manifests.batches())
    down = {sinks[output].place.staging: newest for output, newest in (unseen or {}).items()}
    for output, sink in sinks.items():
        for folder in (sink.place.staging, manifests.side_directory(output_of(output))):
            for name in storage.list(folder):
                said = name.partition("-")[0]
                batch = int(said) if said.isdigit() else 0
                may_wait = batch <= down.get(folder, -1) and batch not in there
                if name not in named and batch <= planned + 1 and not may_wait:
                    storage.delete(f"{folder}/{name}")


def _manifest_or_none(
    storage: "Storage", manifests: ManifestStore, number: int, notes: list[Note], sinks: Mapping[str, Sink]
) -> Manifest | None:
    """The manifest of a batch. One that is torn is removed, unless one of `sinks` may wait for it: its batch is not done again. One of an
    unknown format is not torn, and stops the start (R30).
    """
    try:
        return manifests.read(number)
    except ValueError as problem:
        for output, sink in sinks.items():
            if sink.may_lag and sink.has_staged(number) and sink.published(number) is None:
                raise TornCheckpoint(
                    f"The manifest {manifests.path(number)} is {problem}, and {output} still waits for its batch, which Spark has committed.",
                    required="It names the rows that are to be published; they are staged, and left as they are.",
                    remedy="Restore it from a backup of the checkpoint.",
                ) from problem
        storage.delete(manifests.path(number))
        said = f"The manifest of batch {number} is {problem}; if Spark has not committed the batch, it is done again and compared with the ledger."
        notes.append(Note(NoteCode.TORN_MANIFEST_DROPPED, said))
        return None


def _restore(storage: "Storage", path: str, text: str, parse: Callable[[str], object], notes: list[Note]) -> None:
    found = storage.read(path)
    if found is not None:
        try:
            parse(found)
            return
        except TornCheckpoint:
            delete_log(storage, path)
    storage.create_atomic(path, text)
    said = f"{path} was {'missing' if found is None else 'torn'} and is restored from the manifest."
    notes.append(Note(NoteCode.RESTORED, said))


def _drop_torn(storage: "Storage", logs: QueryLogs, log: str, parse: Callable[[str], object], notes: list[Note]) -> None:
    numbers = logs.batches(log)
    for number in numbers[-1:]:
        path = f"{logs.checkpoint}/{log}/{number}"
        text = storage.read(path)
        try:
            parse(text or "")
        except TornCheckpoint:
            delete_log(storage, path)
            happens = "it is done again and compared with what is published" if log == "commits" else "it is planned again"
            said = f"{path} was torn; Spark had not gone beyond that batch, and {happens}."
            notes.append(Note(NoteCode.TORN_LOG_DROPPED, said))


def _drop_torn_sources(storage: "Storage", logs: QueryLogs, notes: list[Note]) -> None:
    for source in storage.list(f"{logs.checkpoint}/sources"):
        folder = f"{logs.checkpoint}/sources/{source}"
        numbers = sorted(int(name) for name in storage.list(folder) if name.isdigit())
        for number in numbers[-1:]:
            try:
                _parse_source(storage.read(f"{folder}/{number}") or "")
            except TornCheckpoint as problem:
                offsets = logs.batches("offsets")
                newest = logs.offsets(offsets[-1]) if offsets else None
                if newest is not None and _reads(newest[1], int(source), number):
                    raise TornCheckpoint(
                        f"{folder}/{number} is torn, and a planned batch reads it.",
                        required="It names what that batch reads.",
                        remedy="Restore the checkpoint from a backup, or start over with a new checkpoint and --new-output.",
                    ) from problem
                delete_log(storage, f"{folder}/{number}")
                said = f"{folder}/{number} was torn; no batch was planned with it, its files are listed again."
                notes.append(Note(NoteCode.TORN_LOG_DROPPED, said))


def _parse_source(text: str) -> None:
    """TornCheckpoint unless an entry of a source's log is whole, of whichever kind of source."""
    if is_initial_positions(text):
        parse_initial_positions(text)
    else:
        parse_source_log(text)


def _reads(log: OffsetLog, source: int, number: int) -> bool:
    """Whether a planned batch reads that entry of a source's log."""
    return log.positions(source) is not None or log.log_offset(source) >= number


def _clear_before_first_batch(storage: "Storage", logs: QueryLogs, manifests: ManifestStore) -> None:
    """Removes what a crash before the first offset log, or before the first commit, has left in the way.

    Spark 4.3 refuses to start batch 0 when `offsets` holds anything, a temporary file of the crashed attempt included
    (STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY). As long as no batch was ever planned there is nothing to lose. Nor is there in
    the state of a batch 0 that was not committed: it is computed from nothing, and its schema files may be torn.
    """
    planned = logs.batches("offsets")
    if logs.batches("commits") or any(number > 0 for number in (*planned, *manifests.batches())):
        return
    storage.delete(f"{logs.checkpoint}/state")
    if planned or manifests.batches():
        return
    for name in ("offsets", "commits"):
        storage.delete(f"{logs.checkpoint}/{name}")
    metadata = storage.read(f"{logs.checkpoint}/metadata")
    if metadata is not None and not _is_json(metadata):
        delete_log(storage, f"{logs.checkpoint}/metadata")


def _restore_metadata(storage: "Storage", logs: QueryLogs, notes: list[Note]) -> None:
    """Gives the checkpoint a new file `metadata` where that is gone or torn: it has Spark's id of the query, by which nothing is found."""
    path = f"{logs.checkpoint}/metadata"
    found = storage.read(path)
    if not logs.batches("offsets") or (found is not None and _is_json(found)):
        return
    if found is not None:
        delete_log(storage, path)
    storage.create_atomic(path, json.dumps({"id": new_uuid()}, separators=(",", ":")))
    said = f"{path} was {'missing' if found is None else 'torn'} and is made again: Spark has a new id for this query, on which nothing depends."
    notes.append(Note(NoteCode.RESTORED, said))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _names_all(kept: str, text: str) -> None:
    """TornCheckpoint if a source log names fewer files than the manifest has kept of it: cut at the end of a line it reads well."""
    if set(parse_source_log(text)) < set(parse_source_log(kept)):
        raise TornCheckpoint("A file source log names fewer files than the batch has read.")


def whole_offsets(text: str) -> None:
    """TornCheckpoint unless the offset log is whole to its last line."""
    log = parse_offsets(text)
    if not log.sources:
        raise TornCheckpoint("An offset log names no source.")
    for source in range(len(log.sources)):
        log.positions(source)
