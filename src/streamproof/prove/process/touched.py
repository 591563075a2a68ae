"""What a proof will touch, in words: exactly what is kept from it, by what, and what is not."""

from collections.abc import Sequence

from streamproof.prove.process.apart import Apart

_OWN = "its own folder and temporary files, and services that it starts"


def touches(apart: Apart | None, allowed: Sequence[str] = (), *, java_kept: bool = True) -> str:
    """For the first lines of a proof.

    Parameters
    ----------
    apart
        What the kernel keeps from it; None for nothing.
    allowed
        The hosts that the user has allowed, or whose services he has named.
    java_kept
        Whether connections of the JVM are refused, where the kernel does not do so.
    """
    hosts = f", and {', '.join(dict.fromkeys(allowed))}, which you allow" if allowed else ""
    if apart is not None and apart.files and apart.network:
        return f"{_OWN}. The kernel keeps the rest from it: it has a network of its own, and every other folder is read-only"
    return f"{_OWN}{hosts}. {' '.join(_kept(apart, java_kept=java_kept))}"


def not_kept(apart: Apart | None, *, java_kept: bool = True) -> str:
    """What nothing keeps from real places; empty where the kernel keeps all of it."""
    return "" if apart is not None and apart.files and apart.network else _kept(apart, java_kept=java_kept)[-1]


def _kept(apart: Apart | None, *, java_kept: bool) -> list[str]:
    files = apart is not None and apart.files
    seen = [
        "sockets of Python",
        "client libraries that are known to connect from C",
        *(["sockets of the JVM"] if java_kept else []),
    ]
    not_seen = ["other C code", "programs that the job starts", *([] if java_kept else ["the JVM (Java 24 and later cannot)"])]
    why = apart.why if apart is not None and apart.why else "nobody has set it apart"
    connections = f"Of connections elsewhere {', '.join(seen)} are refused"
    if files:
        return [
            f"The kernel keeps every other folder from it. {connections}.",
            f"Not kept from real places ({why}): connections of {' and '.join(not_seen)}",
        ]
    return [
        f"{connections}; of writes elsewhere those of Python and of Spark's file system.",
        f"Not kept from real places ({why}): connections and files of {' and '.join(not_seen)}",
    ]
