"""The logs of file sources: Spark reads all of them from the last compact one on, and manifests hold each entry word for word (R2)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.checkpoint.logs import COMPACT, SourceFile, log_number, parse_source_log, source_log_text
from streamproof.core.notes import Note, NoteCode
from streamproof.errors import TornCheckpoint
from streamproof.runtime.journal.logs import QueryLogs, delete_log
from streamproof.runtime.journal.manifests import ManifestStore
from streamproof.runtime.recovery.replayable import what_helps

if TYPE_CHECKING:
    from streamproof._jvm import Storage

_NOTHING = "v1\n"
"""What a file that names nothing has."""


def restore_source_logs(storage: "Storage", logs: QueryLogs, manifests: ManifestStore, notes: list[Note]) -> None:
    """Puts back every entry that Spark will read and that is gone or torn, whichever manifest holds it; says what it did.

    Raises
    ------
    TornCheckpoint
        If no manifest holds it, and a batch that has begun to stage has read it. One that is only planned can be planned again
        (`mending.roll_back`).
    """
    planned = logs.batches("offsets")
    newest = logs.offsets(planned[-1]) if planned else None
    if newest is None:
        return
    read = max((*logs.batches("commits"), *manifests.batches()), default=-1)
    begun = logs.offsets(read) if read in planned else None
    for source in range(len(newest[1].sources)):
        if newest[1].positions(source) is None:
            log = _Log(
                storage,
                manifests,
                source,
                f"{logs.checkpoint}/sources/{source}",
                logs.compact_interval,
                end=newest[1].log_offset(source),
                needed=begun[1].log_offset(source) if begun is not None else -1,
            )
            log.restore(notes)


@dataclass(frozen=True)
class _Log:
    """The log of one source, up to the entry `end` that the newest planned batch reads; up to `needed` nothing may be lost."""

    storage: "Storage"
    manifests: ManifestStore
    source: int
    folder: str
    interval: int
    end: int
    needed: int

    def restore(self, notes: list[Note]) -> None:
        there, known = self.storage.list(self.folder), dict[int, str]()
        begins = self._begins(there)
        for number in range(max(begins, 0), self.end + 1):
            compact = number == begins
            name = f"{number}{COMPACT}" if compact else str(number)
            if compact and there.get(name, 0) > len(_NOTHING):  # it grows with the history, and is not read at each start
                continue
            found = self.storage.read(f"{self.folder}/{name}") if name in there else None
            if found is not None and _is_whole(found):
                continue
            known = known or _of_manifests(self.manifests, self.source)
            text = _compact(self.storage, self.folder, there, number, known) if compact else known.get(number)
            if text is not None:
                self._put_back(name, found, text, notes)
            elif number <= self.needed:
                raise _lost(f"{self.folder}/{name}", found)

    def _begins(self, there: Collection[str]) -> int:
        """The newest compact file, from which on Spark reads; -1 where there is none. It may be gone itself."""
        for number in range(self.end, -1, -1):
            if f"{number}{COMPACT}" in there or ((number + 1) % self.interval == 0 and str(number) not in there):
                return number
        return -1

    def _put_back(self, name: str, found: str | None, text: str, notes: list[Note]) -> None:
        path = f"{self.folder}/{name}"
        if found is not None:
            delete_log(self.storage, path)
        self.storage.create_atomic(path, text)
        said = f"{path} was {'missing' if found is None else 'torn'} and is restored from the manifests."
        notes.append(Note(NoteCode.RESTORED, said))


def _lost(path: str, found: str | None) -> TornCheckpoint:
    return TornCheckpoint(
        f"{path} is {'gone' if found is None else 'torn'}, and no manifest holds all of it.",
        required="Spark knows by it which files it has read: without it they would be taken in again.",
        remedy=what_helps(path),
    )


def _of_manifests(manifests: ManifestStore, source: int) -> dict[int, str]:
    """The entries of a source's log that any manifest holds, by their numbers."""
    found: dict[int, str] = {}
    for manifest in manifests.newest_first():
        for name, text in manifest.source_logs.get(str(source), {}).items():
            number = log_number(name)
            if number is not None and _is_whole(text):
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
        taken = {entry.entry for entry in entries} & (set(range(of + 1)) if name.endswith(COMPACT) else {of})
        files += [entry for entry in entries if entry.entry in missing & taken]
        missing -= taken
    for of in sorted(missing & known.keys()):
        files += parse_source_log(known[of])
        missing.discard(of)
    return None if missing else source_log_text(sorted(files, key=lambda file: file.entry))


def _is_whole(text: str) -> bool:
    """Whether an entry reads well, and names a file: Spark writes none without one."""
    try:
        return bool(parse_source_log(text))
    except TornCheckpoint:
        return False
