"""What stops a batch whose replay, ledger and manifest contradict each other, in one place: what was found, and the ways out (R2, R4, R7)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from streamproof.connectors import Sink
from streamproof.core.manifest import LedgerEntry, Manifest, Section
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import (
    FingerprintMismatch,
    NondeterministicReplay,
    SinkError,
    SinkUnavailable,
    StagedRowsGone,
    TwoDrivers,
    WrongCheckpoint,
)

_PUT_BACK = (
    "Put the checkpoint back as it was when it published last. Without it start over: another [job] checkpoint, and "
    "another folder, table or topic."
)


@contextmanager
def needed_to_decide(known: Manifest) -> Iterator[None]:
    try:
        yield
    except SinkUnavailable as problem:
        raise SinkUnavailable(
            f"Batch {known.batch} of {known.query} ran again and computed something else; whether its first rows are published cannot be "
            f"asked: {problem.message}",
            required="They are kept until that is known: nothing is lost, and nothing published twice.",
            remedy="Run the job again once it answers.",
        ) from problem


def may_be_visible(known: Manifest, sinks: Mapping[str, Sink]) -> bool:
    """Whether anything of a batch is published or begun in any output; where it is not, nobody can finish it any more.

    All are asked before one is fenced: a batch that has begun anywhere keeps its manifest, and is published under it everywhere.
    """
    sections = [section for section in known.sections if section.digest.rows and section.output in sinks]
    if any(sinks[section.output].begun(known.batch) for section in sections):
        return True
    discarded = False
    try:
        for section in sections:
            sinks[section.output].fence(known, section)
        discarded = not any(sinks[section.output].begun(known.batch) for section in sections)
    finally:
        if not discarded:  # something is visible, or cannot be asked: the manifest stays
            for section in sections:
                with suppress(SinkError):
                    sinks[section.output].unfence(known)
    return not discarded


def require_same(staged: Manifest, section: Section, entry: LedgerEntry, *, accepted: bool) -> bool:
    """FingerprintMismatch unless a ledger entry tells of this very batch; False where it tells of other rows of the same input, and that is
    accepted.
    """
    batch, output = staged.batch, section.output
    if entry.incarnation != staged.incarnation:
        raise FingerprintMismatch(
            f"Batch {batch} of {output} was published by another incarnation ({entry.incarnation[:8]}; this is {staged.incarnation[:8]}).",
            remedy="Restore the checkpoint that published it, or start over with --new-output or --replace-output.",
        )
    if entry.fingerprint != staged.fingerprint.hash:
        raise FingerprintMismatch(
            f"Batch {batch} of {output} was published with {entry.rows} rows of other input than it reads now, and its manifest is not here: "
            "the checkpoint is an older copy, or has lost its newest plans.",
            required="A batch that runs again reads what it read the first time; else rows would be published twice, or not at all.",
            remedy=f"{_PUT_BACK} Where the output is a folder and this is the newest batch in it, batch={batch:06d} may be moved away instead.",
        )
    if (section.digest.rows, section.digest.hash) == (entry.rows, entry.hash):
        return True
    if accepted:
        return False
    raise FingerprintMismatch(
        f"Batch {batch} of {output} was published with {entry.rows} rows, others than it gives now; its manifest is lost.",
        required="A batch that runs again reads what it read the first time.",
        remedy=f"Restore the checkpoint from a backup, or move batch={batch:06d} of {output} away and run again."
        f" To go on with what is published: run --accept-replay {batch}",
    )


def older_copy(checkpoint: str, where: str, newest: int, but: str) -> WrongCheckpoint:
    """The error for an output that has a batch of a checkpoint which does not fit to what the checkpoint has now."""
    return WrongCheckpoint(
        f"The output {where} has batch {newest} of the checkpoint {checkpoint}, {but}: the checkpoint is an older copy.",
        required="Its batches are cut otherwise now than those that are published; rows would be published twice.",
        remedy=_PUT_BACK,
    )


def in_part(known: Manifest, section: Section, parts: int, why: str) -> StagedRowsGone:
    return StagedRowsGone(
        f"Batch {known.batch} of {section.output} is published in {parts} of {section.shards} parts, and {why}.",
        required="A part that is published stands; which rows are in it is known only where the parts are the same as before.",
        remedy="Run again with the cores and the [spark] settings that it first ran with, or restore what was staged, and the manifest, from a "
        f"backup. To publish the parts that are missing as they are computed now: run --accept-replay {known.batch}; rows can miss then, or "
        "be there twice, and the account of that batch is unknown.",
        batch=known.batch,
    )


def another_driver(sink: Sink, incarnation: str, batch: int | None = None) -> TwoDrivers | None:
    """The error if another driver has written to a store meanwhile; None if the store does not say so.

    This is asked before a store is called emptied. A driver that was paused while another took over finds the other's entries, not its own.

    Parameters
    ----------
    batch
        What this driver was about to publish; None before it publishes anything.
    """
    try:
        found = sink.owner()
    except SinkUnavailable:
        return None
    if found is None or (found.incarnation == incarnation and (batch is None or found.batch < batch)):
        return None
    where = sink.place.where
    if found.incarnation != incarnation:
        did = (
            f"{where} was taken over by another driver: what is there belongs to the checkpoint with the incarnation {found.incarnation[:8]}, up "
            f"to batch {found.batch}; this one is {incarnation[:8]}."
        )
    else:
        did = f"Another driver works on this checkpoint, or has: batch {found.batch} is published in {where}, and this one was at batch {batch}."
    return TwoDrivers(
        did,
        required="One driver works on a checkpoint at a time. Nothing is lost: what is published stands, and this driver adds nothing to it.",
        remedy="Look which one runs, let it go on, and do not start this one again beside it.",
    )


def other_manifest(staged: Manifest) -> TwoDrivers:
    return TwoDrivers(
        f"Another driver has written the manifest of batch {staged.batch} of {staged.query} while this one staged it.",
        required="One driver works on a checkpoint at a time.",
        remedy="Stop one of them; what it staged is ignored.",
    )


def already_staged(directory: str, batch: int) -> TwoDrivers:
    return TwoDrivers(
        f"{directory}, where this driver would stage batch {batch}, is there already.",
        required="An attempt of a batch has a directory of its own, and its files are those of no other attempt.",
        remedy="Stop the other driver, if there is one, and run again: the next start takes another name.",
    )


def taken_away(gone: StagedRowsGone, batch: int) -> TwoDrivers:
    return TwoDrivers(
        f"What this driver has just staged for batch {batch} was taken away by another: {gone.message}",
        required="One driver works on a checkpoint at a time.",
        remedy="Stop one of them and run the other again; nothing of the batch is published twice.",
    )


def accepted_as_published(known: Manifest, differences: Sequence[str]) -> Note:
    said = (
        f"Batch {known.batch} of {known.query} was accepted as it is published, although its replay computed something else: "
        f"{'; '.join(differences)}. The account of that batch is unknown."
    )
    return Note(NoteCode.REPLAY_ACCEPTED, said)


def accepted_as_in_ledger(staged: Manifest, section: Section, entry: LedgerEntry) -> Note:
    said = (
        f"Batch {staged.batch} of {section.output} was accepted as it is published, with {entry.rows:,} rows; its manifest was lost, and its "
        f"replay gave others ({section.digest.rows:,}). The account of that batch is unknown."
    )
    return Note(NoteCode.REPLAY_ACCEPTED, said)


def contradiction(
    known: Manifest, differences: Sequence[str], *, other_input: bool
) -> NondeterministicReplay | FingerprintMismatch:
    if other_input:
        return FingerprintMismatch(
            f"Batch {known.batch} of {known.query} ran again and is not what was published: {'; '.join(differences)}.",
            required="A batch that runs again reads what it read the first time; what it reads now and did not then would be lost.",
            remedy="Restore offsets and sources of the checkpoint from a backup, or start over with a new checkpoint and --new-output.",
        )
    return NondeterministicReplay(
        f"Batch {known.batch} of {known.query} ran again and is not what was published: {'; '.join(differences)}.",
        required="A batch that runs again must compute the same from the same input.",
        remedy=f"Look for random(), uuid() or the wall clock in the job. To go on with what is published: run --accept-replay {known.batch}",
    )
