"""The logs of file sources: Spark reads all of them from the last compact one on, and manifests hold each entry word for word (R2)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamproof.checkpoint.logs import COMPACT, SourceFile, log_number, parse_source_log, source_log_text
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import TornCheckpoint
from streamproof.runtime.logs import QueryLogs, delete_log
from streamproof.runtime.manifests import ManifestStore
from streamproof.runtime.replayable import what_helps

if TYPE_CHECKING:
    from streamproof._jvm import Storage


def restore_source_logs(storage: "Storage", logs: QueryLogs, manifests: ManifestStore, notes: list[Note]) -> None:
    """Puts back every entry that Spark will read and that is gone or torn, whichever manifest holds it; says what it did.

    Raises
    ------
    TornCheckpoint
        If no manifest holds it. What could be put back is put back.
    """
    planned = logs.batches("offsets")
    newest = logs.offsets(planned[-1]) if planned else None
    if newest is None:
        return
    for source in range(len(newest[1].sources)):
        if newest[1].positions(source) is None:
            folder, end = f"{logs.checkpoint}/sources/{source}", newest[1].log_offset(source)
            _restore(storage, manifests, folder, source, end, logs.compact_interval, notes)


def _restore(
    storage: "Storage", manifests: ManifestStore, folder: str, source: int, end: int, interval: int, notes: list[Note]
) -> None:
    """One source, up to the entry that the newest planned batch reads. Spark reads from the last compact file on, which may be gone too."""
    there = storage.list(folder)
    compacted = (
        number
        for number in range(end, -1, -1)
        if f"{number}{COMPACT}" in there or ((number + 1) % interval == 0 and str(number) not in there)
    )
    begins = next(compacted, 0)
    known: dict[int, str] | None = None
    for number in range(begins, end + 1):
        whole_file = (
            number == begins and ((number + 1) % interval == 0 or f"{number}{COMPACT}" in there) and str(number) not in there
        )
        name = f"{number}{COMPACT}" if whole_file else str(number)
        if whole_file and there.get(name, 0) > 0:  # it grows with the history, and is not read at each start
            continue
        found = storage.read(f"{folder}/{name}") if name in there else None
        if found is not None and _is_whole(found):
            continue
        known = _of_manifests(manifests, source) if known is None else known
        text = _compact(storage, folder, there, number, known) if whole_file else known.get(number)
        is_what = "missing" if found is None else "torn"
        if text is None:
            raise TornCheckpoint(
                f"{folder}/{name} is {'gone' if found is None else 'torn'}, and no manifest holds all of it.",
                required="Spark knows by it which files it has read: without it they would be taken in again.",
                remedy=what_helps(f"{folder}/{name}"),
            )
        if found is not None:
            delete_log(storage, f"{folder}/{name}")
        storage.create_atomic(f"{folder}/{name}", text)
        notes.append(Note(NoteCode.RESTORED, f"{folder}/{name} was {is_what} and is restored from the manifests."))


def _of_manifests(manifests: ManifestStore, source: int) -> dict[int, str]:
    """The entries of a source's log that any manifest holds, by their numbers."""
    found: dict[int, str] = {}
    for manifest in manifests.newest_first():
        for name, text in manifest.source_logs.get(str(source), {}).items():
            number = log_number(name)
            if number is not None:
                found.setdefault(number, text)
    return found


def _compact(storage: "Storage", folder: str, there: Iterable[str], number: int, known: dict[int, str]) -> str | None:
    """What a compact file named: the one before it, and each entry since; None where one of these is gone too."""
    files: list[SourceFile] = []
    missing = set(range(number + 1))
    for name in sorted((name for name in there if (log_number(name) or 0) < number), key=lambda name: log_number(name) or 0):
        of = log_number(name)
        text = storage.read(f"{folder}/{name}") if of is not None else None
        if of is None or text is None or not _is_whole(text):
            continue
        entries = parse_source_log(text)
        taken = set(range(of + 1)) if name.endswith(COMPACT) else {of}
        files += [entry for entry in entries if entry.entry in missing & taken]
        missing -= taken
    for of in sorted(missing & known.keys()):
        files += parse_source_log(known[of])
        missing.discard(of)
    return None if missing else source_log_text(sorted(files, key=lambda file: file.entry))


def _is_whole(text: str) -> bool:
    try:
        parse_source_log(text)
    except TornCheckpoint:
        return False
    return True
