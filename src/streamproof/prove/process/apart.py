"""A proof apart from the machine: what it runs reaches no network but its own, and writes no folder but those that it is given.

The process that proves enters namespaces before it starts anything, so that its JVM, its services and the job's processes are all inside.
What only works outside, such as a download, is done by a process that stays there.
"""

import atexit
import os
import pickle
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from streamproof.errors import EnvironmentProblem, StreamproofError
from streamproof.prove.process import namespaces
from streamproof.runtime.spark import artifacts

SWITCH = "STREAMPROOF_NAMESPACES"
"""The environment variable that is "off" where namespaces are not to be used."""
_MEMORY = Path("/dev/shm")  # noqa: S108  # processes keep semaphores there as well
SIZE = 8
"""How many bytes of a message say how long the rest of it is."""
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Apart:
    """What the kernel keeps from the processes of a proof.

    Parameters
    ----------
    network
        Whether they reach nothing but what the proof has started.
    files
        Whether they can write nothing but the folders of the proof.
    why
        Why one of them is not so, in words.
    """

    network: bool
    files: bool
    why: str = ""


_state: Apart | None = None
_machine: int | None = None
_helper: socket.socket | None = None
_asking = threading.Lock()
_open: set[Path] = set()
_hidden = False
"""Whether a file system of this process's own stands in place of the machine's memory."""


def state() -> Apart | None:
    """How this process is set apart; None where nobody has decided yet."""
    return _state


def hide_servers() -> None:
    """Takes away the sockets that servers listen at by a path since this process was set apart: to be called before anything of the user's runs."""
    if has_own_network() and _machine is not None:
        namespaces.hide(do_outside(_listening))


def has_own_network() -> bool:
    """Whether whatever answers here was started by this proof."""
    return _state is not None and _state.network


def stay_here(why: str = "the proof runs in a process that does other things too") -> Apart:
    """Proves in this process as it is, guarded by what Python and Java can do alone."""
    global _state
    _state = Apart(network=False, files=False, why=why)
    return _state


def enter(*, network: bool) -> Apart:
    """Sets this process apart for the rest of its life, as far as the system allows it; from its network only where that is asked.

    To be called before a thread, a JVM or a service is started.
    """
    global _state, _machine
    if _state is not None:
        return _state
    why = _why_not(network=network)
    if why:
        return stay_here(why)
    _start_helper()
    _machine = os.open("/", os.O_PATH | os.O_DIRECTORY)
    own = temporary()
    _unshare(network=network)
    _state = Apart(network=network, files=True, why="" if network else "a host or a service was allowed by name")
    artifacts.elsewhere = do_outside
    namespaces.writable(own)
    os.environ["TMPDIR"], tempfile.tempdir = str(own), None
    return _state


def writable(folder: Path) -> None:
    """Makes a folder, where it is not there, and lets the processes of the proof write to it; OSError where that is not allowed."""
    folder = folder.expanduser().absolute()
    if any(folder.is_relative_to(known) for known in _open):
        return
    if _state is not None and _state.files and not folder.is_relative_to(_MEMORY):
        try:
            outside(folder).mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            problem.filename = str(folder)
            raise
        namespaces.writable(folder)
    _open.add(folder)


def require_lasting(folder: Path) -> None:
    """EnvironmentProblem for a folder that goes with the proof: what is written there nobody would find."""
    if _hidden and folder.expanduser().absolute().is_relative_to(_MEMORY):
        raise EnvironmentProblem(
            f"{folder} cannot hold a report: a proof has a {_MEMORY} of its own, which goes with it.",
            remedy="Take a folder on a disk.",
        )


def folders() -> tuple[str, ...]:
    """Where the processes of the proof may write."""
    return tuple(sorted(map(str, {*_open, temporary()})))


@cache
def temporary() -> Path:
    """A folder for temporary files of the job, its JVM and its services; it goes with this process."""
    own = Path(tempfile.mkdtemp(prefix="streamproof-tmp-"))
    own.chmod(0o1777)  # as /tmp: PostgreSQL runs as somebody else where we are root
    atexit.register(_remove, own, os.getpid())
    return own


def own_places() -> dict[str, str]:
    """The environment variables that give libraries a place of the proof's, where they would take one of the user's."""
    own = str(temporary())
    return {"TMPDIR": own, "XDG_CACHE_HOME": f"{own}/cache", artifacts.CACHE: str(artifacts.cache())}


def java_options() -> str:
    """The same for Java, which looks at no such variable."""
    kept = "" if has_own_network() else "-Djava.security.manager=allow"  # Java 18 and later take none later, without it
    return f"-Djava.io.tmpdir={temporary()} -Dderby.system.home={temporary()} -XX:-UsePerfData {kept}".rstrip()


def outside(path: Path) -> Path:
    """The same path as it is seen by a process that is not set apart."""
    return path if _machine is None else Path(f"/proc/self/fd/{_machine}{path}")


def do_outside(function: Callable[..., _Found], *arguments: Any) -> _Found:
    """Calls a function where network and files are those of the machine: in this process, where it is not set apart."""
    if _helper is None:
        return function(*arguments)
    asked = pickle.dumps((function, arguments))  # before the lock, and before half a question is told
    try:
        with _asking, _ended_without(_helper):  # an answer has no name: it is that of the last question
            send_pickled(_helper, asked)
            found, problem = receive(_helper)
    except (EOFError, OSError) as gone:
        raise StreamproofError(
            f"The process that does for the proof what needs the network has ended, and did not answer: {gone}.",
            required="It goes on until the proof ends.",
            remedy="Run the proof again; look whether something has killed it: the system does when memory is full.",
        ) from None
    if problem is not None:
        raise problem
    return found  # type: ignore[no-any-return]


def can_ask_outside() -> bool:
    """Whether `do_outside` can be called; not after a call that was left without its answer."""
    return _helper is None or _helper.fileno() >= 0


@contextmanager
def _ended_without(line: socket.socket) -> Iterator[None]:
    """Closes a line that is left with half an answer in it, by a signal for instance: the next question would get it."""
    try:
        yield
    except BaseException:
        line.close()
        raise


def send(to: socket.socket, what: Any) -> None:
    """Hands a value to the process at the other end."""
    send_pickled(to, pickle.dumps(what))


def send_pickled(to: socket.socket, told: bytes) -> None:
    """The same of a value that is pickled already: one that cannot be leaves nothing half said."""
    to.sendall(len(told).to_bytes(SIZE, "big") + told)


def size(begun: bytes | bytearray) -> int:
    """How many bytes a message has, with those that say so."""
    return SIZE + int.from_bytes(begun[:SIZE], "big")


def receive(of: socket.socket) -> Any:
    """What the process at the other end hands over; EOFError where it has ended."""
    length = int.from_bytes(_exactly(of, SIZE), "big")
    return pickle.loads(_exactly(of, length))  # noqa: S301 -- it is a process of our own


def portable(problem: BaseException) -> BaseException:
    """An error that survives the way to another process."""
    try:
        pickle.loads(pickle.dumps(problem))  # noqa: S301 -- as above
    except Exception:  # noqa: BLE001 -- whatever its class does
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


def _exactly(of: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        chunk = of.recv(min(1 << 20, size - len(found)))
        if not chunk:
            raise EOFError("the other process has ended")
        found += chunk
    return bytes(found)


def _why_not(*, network: bool) -> str:
    """Why this process cannot be set apart, in words; tried by a process that ends with it, since half of it cannot be taken back."""
    if os.environ.get(SWITCH) == "off":
        return f"{SWITCH} is off"
    if sys.platform != "linux":
        return "this system has no namespaces"
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 -- a list of names
        return "this process has several threads"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _unshare(network=network)
            code = 0
        finally:
            os._exit(code)
    return "" if os.waitpid(child, 0)[1] == 0 else "this system does not allow namespaces"


def _unshare(*, network: bool) -> None:
    global _hidden
    shared = os.statvfs(_MEMORY) if _MEMORY.is_dir() else None
    sockets = tuple(namespaces.listening()) if network else ()  # another network would list none
    namespaces.unshare(network=network)
    namespaces.hide(sockets)
    namespaces.only_read()
    if shared is not None and not Path.cwd().is_relative_to(_MEMORY):
        namespaces.memory(_MEMORY, shared.f_blocks * shared.f_frsize)
        _hidden = True
    else:
        namespaces.writable(_MEMORY)


def _listening() -> list[str]:
    """Of the machine's network, which this process may not see."""
    return list(namespaces.listening())


def _start_helper() -> None:
    global _helper
    ours, its = socket.socketpair()
    if os.fork():
        its.close()
        _helper = ours
        return
    ours.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the proof, not before
    try:
        while True:
            function, arguments = receive(its)
            try:
                answer = pickle.dumps((function(*arguments), None))
            except Exception as problem:  # noqa: BLE001 -- it is raised where it was asked for
                answer = pickle.dumps((None, portable(problem)))
            send_pickled(its, answer)
    finally:
        os._exit(0)


def _remove(own: Path, process: int) -> None:
    if os.getpid() != process:
        return
    if _machine is not None:
        namespaces.release(own)
    shutil.rmtree(outside(own), ignore_errors=True)
