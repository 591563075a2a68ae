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

from streamproof.errors import EnvironmentProblem
from streamproof.prove.process import apart

SETTING = "STREAMPROOF_SCRATCH"
"""The environment variable that names another folder; it must be on a local file system."""
MEMORY = Path("/dev/shm")  # noqa: S108  # the file system in memory that every Linux has
_GIB = 1 << 30
_BESIDE = 4 * _GIB
"""What the JVM and the processes of a proof take themselves."""
_BYTES_PER_EVENT = 20_000
"""Recordings, disks and the events, all together and at their largest: seen 6,000."""
_OURS = re.compile(r"streamproof-(?P<system>\w+)-(?P<process>\d+)-\w+")
_NAMESPACE, _BOOT = Path("/proc/self/ns/pid"), Path("/proc/sys/kernel/random/boot_id")


def scratch(beside: Path, events: int) -> Path:
    """A folder for a proof of so many events; `beside`, on disk, where memory could become scarce.

    Raises
    ------
    EnvironmentProblem
        If the folder that STREAMPROOF_SCRATCH names cannot be written.
    """
    if os.environ.get(SETTING) or memory_left() > _BESIDE + events * _BYTES_PER_EVENT:
        return Path(mkdtemp(prefix="proof-", dir=of_this_process()))
    return beside


@cache
def of_this_process() -> Path:
    """A folder that goes with this process, for its proofs and its Spark; what processes that were killed have left is deleted."""
    place = Path(os.environ.get(SETTING) or MEMORY).expanduser().absolute()
    try:
        if place != MEMORY:
            apart.writable(place)
        place.mkdir(parents=True, exist_ok=True)
        _delete_left(place)
        folder = Path(mkdtemp(prefix=f"streamproof-{_system() or 'any'}-{os.getpid()}-", dir=place))
    except OSError as problem:
        raise EnvironmentProblem(
            f"A proof cannot keep its disks in {place}: {problem.strerror}.",
            required=f"{SETTING} names a folder on a local file system that this user can write.",
            remedy=f"Name another folder, or none: unset {SETTING}",
        ) from problem
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _delete_left(place: Path) -> None:
    system = _system()
    for left in place.glob("streamproof-*"):
        found = _OURS.fullmatch(left.name)
        if found and found["system"] == system and not Path("/proc", found["process"]).exists():
            shutil.rmtree(left, ignore_errors=True)


def _system() -> str | None:
    """The running system, by its start, and the namespace that process ids mean something in; None where they cannot be looked up."""
    try:
        return _BOOT.read_text().strip().replace("-", "")[:12] + f"x{_NAMESPACE.stat().st_ino}"
    except OSError:
        return None


def memory_left() -> int:
    """Bytes that a file system in memory can still take here; 0 where there is none."""
    try:
        there = os.statvfs(MEMORY)
        available = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return 0
    return min(there.f_bavail * there.f_frsize, int(available[1]) * 1024 if available else 0, *_limits_of_groups())


def _limits_of_groups() -> list[int]:
    """What each control group that this process is in leaves, where it has a limit: of containers, services and batch systems."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            root = Path("/sys/fs/cgroup", controllers)
            inside = root / path.lstrip("/")
            groups = [group for group in (inside, *inside.parents) if group.is_relative_to(root)]
            found += [left for group in groups if (left := _left_in(group)) is not None]
    return found


def _left_in(group: Path) -> int | None:
    for most, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        try:
            return int((group / most).read_text()) - int((group / used).read_text())
        except (OSError, ValueError):  # no such file, or no limit: "max"
            continue
    return None
