"""Linux namespaces by the calls of the kernel: a network with nothing but its own loopback, and mounts that can be made read-only.

Python 3.11 has no `os.unshare`, and mount points have no API in Python at all. man 7 namespaces, man 2 mount_setattr.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_NEWNS, _NEWUSER, _NEWNET = 0x00020000, 0x10000000, 0x40000000
_BIND, _REMOUNT, _REC, _PRIVATE, _RDONLY = 0x1000, 0x20, 0x4000, 0x40000, 0x1
_KEPT = {"nosuid": 0x2, "nodev": 0x4, "noexec": 0x8, "noatime": 0x400, "nodiratime": 0x800, "relatime": 0x200000}
"""Flags of a mount that a user namespace must not take away, by their names in mountinfo."""
_DETACH = 2
_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_ATTR_RDONLY = 0x1
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 0x1
_SOCKETS = ("/run/docker.sock", "/run/podman/podman.sock", "/run/postgresql/.s.PGSQL.*", "/tmp/.s.PGSQL.*", "/run/mysqld/*.sock")  # noqa: S108
"""Where servers listen whose network is another one, so that the list of this network does not name them."""


def unshare(*, network: bool) -> None:
    """Gives this process mounts of its own, and a network of its own where that is asked.

    A user who is not root gets a user namespace as well, in which he stays who he is; root does without, for services change their user.
    Takes a process with one thread. OSError where the system does not allow it.
    """
    user, group = os.geteuid(), os.getegid()
    wanted = _NEWNS | (_NEWNET if network else 0) | (_NEWUSER if user else 0)
    _call("unshare", wanted)
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _mount(None, "/", _REC | _PRIVATE)
    if network:
        _loopback_up()


def only_read() -> None:
    """Every file system that this process sees becomes read-only for it and its children. Devices go on to work."""
    try:
        _set_read_only("/", on=True, recursive=True)
    except OSError as problem:
        if problem.errno != errno.ENOSYS:  # before Linux 5.12
            raise
        for point, flags in _mounts():
            _mount(None, point, _BIND | _REMOUNT | _RDONLY | flags)


def writable(folder: Path) -> None:
    """One folder becomes writable again, with all that is in it."""
    _mount(str(folder), str(folder), _BIND)
    try:
        _set_read_only(str(folder), on=False, recursive=False)
    except OSError as problem:
        if problem.errno != errno.ENOSYS:
            raise
        flags = max((pair for pair in _mounts() if _below(str(folder), pair[0])), key=lambda pair: len(pair[0]))[1]
        _mount(None, str(folder), _BIND | _REMOUNT | flags)


def memory(folder: Path, size: int) -> None:
    """A file system in memory, empty and of this process's own, takes a folder's place."""
    _mount("tmpfs", str(folder), 0, "tmpfs", f"size={size},mode=1777")


def release(folder: Path) -> None:
    """Undoes `writable`, for whoever still has the folder as well."""
    path = os.fsencode(folder)
    if _library().umount2(path, _DETACH):
        raise _error("umount2")


def hide(sockets: Iterable[str]) -> None:
    """Takes away the sockets that servers listen at by a path: another network does not part a process from them."""
    for path in sockets:
        with suppress(OSError):  # it is gone, or it is not for us anyway
            _mount(os.devnull, path, _BIND)


def listening() -> Iterator[str]:
    """Paths of the sockets that a server of this machine listens at."""
    found = {line.split()[-1] for line in _lines("/proc/net/unix") if line.split()[-1].startswith("/")}
    found |= {str(path) for pattern in _SOCKETS for path in Path("/").glob(pattern.removeprefix("/"))}
    for path in sorted(found):
        with suppress(OSError):
            if Path(path).is_socket():
                yield path


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []


def _mounts() -> Iterator[tuple[str, int]]:
    """Each mount point, and those of its flags that are kept."""
    for line in _lines("/proc/self/mountinfo"):
        words = line.split()
        point = words[4].encode("latin-1", "backslashreplace").decode("unicode_escape")
        yield point, sum(_KEPT.get(flag, 0) for flag in words[5].split(","))


def _below(path: str, point: str) -> bool:
    return Path(path).is_relative_to(point)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(asking, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(asking, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def _set_read_only(path: str, *, on: bool, recursive: bool) -> None:
    wanted = _Attributes(_ATTR_RDONLY if on else 0, 0 if on else _ATTR_RDONLY, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    arguments = (ctypes.c_long(_AT_FDCWD), os.fsencode(path), ctypes.c_ulong(flags), ctypes.byref(wanted), ctypes.c_size_t(32))
    if _library().syscall(ctypes.c_long(_SETATTR), *arguments):
        raise _error("mount_setattr")


def _mount(source: str | None, target: str, flags: int, kind: str | None = None, options: str | None = None) -> None:
    def text(given: str | None) -> bytes | None:
        return None if given is None else os.fsencode(given)

    if _library().mount(text(source), os.fsencode(target), text(kind), ctypes.c_ulong(flags), text(options)):
        raise _error("mount")


def _call(name: str, *arguments: int) -> None:
    if getattr(_library(), name)(*arguments):
        raise _error(name)


def _library() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "there are namespaces on Linux alone")
    return ctypes.CDLL(None, use_errno=True)


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
