"""Spark's logs of a query, read through Hadoop's file systems: what a batch was (R2)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.checkpoint.logs import (
    OffsetLog,
    is_initial_positions,
    parse_commit,
    parse_initial_positions,
    parse_offsets,
    parse_source_log,
    positions_in,
    source_log_text,
    state_ids,
)
from streamproof.core.manifest import Fingerprint
from streamproof.core.paths import path_of
from streamproof.errors import TornCheckpoint
from streamproof.runtime.spark.failures import unreadable, vanished

if TYPE_CHECKING:
    from streamproof._jvm import Storage


@dataclass(frozen=True)
class BatchLogs:
    """A batch's fingerprint with the files it was read from, verbatim; its own clock, and the watermark of the batch before (0: none)."""

    fingerprint: Fingerprint
    offset_log: str
    source_logs: dict[str, dict[str, str]]
    clock_ms: int = 0
    watermark_before_ms: int = 0

    def has_read(self, source: int) -> bool:
        """Whether the batch has read files of a source, by its number, or records between two positions."""
        fingerprint, key = self.fingerprint, str(source)
        if key in fingerprint.files:
            return bool(fingerprint.files[key])
        start = fingerprint.starts.get(key, "")
        begins = parse_initial_positions(start) if is_initial_positions(start) else positions_in(start) if start else None
        ends = positions_in(fingerprint.offsets[source]) if fingerprint.offsets[source] != "-" else begins
        return ends != begins


def delete_log(storage: "Storage", path: str) -> None:
    """Removes a file of Spark's logs with its checksum."""
    folder, _, name = path.rpartition("/")
    storage.delete(path)
    storage.delete(f"{folder}/.{name}.crc")


class QueryLogs:
    """Reads offsets, commits and source logs of one checkpoint.

    Parameters
    ----------
    compact_interval
        Of how many entries of a file source's log Spark makes one file.
    """

    def __init__(self, storage: "Storage", checkpoint: str, *, compact_interval: int = 10) -> None:
        self.storage, self.checkpoint, self.compact_interval = storage, checkpoint, compact_interval

    def offsets(self, batch: int) -> tuple[str, OffsetLog] | None:
        """The offset log of a batch, as text and parsed; None where it is missing; TornCheckpoint where it is torn."""
        text = self.storage.read(f"{self.checkpoint}/offsets/{batch}")
        return None if text is None else (text, parse_offsets(text))

    def batches(self, log: str) -> list[int]:
        """The batch numbers in the folder `log` ("offsets" or "commits"), ascending."""
        return sorted(int(name) for name in self.storage.list(f"{self.checkpoint}/{log}") if name.isdigit())

    def committed(self, batch: int) -> bool:
        """Whether Spark has committed a batch."""
        return self.storage.exists(f"{self.checkpoint}/commits/{batch}")

    def newest_settings(self) -> Mapping[str, str] | None:
        """The SQL settings that the newest planned batch pins; None before the first one. A torn log is passed over: recovery drops it."""
        for number in reversed(self.batches("offsets")):
            with suppress(TornCheckpoint):
                found = self.offsets(number)
                if found is not None:
                    return found[1].settings
        return None

    def newest_state_ids(self) -> Mapping[str, Any]:
        """The ids of the state files that the newest whole commit points to (`state_ids`): a torn one is taken back by recovery."""
        for number in reversed(self.batches("commits")):
            text = self.storage.read(f"{self.checkpoint}/commits/{number}") or ""
            with suppress(TornCheckpoint):
                parse_commit(text)
                return state_ids(text)
        return {}

    def of(self, batch: int) -> BatchLogs:
        """What the batch is, while it runs: its offset log is there."""
        current = self.offsets(batch)
        assert current is not None, "Spark writes the offset log before it runs a batch"
        before = self.offsets(batch - 1) if batch else None
        text, log = current
        files: dict[str, tuple[str, ...]] = {}
        kept: dict[str, dict[str, str]] = {}
        starts: dict[str, str] = {}
        for source in range(len(log.sources)):
            if log.positions(source) is None:
                start = before[1].log_offset(source) if before else -1
                files[str(source)], kept[str(source)] = self._files(source, start, log.log_offset(source))
            else:
                first = self.storage.read(f"{self.checkpoint}/sources/{source}/0") or ""
                kept[str(source)] = {"0": first} if first else {}
                starts[str(source)] = (before[1].sources[source] if before and source < len(before[1].sources) else None) or first
        ends = tuple(end or "-" for end in log.sources)
        fingerprint = Fingerprint(log.watermark_ms, ends, files, starts)
        return BatchLogs(fingerprint, text, kept, log.timestamp_ms, before[1].watermark_ms if before else 0)

    def require_inputs(self, logs: BatchLogs, batch: int, *, whole: Sequence[str]) -> None:
        """DataError unless every file of the batch is there: Spark passes over a file that vanished after it was listed.

        Parameters
        ----------
        whole
            By source the format of its files, where an empty one is no whole one, such as "parquet"; empty for lines, whose files may be.
        """
        for source, files in logs.fingerprint.files.items():
            form = whole[int(source)] if int(source) < len(whole) else ""
            for file, size in self.storage.sizes(files).items() if files else ():
                if size < 0:
                    raise vanished(path_of(file), batch)
                if form and size == 0:
                    raise unreadable(path_of(file), form)

    def _files(self, source: int, start: int, end: int) -> tuple[tuple[str, ...], dict[str, str]]:
        found: list[str] = []
        kept: dict[str, str] = {}
        for number in range(start + 1, end + 1):
            folder = f"{self.checkpoint}/sources/{source}"
            text = self.storage.read(f"{folder}/{number}") or self.storage.read(f"{folder}/{number}.compact")
            entries = [entry for entry in parse_source_log(text or "v1") if entry.entry == number]
            found.extend(sorted(entry.path for entry in entries))
            kept[str(number)] = source_log_text(entries)
        return tuple(found), kept
