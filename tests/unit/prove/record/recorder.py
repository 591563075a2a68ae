"""Recordings written by hand: the same journal and blobs that the recording filesystem writes, without a JVM."""

import hashlib
import json
from pathlib import Path

from streamproof.prove.record.journal import Journal, read
from streamproof.prove.record.paths import Layout

ROOT = "/somewhere/scenario"
LAYOUT = Layout(checkpoints={"exposure": "checkpoint/exposure"}, outputs={"exposure": "out/exposure", "late": "out/late"})


class Recorder:
    """Appends what a disk would have seen; `ids` is where the random parts begin, so that two runs differ."""

    def __init__(self, folder: Path, ids: int = 0) -> None:
        self.folder = folder
        self.blobs = folder / "blobs"
        self.blobs.mkdir(parents=True)
        self.lines: list[str] = []
        self._ids = ids

    def random_id(self) -> str:
        self._ids += 1
        return f"{self._ids:08x}-0000-4000-8000-{self._ids:012x}"

    def log(
        self, op: str, path: str, content: bytes | None = None, *, to: str | None = None, thread: str = "stream", **more: object
    ) -> None:
        line: dict[str, object] = {"seq": len(self.lines), "op": op, "path": f"{ROOT}/{path}", "thread": thread, **more}
        if to is not None:
            line["to"] = f"{ROOT}/{to}"
        if content is not None:
            sha = hashlib.sha256(content).hexdigest()
            (self.blobs / sha).write_bytes(content)
            line |= {"size": len(content), "sha256": sha, "modified_ms": 1_700_000_000_000 + len(self.lines)}
        self.lines.append(json.dumps(line))

    def direct(self, path: str, content: bytes, **more: object) -> None:
        self.log("create", path, **more)  # type: ignore[arg-type]
        self.log("close", path, content, **more)  # type: ignore[arg-type]

    def atomic(self, path: str, content: bytes, **more: object) -> None:
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name}.{self.random_id()}.tmp"
        self.direct(temporary, content, **more)
        self.log("rename", temporary, content, to=path, **more)  # type: ignore[arg-type]

    def state(self, operator: int, partition: int, batch: int, stage: int) -> None:
        """A table file by the task, then state file and checksum by pool threads that know no task."""
        folder, name = f"checkpoint/exposure/state/{operator}/{partition}", f"{batch + 1}_{self.random_id()}.zip"
        task = {"batch": batch, "stage": stage, "partition": partition, "attempt": 10 * stage + partition}
        self.direct(
            f"{folder}/SSTs/00000{batch + 8}-{self.random_id()}.sst", f"sst {operator} {partition} {batch}".encode(), **task
        )
        self.atomic(f"{folder}/{name}", f"zip {operator} {partition} {batch}".encode(), thread="pool-0")
        self.atomic(f"{folder}/{name}.crc", f"crc {operator} {partition} {batch}".encode(), thread="pool-1")

    def batch(self, batch: int, *, partitions: tuple[int, ...] = (0, 1), late: bool = False) -> None:
        """A whole batch of a file-to-files job with one stateful operator; partitions finish in the given order; one may have late rows."""
        run = self.random_id()[:8]
        here = f"out/exposure/_staging/{batch:06d}-{run}"
        self.atomic(f"checkpoint/exposure/sources/0/{batch}", b"files %d" % batch)
        self.atomic(f"checkpoint/exposure/offsets/{batch}", b"offsets %d" % batch)
        if late:
            task = {"batch": batch, "stage": 2 * batch, "partition": 0, "attempt": 30}
            side, name = f"out/late/_staging/{batch:06d}-{run}", "late_1-00000-30.jsonl"
            self.direct(f"{side}/.{name}.tmp", b"late", **task)
            self.log("rename", f"{side}/.{name}.tmp", b"late", to=f"{side}/{name}", **task)
        for partition in partitions:
            self.state(0, partition, batch, stage=2 * batch + 1)
        parts = {partition: f"part-{partition:05d}-{self.random_id()}-c000.parquet" for partition in partitions}
        for partition, part in parts.items():
            attempt = f"{here}/_temporary/0/_temporary/attempt_2026_{partition}"
            task = {"batch": batch, "stage": 2 * batch + 1, "partition": partition, "attempt": 7}
            self.direct(f"{attempt}/{part}", b"rows %d %d" % (batch, partition), **task)
            self.log("rename", attempt, to=f"{here}/_temporary/0/task_{partition}", directory=True, **task)
        for partition, part in sorted(parts.items()):
            moved = f"{here}/_temporary/0/task_{partition}/{part}"
            self.log("rename", moved, b"rows %d %d" % (batch, partition), to=f"{here}/{part}")
        self.log("delete", f"{here}/_temporary", directory=True)
        self.atomic(f"checkpoint/exposure/_streamproof/manifests/{batch}", b"manifest %d" % batch)
        self.direct(f"{here}/_ledger.json", b"ledger %d" % batch)
        self.log("rename", here, to=f"out/exposure/batch={batch:06d}", directory=True)
        self.atomic(f"checkpoint/exposure/commits/{batch}", b"commit %d" % batch)

    def start(self) -> None:
        self.atomic("checkpoint/exposure/metadata", json.dumps({"id": self.random_id()}, separators=(",", ":")).encode())
        self.atomic("checkpoint/exposure/_streamproof/incarnation.json", b"{}")

    def journal(self) -> Journal:
        (self.folder / "journal.jsonl").write_text("".join(line + "\n" for line in self.lines), encoding="utf-8")
        return read(self.folder, ROOT)
