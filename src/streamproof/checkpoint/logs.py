"""Spark's offset log, commit log and file source log, as pure functions over their text.

The runtime reads the texts through Hadoop's file systems, the proofs from local disk.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.errors import TornCheckpoint, UnknownFormat

COMPACT = ".compact"
RATE = "rate"
_RATE_START = re.compile(r"v1\n\d{13}\n?")
"""Milliseconds since 1970, all of their digits: a shorter number is a torn one."""


@dataclass(frozen=True, slots=True)
class OffsetLog:
    """`offsets/N`: what batch N is, written before it runs.

    Parameters
    ----------
    watermark_ms
        `batchWatermarkMs`: the watermark of batch N, milliseconds since 1970-01-01T00:00:00Z.
    timestamp_ms
        `batchTimestampMs`: the batch's own wall clock (R13).
    sources
        The end offset of each source as Spark writes it; None where a source has no data yet.
    settings
        The SQL configuration that the checkpoint pins.
    """

    watermark_ms: int
    timestamp_ms: int
    sources: tuple[str | None, ...]
    settings: Mapping[str, str]

    def log_offset(self, source: int) -> int:
        """The number in the source log up to which a file source is read in this batch; -1 before the first.

        Raises
        ------
        TornCheckpoint
            If the source's offset is not one of a file source.
        """
        written = self.sources[source] if source < len(self.sources) else None
        if written is None:
            return -1
        try:
            return int(json.loads(written)["logOffset"])
        except (ValueError, KeyError, TypeError, OverflowError):
            raise TornCheckpoint(f"The offset {written} of source {source} is not one of a file source.") from None

    def positions(self, source: int) -> dict[str, dict[int, int]] | None:
        """By topic and partition, the offset after the last one that is read; empty without data yet, None for a source of files.

        Raises
        ------
        TornCheckpoint
            If the source's offset is neither one of files nor one of Kafka.
        """
        written = self.sources[source] if source < len(self.sources) else None
        return {} if written is None else positions_in(written)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A line of `sources/I/N`: a file, its modification time, and the number of the log entry that first held it."""

    path: str
    timestamp_ms: int
    entry: int


def parse_offsets(text: str, *, where: str = "an offset log") -> OffsetLog:
    """The offset log entry that `text` holds.

    Raises
    ------
    TornCheckpoint
        If it is empty or cut short; `where` names the file in the message.
    UnknownFormat
        If it is of a version that is not known (R30).
    """
    lines = _lines(text, ("v1",), where)
    if not lines:
        raise TornCheckpoint(f"{where} is cut short: it has no metadata line.", required=_WHOLE)
    metadata = _object(lines[0], where)
    for line in lines[1:]:
        if line.startswith(("{", "[")) and not _is_json(line):
            raise TornCheckpoint(f"{where} is cut short or damaged: {line[:60]}", required=_WHOLE)
    try:
        return OffsetLog(
            watermark_ms=int(metadata["batchWatermarkMs"]),
            timestamp_ms=int(metadata["batchTimestampMs"]),
            sources=tuple(None if line == "-" else line for line in lines[1:]),
            settings={str(name): str(value) for name, value in metadata.get("conf", {}).items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise TornCheckpoint(f"{where} is not a whole offset log: {problem!r}.", required=_WHOLE) from None


def positions_in(written: str) -> dict[str, dict[int, int]] | None:
    """What an offset of Kafka says, topic to partition to offset; None for one of a file source.

    That of the rate source, a number of seconds, is given as of a topic `rate` with one partition.

    Raises
    ------
    TornCheckpoint
        If it is neither.
    """
    try:
        found = json.loads(written)
        if isinstance(found, int):
            return {RATE: {0: found}}
        if "logOffset" in found:
            return None
        return {topic: {int(number): _whole_number(end) for number, end in ends.items()} for topic, ends in found.items()}
    except (ValueError, TypeError, AttributeError):
        raise TornCheckpoint(f"The offset {written} is neither one of files nor one of Kafka.", required=_WHOLE) from None


def _whole_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def is_initial_positions(text: str) -> bool:
    """Whether a source's log entry holds what a Kafka source begins with, whole or torn, or the rate source: no file source's looks so."""
    return text.startswith("\0") or _RATE_START.fullmatch(text) is not None


def parse_initial_positions(text: str, *, where: str = "a source's first offsets") -> dict[str, dict[int, int]]:
    """The offsets that a Kafka source begins with; the rate source begins with 0, and its entry says when that was.

    Raises
    ------
    TornCheckpoint
        If the entry is cut short.
    """
    if _RATE_START.fullmatch(text):
        return {RATE: {0: 0}}
    lines = _lines(text.removeprefix("\0"), ("v1",), where)
    found = positions_in(lines[0]) if lines else None
    if found is None:
        raise TornCheckpoint(f"{where} is cut short.", required=_WHOLE)
    return found


def parse_commit(text: str, *, where: str = "a commit log") -> int:
    """`nextBatchWatermarkMs` of a commit log entry: the watermark that the batch has led to, as far as Spark wrote it (else 0).

    Raises
    ------
    TornCheckpoint
        If it is empty or cut short.
    UnknownFormat
        If it is of a version that is not known (R30).
    """
    lines = _lines(text, ("v1", "v2", "v3"), where)
    if not lines:
        raise TornCheckpoint(f"{where} is cut short: it has no metadata line.", required=_WHOLE)
    watermark = _object(lines[0], where).get("nextBatchWatermarkMs", 0)
    try:
        return int(watermark)
    except (TypeError, ValueError, OverflowError):
        raise TornCheckpoint(f"{where} is damaged: its watermark is {str(watermark)[:60]}.", required=_WHOLE) from None


def state_ids(commit: str | None) -> Mapping[str, Any]:
    """By operator and partition the ids in the names of the state files that a commit points to; none in checkpoint format 1, or without state."""
    try:
        found = json.loads((commit or "").partition("\n")[2] or "{}")
    except ValueError:
        return {}
    ids = found.get("stateUniqueIds") if isinstance(found, dict) else None
    return ids if isinstance(ids, dict) else {}


def parse_source_log(text: str, *, where: str = "a file source log") -> tuple[SourceFile, ...]:
    """The files that one entry of a file source's log names; a compact entry names all up to its number.

    Raises
    ------
    TornCheckpoint
        If it is empty or cut short.
    UnknownFormat
        If it is of a version that is not known (R30).
    """
    entries = [_object(line, where) for line in _lines(text, ("v1",), where)]
    try:
        return tuple(SourceFile(str(entry["path"]), int(entry["timestamp"]), int(entry["batchId"])) for entry in entries)
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise TornCheckpoint(f"{where} is not a whole file source log: {problem!r}.", required=_WHOLE) from None


def source_log_text(files: Iterable[SourceFile]) -> str:
    """The text of a source log entry with these files, as Spark writes it."""
    lines = [
        json.dumps({"path": file.path, "timestamp": file.timestamp_ms, "batchId": file.entry}, separators=(",", ":"))
        for file in files
    ]
    return "\n".join(["v1", *lines])


def source_entries(logs: Mapping[str, str], *, where: str = "sources") -> dict[int, tuple[SourceFile, ...]]:
    """The files of every entry of a source's log, by the number of the entry, compact files taken apart.

    Parameters
    ----------
    logs
        File names ("3", "9.compact") with their texts; others, such as checksums and temporary files, are left aside.
    """
    entries: dict[int, dict[str, SourceFile]] = {}
    for name, text in logs.items():
        number = log_number(name)
        if number is None:
            continue
        if not name.endswith(COMPACT):
            entries.setdefault(number, {})
        for file in parse_source_log(text, where=f"{where}/{name}"):
            entries.setdefault(file.entry, {})[file.path] = file
    return {number: tuple(files.values()) for number, files in sorted(entries.items())}


def files_of_batch(entries: Mapping[int, tuple[SourceFile, ...]], previous_offset: int, offset: int) -> tuple[str, ...]:
    """The paths that a batch reads: those of the log entries after the previous batch's offset, up to its own.

    A crash between source log and offset log leaves an entry that no batch names; the next batch takes it too.
    """
    return tuple(file.path for number in range(previous_offset + 1, offset + 1) for file in entries.get(number, ()))


def require_entry(name: str, entries: Mapping[int, tuple[SourceFile, ...]], *, where: str = "sources") -> None:
    """TornCheckpoint if a file of a source's log names no file of an entry that it stands for: Spark writes no entry without one.

    Parameters
    ----------
    name
        That of the file: "3" stands for entry 3, "9.compact" for all up to 9.
    entries
        What the file names, by entry.
    """
    number = log_number(name)
    if number is None:
        return
    for entry in range(0 if name.endswith(COMPACT) else number, number + 1):
        if not entries.get(entry):
            raise TornCheckpoint(f"{where}/{name} names no file of entry {entry}.", required=_WHOLE)


def compact_interval(compact: Collection[int]) -> int:
    """Of how many entries Spark makes a compact file, as far as the numbers of those that are there say it; else 10, its default."""
    return min(_INTERVAL, min(compact, default=_INTERVAL) + 1)


def log_number(name: str) -> int | None:
    """The number in a log file's name, "3" or "9.compact"; None for anything else."""
    number = name.removesuffix(COMPACT)
    return int(number) if number.isascii() and number.isdigit() else None


_INTERVAL = 10
"""Spark's `fileSource.log.compactInterval`, where no compact file says another one."""
_VERSION = re.compile(r"v\d+")
_WHOLE = "Every file of a checkpoint must be whole."


def _lines(text: str, versions: tuple[str, ...], where: str) -> list[str]:
    """The lines after the version, without empty ones."""
    version, ends, rest = text.partition("\n")
    if not version.strip():
        raise TornCheckpoint(f"{where} is empty.", required=_WHOLE)
    if version.strip() not in versions and ends and _VERSION.fullmatch(version.strip()):  # no cut makes another number of it
        raise UnknownFormat(
            f'{where} begins with "{version.strip()}".',
            required=f"It must begin with {' or '.join(versions)}: another version of Spark has written it, and it stays as it is.",
            remedy="Run the version of Spark that wrote it, or start over with a new checkpoint and new outputs.",
        )
    if version.strip() not in versions:
        raise TornCheckpoint(
            f'{where} begins with "{version.strip()[:20]}".', required=f"It must begin with {' or '.join(versions)}."
        )
    return [line for line in rest.split("\n") if line.strip()]


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        raise TornCheckpoint(f"{where} is cut short or damaged: {line[:60]}", required=_WHOLE) from None
    if not isinstance(found, dict):
        raise TornCheckpoint(f"{where} holds a line that is no JSON object: {line[:60]}", required=_WHOLE)
    return found
