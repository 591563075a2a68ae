"""What finished tasks report becomes sums: attempts of one partition must agree, the first counts (R5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamproof.core.manifest import Digest, StagedFile
from streamproof.errors import NondeterministicReplay
from streamproof.runtime.rows.doors import AGAIN


@dataclass
class DoorSums:
    """The sums of one door, or of all doors of one output, over the winning attempts."""

    rows: int = 0
    records: int = 0
    hash: int = 0
    floats: list[float] = field(default_factory=list)
    absolutes: list[float] = field(default_factory=list)
    files: list[StagedFile] = field(default_factory=list)
    by_partition: dict[int, "DoorSums"] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)

    def digest(self, float_columns: Mapping[str, float] | None = None) -> Digest:
        """The sums as a digest; `float_columns` by the step that each may come out apart, 0 where nothing rounds it."""
        steps = float_columns or {}
        names = list(steps)
        sums = self.floats or [0.0] * len(names)
        absolutes = self.absolutes or [0.0] * len(names)
        floats = {name: (sums[i], absolutes[i]) for i, name in enumerate(names)}
        return Digest(
            rows=self.rows,
            records=self.records,
            hash=self.hash,
            floats=floats,
            steps={name: step for name, step in steps.items() if step},
        )

    def add(self, report: dict[str, Any]) -> None:
        self.rows += report["rows"]
        self.records += report["records"]
        self.hash = (self.hash + report["hash"]) % 2**64
        self.floats = _added(self.floats, report["floats"])
        self.absolutes = _added(self.absolutes, report["absolutes"])
        if report["file"] is not None:
            self.files.append(StagedFile(report["file"], report["size"], report["checksum"]))
        for reason, count in report["reasons"].items():
            self.reasons[reason] = self.reasons.get(reason, 0) + count


def sums_by_output(reports: Iterable[dict[str, Any]]) -> dict[str, DoorSums]:
    """The sums of each output or filter: the door's name up to its number (`late.2` is `late`, `filtered.small` stays).

    Raises
    ------
    NondeterministicReplay
        If two finished attempts of one partition do not agree.
    """
    winners: dict[tuple[str, int], dict[str, Any]] = {}
    for report in sorted(reports, key=lambda report: report["attempt"]):
        key = (report["door"], report["partition"])
        first = winners.setdefault(key, report)
        if first is not report and (first["rows"], first["hash"]) != (report["rows"], report["hash"]):
            raise NondeterministicReplay(
                f"Two attempts of partition {report['partition']} of batch {report['batch']} disagree at {report['door']}: "
                f"{first['rows']} rows against {report['rows']}.",
                required="What a task computes from the same input must be the same each time.",
                remedy="Look for random(), uuid(), the wall clock or a call to the outside in the job.",
            )
    found: dict[str, DoorSums] = {}
    for (named, _), report in sorted(winners.items()):
        door = named.partition(AGAIN)[0]
        kind, _, rest = door.partition(".")
        of_door = found.setdefault(door if kind == "filtered" or not rest.isdigit() else kind, DoorSums())
        of_door.add(report)
        of_door.by_partition.setdefault(report["partition"], DoorSums()).add(report)
    return found


def _added(sums: list[float], more: list[Any]) -> list[float]:
    numbers = [float(number) for number in more]
    if not sums:
        return numbers
    return [mine + theirs for mine, theirs in zip(sums, numbers, strict=True)]
