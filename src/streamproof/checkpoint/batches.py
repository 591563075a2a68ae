"""The batches that a checkpoint knows of, from its logs: when each was planned, its watermark, and where it has read each source to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from streamproof.checkpoint.folder import COMMITS, OFFSETS, SOURCES, list_names, read_text
from streamproof.checkpoint.logs import (
    RATE,
    OffsetLog,
    SourceFile,
    is_initial_positions,
    log_number,
    parse_commit,
    parse_initial_positions,
    parse_offsets,
    positions_in,
    require_entry,
    source_entries,
    state_ids,
)
from streamproof.errors import TornCheckpoint

T = TypeVar("T")
FILES, TOPICS, SECONDS, OTHER, NONE_YET = "files", "kafka", "rate", "other", "nothing yet"


@dataclass(frozen=True, slots=True)
class Commit:
    """`commits/N`: the watermark that batch N has led to (milliseconds), and the ids of its state files by operator, partition and store."""

    next_watermark_ms: int
    state_ids: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReadTo:
    """Where a batch has read one source to.

    Parameters
    ----------
    kind
        "files", "kafka", "rate", "other", or "nothing yet".
    positions
        By topic and partition ("trades-0") the offset after the last record that is read; of a rate source the seconds under "rate"; of files,
        under "log", the number of the newest entry in the source's log.
    text
        As Spark has written it.
    """

    kind: str
    positions: Mapping[str, int]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of a checkpoint.

    Parameters
    ----------
    planned_ms, watermark_ms
        Milliseconds since 1970-01-01T00:00:00Z: when it was planned by the clock of the driver, and the watermark that it ran with.
    committed
        Whether Spark has committed it.
    sources
        Where it has read each source to.
    files
        By number of a source of files, how many it has read; without an entry where the log of the source no longer says.
    records
        By number of a source of Kafka, how many it has read; without an entry where the batch before is not known, or a partition or topic is
        new: it begins with the first offset that it still has.
    """

    number: int
    planned_ms: int
    watermark_ms: int
    committed: bool
    sources: tuple[ReadTo, ...]
    files: Mapping[int, int] = field(default_factory=dict)
    records: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Logs:
    """Spark's logs in a checkpoint, as far as they can be read.

    Parameters
    ----------
    planned, committed
        By batch the offset log and the commit log.
    files
        By source the files of each entry in its log.
    begins
        By source of Kafka or of the rate source where it began.
    torn
        By file, relative to the checkpoint, what is wrong with it.
    shared
        By source the folder below `sources` that has its log, where its number is another: a query that reads one stream twice, as in a union with
        itself, has it twice in each offset log, and one folder.
    """

    planned: Mapping[int, OffsetLog]
    committed: Mapping[int, Commit]
    files: Mapping[int, Mapping[int, tuple[SourceFile, ...]]]
    begins: Mapping[int, Mapping[str, int]]
    torn: Mapping[str, str]
    shared: Mapping[int, int] = field(default_factory=dict)

    def folder(self, source: int) -> int:
        """The number of the folder with the log of a source."""
        return self.shared.get(source, source)

    def source(self, folder: int) -> int:
        """The first source whose log is in a folder."""
        return next((source for source, other in self.shared.items() if other == folder), folder)

    @property
    def newest(self) -> int | None:
        """The newest batch that is planned or committed."""
        return max((*self.planned, *self.committed), default=None)

    @property
    def newest_committed(self) -> int | None:
        return max(self.committed, default=None)

    def batches(self) -> list[Batch]:
        """The batches whose offset logs can be read, oldest first."""
        return [self._batch(number, log) for number, log in sorted(self.planned.items())]

    def _batch(self, number: int, log: OffsetLog) -> Batch:
        sources = tuple(self._read_to(log, source) for source in range(len(log.sources)))
        before = self.planned.get(number - 1)
        files: dict[int, int] = {}
        records: dict[int, int] = {}
        for source, end in enumerate(sources):
            begin = self._read_to(before, source) if before is not None and source < len(before.sources) else None
            if end.kind == FILES and (begin is not None or number == 0):
                first = begin.positions.get("log", -1) + 1 if begin is not None else 0
                entries = self.files.get(self.folder(source), {})
                numbers = range(first, end.positions["log"] + 1)
                if all(entry in entries for entry in numbers):
                    files[source] = sum(len(entries[entry]) for entry in numbers)
            if end.kind == TOPICS:
                start = begin.positions if begin is not None and begin.kind == TOPICS else self.begins.get(self.folder(source), {})
                if end.positions.keys() <= start.keys() and (begin is not None or number == 0):
                    records[source] = sum(position - start[place] for place, position in end.positions.items())
        return Batch(number, log.timestamp_ms, log.watermark_ms, number in self.committed, sources, files, records)

    def _read_to(self, log: OffsetLog, source: int) -> ReadTo:
        return read_to(log.sources[source], is_rate=self.begins.get(self.folder(source)) == _flat({RATE: {0: 0}}))


def read_to(written: str | None, *, is_rate: bool = False) -> ReadTo:
    """What an offset in the offset log says; a source that is not known is "other", with its text.

    Parameters
    ----------
    is_rate
        Whether a number is one of seconds of the rate source: other sources count something else by it.
    """
    if written is None:
        return ReadTo(NONE_YET, {})
    try:
        found = positions_in(written)
        if found is None:
            return ReadTo(FILES, {"log": OffsetLog(0, 0, (written,), {}).log_offset(0)}, written)
    except TornCheckpoint:
        return ReadTo(OTHER, {}, written)
    if not written.lstrip().startswith("{"):
        return ReadTo(SECONDS, {RATE: found[RATE][0]}, written) if is_rate else ReadTo(OTHER, {}, written)
    return ReadTo(TOPICS, _flat(found), written)


def read_logs(checkpoint: Path) -> Logs:
    """Spark's logs of a checkpoint; what is torn is named, and left aside.

    Raises
    ------
    UnknownFormat
        If a log is of a version that is not known: a later Spark has written it.
    DataError
        If a file may not be read.
    """
    torn: dict[str, str] = {}
    planned = _log(checkpoint, OFFSETS, _offsets, torn)
    committed = _log(checkpoint, COMMITS, _commit, torn)
    shared = _shared(planned, {int(name) for name in list_names(checkpoint / SOURCES) if name.isdigit()})
    files: dict[int, Mapping[int, tuple[SourceFile, ...]]] = {}
    begins: dict[int, Mapping[str, int]] = {}
    for name in list_names(checkpoint / SOURCES):
        if not name.isdigit() or _is_of_another(planned, Logs({}, {}, {}, {}, {}, shared).source(int(name))):
            continue
        texts = _texts(checkpoint / SOURCES / name)
        where = f"{SOURCES}/{name}"
        if "0" in texts and is_initial_positions(texts["0"]):
            begun = _whole(lambda text, where: _flat(parse_initial_positions(text, where=where)), texts["0"], f"{where}/0", torn)
            if begun is not None:
                begins[int(name)] = begun
            continue
        files[int(name)] = _entries(texts, where, torn)
    return Logs(planned, committed, files, begins, torn, shared)


def _shared(planned: Mapping[int, OffsetLog], folders: set[int]) -> Mapping[int, int]:
    """By source the folder of its log, where the folders that are there fit sources that are one stream: they are equal in every batch.

    Empty where each source has its own, or where that explains not all that is missing.
    """
    logs = [log.sources for log in planned.values()]
    columns = [*zip(*logs, strict=False)]
    of_files = {source for source, ends in enumerate(columns) if any(read_to(end).positions.get("log", -1) >= 0 for end in ends)}
    distinct = [*dict.fromkeys(columns)]
    numbered = {source: distinct.index(ends) for source, ends in enumerate(columns)}
    fits = {numbered[source] for source in of_files} <= folders and max(folders, default=-1) < len(distinct)
    return numbered if folders and not of_files <= folders and fits else {}


def _is_of_another(planned: Mapping[int, OffsetLog], source: int) -> bool:
    """Whether a source is none that is known: what it writes into its folder says nothing here."""
    kinds = {read_to(log.sources[source], is_rate=True).kind for log in planned.values() if source < len(log.sources)} - {NONE_YET}
    return kinds == {OTHER}


def _log(checkpoint: Path, kind: str, parse: Callable[[str, str], T], torn: dict[str, str]) -> dict[int, T]:
    found: dict[int, T] = {}
    for name, text in _texts(checkpoint / kind).items():
        number = log_number(name)
        one = _whole(parse, text, f"{kind}/{name}", torn) if number is not None else None
        if number is not None and one is not None:
            found[number] = one
    return dict(sorted(found.items()))


def _entries(texts: Mapping[str, str], where: str, torn: dict[str, str]) -> Mapping[int, tuple[SourceFile, ...]]:
    """The entries of a source's log; where one is torn, those of the others."""
    found: dict[int, tuple[SourceFile, ...]] = {}
    for name in sorted(texts, key=lambda one: log_number(one) or 0):
        try:
            entries = source_entries({name: texts[name]}, where=where)
            require_entry(name, entries, where=where)
            found.update(entries)
        except TornCheckpoint as problem:
            torn[f"{where}/{name}"] = problem.message
    return found


def _whole(parse: Callable[[str, str], T], text: str, where: str, torn: dict[str, str]) -> T | None:
    try:
        return parse(text, where)
    except TornCheckpoint as problem:
        torn[where] = problem.message
    return None


def _offsets(text: str, where: str) -> OffsetLog:
    found = parse_offsets(text, where=where)
    if not found.sources:
        raise TornCheckpoint(f"{where} is cut short: it names no source.")
    return found


def _commit(text: str, where: str) -> Commit:
    watermark, ids = parse_commit(text, where=where), state_ids(text)
    for partitions in ids.values():
        if not isinstance(partitions, list) or not all(isinstance(one, list) for one in partitions):
            raise TornCheckpoint(f"{where} is damaged: it names no files of the state by their partitions.")
    return Commit(watermark, ids)


def _texts(folder: Path) -> dict[str, str]:
    """The files of a log that count, by name: those with a number."""
    names = [name for name in list_names(folder) if log_number(name) is not None]
    return {name: text for name in names if (text := read_text(folder / name)) is not None}


def _flat(found: Mapping[str, Mapping[int, int]]) -> dict[str, int]:
    return {f"{topic}-{number}": end for topic, ends in sorted(found.items()) for number, end in sorted(ends.items())}
