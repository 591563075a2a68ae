"""Where a proof keeps its disks while it runs: in memory where there is plenty, since all of it is deleted again.

A proof makes and deletes some hundred thousand small files; on a disk that is a quarter of its time.
"""

import atexit
import os
import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

SETTING = "STREAMPROOF_SCRATCH"
"""The environment variable that names another folder; it must be on a local file system."""
MEMORY = Path("/dev/shm")  # noqa: S108  # the file system in memory that every Linux has
_GIB = 1 << 30
_BESIDE = 4 * _GIB
"""What the JVM and the processes of a proof take themselves."""
_BYTES_PER_EVENT = 20_000
"""Recordings, disks and the events, all together and at their largest: seen 6,000."""
_OURS = re.compile(r"streamproof-(?P<namespace>\d+)-(?P<process>\d+)-\w+")


def scratch(beside: Path, events: int) -> Path:
    """A folder for a proof of so many events; `beside`, on disk, where memory could become scarce."""
    if os.environ.get(SETTING) or memory_left() > _BESIDE + events * _BYTES_PER_EVENT:
        return Path(mkdtemp(prefix="proof-", dir=of_this_process()))
    return beside


def local_dir() -> str | None:
    """Where Spark keeps its temporary files; None: wherever it does by itself."""
    return str(of_this_process()) if os.environ.get(SETTING) or memory_left() > _BESIDE + _GIB else None


@cache
def of_this_process() -> Path:
    """A folder that goes with this process; what processes that were killed have left is deleted."""
    place = Path(os.environ.get(SETTING) or MEMORY)
    place.mkdir(parents=True, exist_ok=True)
    namespace = _namespace()
    for left in place.glob("streamproof-*"):
        found = _OURS.fullmatch(left.name)
        if found and found["namespace"] == namespace and not Path("/proc", found["process"]).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(mkdtemp(prefix=f"streamproof-{namespace}-{os.getpid()}-", dir=place))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def memory_left() -> int:
    """Bytes that a file system in memory can still take here; 0 where there is none."""
    try:
        there = os.statvfs(MEMORY)
        available = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return 0
    limits = [there.f_bavail * there.f_frsize, int(available[1]) * 1024 if available else 0, *_limit_of_group()]
    return min(limits)


def _limit_of_group() -> list[int]:
    """What the control group of a container leaves, where it has a limit."""
    for most, used in (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        try:
            return [int(Path("/sys/fs/cgroup", most).read_text()) - int(Path("/sys/fs/cgroup", used).read_text())]
        except (OSError, ValueError):  # no such group, or no limit: "max"
            continue
    return []


def _namespace() -> str:
    """Process ids mean something in their namespace only."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return "0"
