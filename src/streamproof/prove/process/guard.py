"""A proof touches nothing real: what Python itself refuses in the processes that run the job, by name and with the line of the job.

Python announces what it is about to do (sys.addaudithook, PEP 578): a connection, a file that is opened for writing, removed or renamed.
What C and other programs do is not announced. The kernel keeps it from them where namespaces are allowed (`apart`).
"""

import ipaddress
import json
import os
import re
import socket
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.paths import display
from streamproof.core.users_code import is_library
from streamproof.errors import StreamproofError
from streamproof.prove.process import clients

if TYPE_CHECKING:
    from pyspark import SparkContext

_LIMITS = "STREAMPROOF_LIMITS"
_PLACES = ("TMPDIR", "XDG_CACHE_HOME")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OF_THE_SYSTEM = ("/dev/", "/proc/")
_MEMORY = "/dev/shm/"  # noqa: S108  # files of others are there as well
_OF_SPARK = re.compile(r"[/\\](?:pyspark|py4j)[/\\]")
_ON_THIS_MACHINE = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\]):(\d{2,5})")
_STANDARD = str(Path(os.__file__).parent)
_ARGUMENTS = (
    "Make the path an argument of the job: --set NAME={folder}/..., --argument {folder}/... for a word of a script, "
    "or --env NAME={folder}/...; {folder} is a folder of each scenario's own."
)


class HostRefused(StreamproofError, OSError):
    """The job tried to reach a host outside the proof."""

    code = "host-refused"


class WriteRefused(StreamproofError, OSError):
    """The job tried to write, or to remove, what is not of the proof."""

    code = "write-refused"


@dataclass(frozen=True)
class Limits:
    """What the processes of a scenario may touch.

    Parameters
    ----------
    hosts
        Those that the user has allowed by name.
    folders
        Where may be written; everywhere, if none is named.
    ports
        Of this machine, the ports of services that the proof has started.
    own_network
        Whether the network is one of the proof's, where everything that answers was started by it.
    record
        A file for what was refused, so that a job which goes on after it is noticed.
    """

    hosts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    own_network: bool = False
    record: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Limits":
        return cls.of(json.loads(text))

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> "Limits":
        """Limits that were read from JSON."""
        found: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}
        return cls(**found)


def ports_of(urls: Iterable[str]) -> tuple[int, ...]:
    """The ports of this machine in what a scenario is told of its services."""
    return tuple(sorted({int(port) for url in urls for port in _ON_THIS_MACHINE.findall(url)}))


def install(limits: Limits) -> None:
    """Holds this process to limits, for the rest of its life."""
    guard = _Guard(limits)
    sys.addaudithook(guard.look)
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    # A connection is announced once its name is resolved; the name says more.
    def guarded_connect(self: socket.socket, address: Any) -> None:
        guard.connects(self, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        guard.connects(self, address)
        return connect_ex(self, address)

    socket.socket.connect = guarded_connect  # type: ignore[method-assign, assignment]
    socket.socket.connect_ex = guarded_connect_ex  # type: ignore[method-assign, assignment]
    if not limits.own_network:
        clients.install(guard.is_told_of_the_proof, guard.refuse_client)


def allow_in_workers(context: "SparkContext", limits: Limits) -> None:
    """Holds the Python workers that functions of this context run in to the same limits.

    Spark hands the environment over with each function, and starts a daemon for each environment.
    """
    context.environment[_LIMITS] = limits.to_json()
    context.environment.update({name: os.environ[name] for name in _PLACES if name in os.environ})


def release_workers(context: "SparkContext") -> None:
    """Ends what `allow_in_workers` has begun, for the functions that come after it."""
    for name in (_LIMITS, *_PLACES):
        context.environment.pop(name, None)


def install_in_worker() -> None:
    """Guards a Python worker with the limits of `allow_in_workers`; without any it reaches this machine alone."""
    told = os.environ.get(_LIMITS)
    install(Limits.from_json(told) if told else Limits(own_network=True))


def refused(record: str) -> WriteRefused | None:
    """The first write that was refused and recorded; None where there was none."""
    try:
        first = Path(record).read_text().splitlines()[0]
    except (OSError, IndexError):
        return None
    path, place = json.loads(first)
    return write_refused(path, place)


def write_refused(path: str, place: str) -> WriteRefused:
    """The error for a write to a real place, in one place; `place` is the line of the job, where it is known."""
    return WriteRefused(
        f"{place}{': ' if place else ''}the job writes or removes {path}, which is not a folder of the proof.",
        required="A proof touches nothing real. What a job may write are the places that its writers are bound to, {folder}, and temporary folders.",
        remedy=_ARGUMENTS,
    )


_REFUSED_WRITE = (
    re.compile(r"GuardedFileSystem\$WriteRefused: (/[^\n]*)"),
    re.compile(r"(/[^:'\"\n]*?)['\"]?:? \(?Read-only file system"),
    re.compile(r"Read-only file system:? ['\"]?(/[^'\"\n]*)"),
    re.compile(r"(?:attempt to write a readonly database|Read-only file system|readonly database)()"),
)
"""The messages of the kernel, Java and C libraries for a refused write, and the path, if the message names it."""
_REFUSED_HOST = re.compile(r"A proof touches nothing real: connection refused to ([^\s\"']+)")
_NOBODY_THERE = re.compile(
    r"Connection refused|Network is unreachable|could not translate host name|Temporary failure in name resolution|"
    r"Name or service not known|UnknownHostException|No route to host|Failed to resolve"
)


def of_a_real_place(said: str, place: str, *, own_network: bool) -> StreamproofError | None:
    """The error for what stopped a job where its text says that the kernel or the JVM has refused a real place; None where it does not."""
    for pattern in _REFUSED_WRITE:
        if found := pattern.search(said):
            return write_refused(found[1].strip() or "a file of this machine", place)
    if found := _REFUSED_HOST.search(said):
        return host_refused(found[1], found[1].rpartition(":")[0], place)
    if own_network and _NOBODY_THERE.search(said):
        first = said.strip().splitlines()[0]
        return HostRefused(
            f"{place}{': ' if place else ''}{first}",
            required="A proof touches nothing real: its network holds the services that it has started, and nothing else.",
            remedy="Bind the job to a service the proof starts, or allow the host: streamproof prove ... --allow-host HOST",
        )
    return None


def host_refused(what: str, host: str, place: str = "") -> HostRefused:
    """The error for a connection to a real place, in one place."""
    allow = f", or allow the host: streamproof prove ... --allow-host {host}" if host else ""
    return HostRefused(
        f"{place}{': ' if place else ''}{'the' if place else 'The'} job tried to connect to {what} during a proof.",
        required="A proof touches nothing real.",
        remedy=f"Bind the job to a service the proof starts{allow}",
    )


class _Guard:
    """Is told of everything that Python is about to do, and raises where that is refused."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._hosts = limits, _with_addresses(limits.hosts)
        self._folders = tuple(os.path.realpath(folder) for folder in limits.folders)
        self._name = socket.gethostname()
        self._bound: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        one, two = self._writes_one, self._writes_two
        files: Mapping[str, Callable[..., None]] = {
            "open": self._opens,
            "sqlite3.connect": self._opens_database,
            "os.mkdir": self._makes,
            "os.rename": two,
            "os.link": two,
            "shutil.move": two,
            "os.symlink": lambda _, target, at=-1: one(target, at),
            **dict.fromkeys(("os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.utime", "shutil.rmtree"), one),
        }
        sockets: Mapping[str, Callable[..., None]] = {
            "socket.connect": self.connects,
            "socket.bind": self._binds,
            "socket.getaddrinfo": self._resolves,
        }
        self._looks = {**sockets, **(files if self._folders else {})}

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        found = self._looks.get(event)
        if found is not None:
            found(*arguments)

    # -- files

    def _opens(self, path: Any, mode: Any, flags: Any) -> None:
        if isinstance(flags, int) and flags & _WRITING:
            self._require(path)

    def _opens_database(self, database: Any) -> None:
        """SQLite opens its file by itself; the kernel sees what it does with it, where it guards files."""
        text = os.fsdecode(database) if isinstance(database, str | bytes | os.PathLike) else ""
        plain = text.removeprefix("file:").partition("?")[0]
        if plain and plain != ":memory:" and "mode=ro" not in text and "mode=memory" not in text and not os.path.exists(plain):  # noqa: PTH110
            self._require(plain)

    def _makes(self, path: Any, _: Any = None, at: int = -1) -> None:
        if not (at < 0 and isinstance(path, str | bytes | os.PathLike) and os.path.isdir(path)):  # noqa: PTH112 -- nothing is made then
            self._writes_one(path, at)

    def _writes_one(self, path: Any, *rest: Any) -> None:
        # What is named from an open folder was looked at when that was asked for: shutil.rmtree goes on so.
        if not (rest and isinstance(rest[-1], int) and rest[-1] >= 0 and not os.fsdecode(path).startswith(os.sep)):
            self._require(path)

    def _writes_two(self, source: Any, target: Any, *_: Any) -> None:
        self._require(source)
        self._require(target)

    def _require(self, path: Any) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a file that is open already
        wanted = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 -- this is asked often
        if (wanted.startswith(_OF_THE_SYSTEM) and not wanted.startswith(_MEMORY)) or "__pycache__" in wanted:
            return
        # A link is removed where it stands, and written where it points to.
        folder, name = os.path.split(wanted)
        found = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
        for real in {found, os.path.realpath(wanted)}:
            if not any(real == one or real.startswith(f"{one}{os.sep}") for one in self._folders):
                self._refuse(wanted)

    def _refuse(self, path: str) -> None:
        place = _line_of_the_job()
        if place and not _is_a_library_s(path) and self._limits.record:
            with open(self._limits.record, "a") as record:  # noqa: PTH123
                record.write(json.dumps([path, place]) + "\n")
        raise write_refused(path, place)

    # -- connections

    def _binds(self, bound: socket.socket, _: Any) -> None:
        self._bound.add(bound)

    def _resolves(self, host: Any, *_: Any) -> None:
        name = host.decode(errors="replace") if isinstance(host, bytes) else host
        if isinstance(name, str) and not _is_local(name) and name not in (*self._hosts, self._name) and not _of_spark():
            self._refuse_host(name, name)

    def connects(self, _: Any, address: Any) -> None:
        if isinstance(address, tuple) and address:
            host, port = str(address[0]), address[1] if len(address) > 1 else 0
            if host in self._hosts or (_is_local(host) and (self._is_of_the_proof(port) or _of_spark())):
                return
            self._refuse_host(f"{host}:{port}" if _is_local(host) else host, host)
        elif isinstance(address, str | bytes) and self._folders and not _of_spark():
            path = os.path.realpath(os.fsdecode(address))
            if not any(path.startswith(f"{one}{os.sep}") for one in self._folders):
                self._refuse_host(path, "")

    def is_told_of_the_proof(self, text: str) -> bool:
        """Whether a text, all that a client library is told, names a service or a folder of the proof, or a host that is allowed."""
        if any(known in text for known in (*self._limits.hosts, *self._limits.folders) if known):
            return True
        local = "127.0.0.1" in text or "localhost" in text
        return local and any(re.search(rf"(?<!\d){port}(?!\d)", text) for port in self._limits.ports)

    @staticmethod
    def refuse_client(name: str) -> None:
        place = _line_of_the_job()
        raise HostRefused(
            f"{place}{': ' if place else ''}the job calls {name}, which connects by C code to a place that the proof has not started.",
            required="A proof touches nothing real. This system does not allow namespaces, so that the kernel does not keep C code from it.",
            remedy="Bind the job to a service the proof starts, or allow the host: streamproof prove ... --allow-host HOST",
        )

    def _is_of_the_proof(self, port: int) -> bool:
        if self._limits.own_network or port in self._limits.ports:
            return True
        with suppress(OSError):
            return any(one.fileno() >= 0 and one.getsockname()[1:2] == (port,) for one in self._bound)
        return False

    @staticmethod
    def _refuse_host(what: str, host: str) -> None:
        raise host_refused(what, host, _line_of_the_job())


def _line_of_the_job() -> str:
    """The innermost line of the user's own code that is running, "job.py line 12"; empty where there is none."""
    frame = sys._getframe(2)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            return f"{display(Path(frame.f_code.co_filename))} line {frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def _is_a_library_s(path: str) -> bool:
    """Whether libraries keep something there by themselves: in hidden folders of the home, or where they are installed."""
    home = os.path.expanduser("~") + os.sep + "."  # noqa: PTH111
    return path.startswith((home, sys.prefix, sys.base_prefix))


def _of_spark() -> bool:
    """Whether it is Spark, or Streamproof, that connects: the JVM of the proof is on this machine."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith((_STANDARD, "<", __file__)):
        if "site-packages" in frame.f_code.co_filename:
            break
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return False
    name = frame.f_code.co_filename
    return _OF_SPARK.search(name) is not None or ("streamproof" in name and is_library(name))


def _with_addresses(allowed: Iterable[str]) -> frozenset[str]:
    """The hosts and their addresses: clients that resolve a name connect to what it stands for."""
    names = set(allowed)
    for name in tuple(names):
        with suppress(OSError, UnicodeError):
            names |= {str(found[4][0]) for found in socket.getaddrinfo(name, None)}
    return frozenset(names)


def _is_local(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
