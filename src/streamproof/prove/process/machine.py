"""What the machine did to a run, told apart from what the job did: time-outs of sockets, memory, processes, open files, the proof's disk.

Nothing of the kind is a failure of the job. The scenario is run again, and is unknown where that does not help.
"""

import errno
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from traceback import extract_tb

from streamproof import _jvm
from streamproof.errors import DiskFull, JvmGone, MachineShort, TooManyOpenFiles

MACHINE = MachineShort.code
"""The code of a result whose job was stopped by what the machine did."""
CODES = frozenset((MACHINE, TooManyOpenFiles.code, DiskFull.code, JvmGone.code))
"""The codes of results that say nothing of the job: a proof's own disk is the only one that a job writes to in it."""


class Kind(StrEnum):
    """What the machine had too little of, in words."""

    TIME = "the machine was too busy"
    MEMORY = "the machine, or a process of the proof, had too little memory"
    PROCESSES = "the machine lets no further process or thread be started"
    FILES = "the system lets a process of the proof open no further file"
    DISK = "the disk of the proof is full, or fails"
    PORTS = "the machine has no free port"
    WORKER = "a Python worker ended without a word: the system kills it for want of memory, or code in C crashes it"
    CONNECTION = "the connection between Python and the JVM broke"


class MachineDid(Exception):
    """A run of the job was stopped by the machine; the text says by what."""

    def __init__(self, code: str, said: str) -> None:
        self.code = code
        super().__init__(said)


@dataclass(frozen=True)
class _Sign:
    kind: Kind
    text: re.Pattern[str]


def _signs(kind: Kind, *patterns: str) -> tuple[_Sign, ...]:
    return tuple(_Sign(kind, re.compile(pattern, re.MULTILINE)) for pattern in patterns)


_RAISED = r"^(?:[\w.]*\.)?"
"""Before the class of a Python exception, in the last line of a trace."""
_ERRNO = rf"{_RAISED}(?:OSError|IOError|BlockingIOError|PermissionError|\w*Error): \[Errno "

SIGNS: tuple[_Sign, ...] = (
    *_signs(
        Kind.DISK,
        r"No space left on device",
        r"Disk quota exceeded",
        rf"{_ERRNO}(?:5|28|122)\]",
        r"IOException: Input/output error",
    ),
    *_signs(Kind.FILES, r"Too many open files", rf"{_ERRNO}(?:23|24)\]"),
    *_signs(
        Kind.PROCESSES,
        r"unable to create (?:new )?native thread",
        r"Cannot run program .*error=11\b",
        r"can't start new thread",
        r"fork: (?:retry: )?Resource temporarily unavailable",
        r"(?:_fork_exec|os\.fork\(|posix_spawn)[\s\S]{0,300}\[Errno 11\]",  # a lock that is held has the same number
    ),
    *_signs(
        Kind.MEMORY,
        r"\bjava\.lang\.OutOfMemoryError\b",
        r"\bSpark(?:OutOfMemory|OutOfMemoryError)\w*:",
        r"Cannot run program .*error=12\b",
        r"Cannot allocate memory",
        rf"{_ERRNO}12\]",
        rf"{_RAISED}(?:MemoryError|ArrowMemoryError|_ArrayMemoryError)(?::|$)",
        r"\[(?:AGGREGATE|POINTER_ARRAY|SPILL)_OUT_OF_MEMORY\]",
        r"\[UNABLE_TO_ACQUIRE_MEMORY\]",
        r"\[CANNOT_LOAD_STATE_STORE\.\w+_STORE_PROVIDER_OUT_OF_MEMORY\]",
        r"Could not allocate memory to grow BytesToBytesMap",
        r"There is not enough memory to build hash map",
        r"Not enough memory to build and broadcast the table",
    ),
    *_signs(
        Kind.TIME,
        r"Python worker (?:failed to|did not) connect back",
        r"\[CANNOT_OPEN_SOCKET\]",
        r"SocketTimeoutException: Accept timed out",
        r"Failed to open socket to Python daemon",
        r"EOFException occurred while reading the port number",
        r"EOF reached before Python server acknowledged",
        r"ServerSocket failed to bind to Java side",
        r"\[STREAMING_PYTHON_RUNNER_INITIALIZATION_(?:TIMEOUT|COMMUNICATION)_FAILURE\]",
        r"\[STREAMING_SHUFFLE_WRITER_CONNECTION_TIMEOUT\]",
        r"\[CANNOT_LOAD_STATE_STORE\.UNRELEASED_THREAD_ERROR\]",
        r"Could not execute broadcast in \d+ secs",
        r"Futures timed out after",
        r"\bRpcTimeoutException\b",
        r"[Hh]eartbeat timed out",
        r"JAVA_GATEWAY_EXITED",
    ),
    *_signs(Kind.PORTS, r"BindException: (?:Address already in use|Cannot assign requested address)", rf"{_ERRNO}(?:98|99)\]"),
    *_signs(Kind.WORKER, r"Python worker exited unexpectedly"),
    *_signs(
        Kind.CONNECTION,
        r"Error while obtaining a new communication channel",
        r"Answer from Java side is empty",
        r"An error occurred while trying to connect to the Java server",
        r"Error while sending or receiving",
    ),
)
"""What Spark, the JVM, py4j and Python say when the machine is the cause; the first that fits names the kind."""

_NUMBERS = {
    errno.ENOMEM: Kind.MEMORY,
    errno.ENFILE: Kind.FILES,
    errno.EMFILE: Kind.FILES,
    errno.ENOSPC: Kind.DISK,
    errno.EDQUOT: Kind.DISK,
    errno.EIO: Kind.DISK,
    errno.EADDRINUSE: Kind.PORTS,
    errno.EADDRNOTAVAIL: Kind.PORTS,
}
"""Of Python's own errors of the system, the numbers that say so."""
_BRIDGE = frozenset(("pyspark", "py4j"))


def did(problem: BaseException) -> str | None:
    """What the machine did, in words, if an exception or one of its causes says so; else None."""
    for one in _chain(problem):
        kind = _of_python(one)
        if kind is not None:
            return _in_words(kind, f"{type(one).__name__}: {one}")
        causes = _jvm.causes_of(one) if _jvm.is_of_spark(one) else []
        found = did_in_texts(causes)
        if found is not None:
            return found
    return None


def did_in_texts(causes: Sequence[str]) -> str | None:
    """The same of the messages of a Java exception and its causes."""
    for sign in SIGNS:
        for cause in causes:
            match = sign.text.search(cause)
            if match is not None:
                return _in_words(sign.kind, _line_of(cause, match.start()))
    return None


def _of_python(problem: BaseException) -> Kind | None:
    """The kind that an exception of Python's own stands for; text that somebody else's code has written is not read here."""
    if isinstance(problem, MemoryError):
        return Kind.MEMORY
    if isinstance(problem, RuntimeError) and str(problem) == "can't start new thread":
        return Kind.PROCESSES
    if isinstance(problem, TimeoutError | ConnectionError) and _in_bridge(problem):
        return Kind.CONNECTION
    if isinstance(problem, BlockingIOError) and _in_fork(problem):
        return Kind.PROCESSES
    return _NUMBERS.get(problem.errno or 0) if isinstance(problem, OSError) else None


def _in_fork(problem: BlockingIOError) -> bool:
    """Whether no process could be started; a lock that another one holds has the same number."""
    frames = extract_tb(problem.__traceback__)
    return bool(frames) and ("fork" in (frames[-1].line or "") or Path(frames[-1].filename).name == "subprocess.py")


def _in_bridge(problem: BaseException) -> bool:
    """Whether it was raised on the way between Python and the JVM, and not by a client of a service that the job calls."""
    frames = extract_tb(problem.__traceback__)  # the innermost ones may be Python's own, such as socket.py
    outside = [Path(frame.filename) for frame in frames if not Path(frame.filename).parent.name.startswith("python3.")]
    return bool(outside) and not _BRIDGE.isdisjoint(outside[-1].parts)


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        yield problem
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)


def _line_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    return _jvm.plain(line)[:300]


def _in_words(kind: Kind, said: str) -> str:
    return f"{kind.value}: {said}"
