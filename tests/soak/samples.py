"""What a job that runs has of files, of memory, of threads and descriptors, at one moment."""

import os
import re
import shutil
import statistics
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

SECONDS_FOR_A_COLLECTION = 120


@dataclass(frozen=True)
class Sample:
    """One moment of a run.

    Parameters
    ----------
    batch
        How many batches it had committed.
    files, bytes
        By folder, below the folder of the job.
    heap
        Bytes of living objects of the JVM, after a collection.
    memory
        Bytes of the Python process that are resident.
    threads, descriptors
        Of both processes.
    batch_ms
        The median of how long the batches took since the sample before, in milliseconds; 0 where nobody says it.
    """

    batch: int
    files: dict[str, int]
    bytes: dict[str, int]
    heap: int
    memory: int
    threads: int
    descriptors: int
    batch_ms: float

    def series(self) -> dict[str, float]:
        """Each figure by a name: "files checkpoint/rows/state", "heap" and so on."""
        of_folders = {f"{what} {folder}": count for what in ("files", "bytes") for folder, count in getattr(self, what).items()}
        return {**of_folders, **{name: value for name, value in asdict(self).items() if name not in ("batch", "files", "bytes")}}


def sampled(folder: Path, query: str, process: int, batch: int, took_ms: Sequence[float]) -> Sample:
    """A sample of a job in `folder` that `process` runs, which is Python and has the JVM below it."""
    java = java_below(process)
    files, size = by_folder(folder, query)
    return Sample(
        batch=batch,
        files=files,
        bytes=size,
        heap=living_bytes(java),
        memory=_resident(process),
        threads=sum(_count(f"/proc/{each}/task") for each in (process, java)),
        descriptors=sum(_count(f"/proc/{each}/fd") for each in (process, java)),
        batch_ms=statistics.median(took_ms) if took_ms else 0.0,
    )


def by_folder(home: Path, query: str) -> tuple[dict[str, int], dict[str, int]]:
    """Files and bytes below a folder: of a checkpoint by its folders, of anything else by the first one."""
    files: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for place, _, names in os.walk(home):
        below = Path(place).relative_to(home)
        deep = len(Path(query).parts) + 1 if below.is_relative_to(query) else 1
        name = "/".join(below.parts[:deep]) or "."
        for each in names:
            files[name] += 1
            try:
                size[name] += os.lstat(f"{place}/{each}").st_size
            except FileNotFoundError:  # meanwhile removed
                files[name] -= 1
    return dict(files), dict(size)


def living_bytes(java: int) -> int:
    """Collects what is dead in a JVM, and counts the bytes of what lives."""
    tool = shutil.which("jcmd", path=f"{os.environ.get('JAVA_HOME', '')}/bin:{os.environ['PATH']}")
    if tool is None:
        raise RuntimeError("No jcmd found; it comes with a JDK.")
    told = subprocess.run(
        [tool, str(java), "GC.class_histogram"], capture_output=True, text=True, check=True, timeout=SECONDS_FOR_A_COLLECTION
    ).stdout
    found = re.search(r"^Total +\d+ +(\d+)", told, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"jcmd did not count: {told[-200:]}")
    return int(found[1])


def java_below(process: int) -> int:
    """The JVM that a process has started, itself or by a shell."""
    below = {process}
    parents = {int(entry.name): _parent(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    for _ in range(4):
        below |= {child for child, parent in parents.items() if parent in below}
    found = [each for each in below if _program(each) == "java"]
    if len(found) != 1:
        raise RuntimeError(f"Below the process {process} one JVM was expected, found {len(found)}.")
    return found[0]


def _parent(entry: str) -> int:
    try:
        return int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/exe").readlink().name
    except OSError:
        return ""


def _count(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


def _resident(process: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) * 1_024
