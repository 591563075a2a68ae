"""Small files through Hadoop's file systems, and what it means when they fail."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof._jvm.java import java_causes, java_class, plain, whole_text
from streamproof.errors import DiskFull, SinkError, StreamproofError, TooManyOpenFiles, TwoDrivers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Numbered:
    """Numbers that are there: how many, their sum, the smallest and the largest, -1 without one."""

    count: int = 0
    sum: int = 0
    oldest: int = -1
    newest: int = -1


class Storage:
    """Small files and directory renames through Hadoop's file systems."""

    def __init__(self, spark: "SparkSession") -> None:
        self._storage = java_class(spark, "Storage")(spark._jsparkSession)

    def read(self, path: str) -> str | None:
        """The text of a file; empty where its checksum says that it is torn, None where there is none."""
        text: str | None = whole_text(self._try(self._storage.read, path))
        return text

    def create_atomic(self, path: str, text: str) -> bool:
        """Creates a file whole or not at all; False where it was there already."""
        return bool(self._try(self._storage.createAtomic, path, text))

    def replace_atomic(self, path: str, text: str) -> None:
        """Puts a whole file in the place of another, or of none."""
        self._try(self._storage.replaceAtomic, path, text)

    def write(self, path: str, text: str) -> None:
        self._try(self._storage.write, path, text)

    def list(self, path: str) -> dict[str, int]:
        """Names in a directory and their bytes (-1 for a directory), sorted; empty where there is no such directory."""
        listing: str = whole_text(self._try(self._storage.list, path))
        entries = (entry.rsplit("\t", 1) for entry in listing.splitlines())
        return {name: int(size) for name, size in entries}

    def names(self, path: str) -> Sequence[str]:
        """Names in a directory, in no order; empty where there is no such directory. Cheap also where they are many."""
        names: str = whole_text(self._try(self._storage.names, path))
        return names.splitlines()

    def numbered(self, path: str, prefix: str, last: int) -> "Numbered":
        """What the names in a directory add up to that are a prefix and a number, up to `last`; counted in the JVM, since they may be many."""
        count, total, oldest, newest = map(int, str(self._try(self._storage.numbered, path, prefix, last)).split())
        return Numbered(count, total, oldest, newest)

    def sizes(self, uris: "Sequence[str]") -> dict[str, int]:
        """The bytes of files given by their URIs, -1 where there is none."""
        sizes: str = whole_text(self._try(self._storage.sizes, list(uris)))
        return dict(zip(uris, map(int, sizes.split()), strict=True))

    def exists(self, path: str) -> bool:
        return bool(self._try(self._storage.exists, path))

    def rename(self, source: str, target: str) -> None:
        self._try(self._storage.rename, source, target)

    def delete(self, path: str) -> None:
        self._try(self._storage.delete, path)

    @staticmethod
    def _try(method: Any, *arguments: Any) -> Any:
        from py4j.protocol import Py4JJavaError

        try:
            return method(*arguments)
        except Py4JJavaError as error:
            raise storage_error(str(arguments[0]), java_causes(error.java_exception)) from error


def is_own(path: str) -> bool:
    """Whether only drivers of this job write and delete what lies there."""
    return re.search(r"/(?:_staging|_streamproof)/", path) is not None


def gone_file(path: str) -> TwoDrivers:
    """The error for a file of a batch that was staged and is not there while the batch still runs, in one place."""
    return TwoDrivers(
        f"Another driver works on this checkpoint, or has: what this one had staged is gone, {path}.",
        required="One driver works on a checkpoint at a time; one that starts removes what an earlier one has left unfinished.",
        remedy="Look which one runs, let it go on, and do not start this one again beside it; the ledger decides what is published, nothing is doubled.",
    )


def too_many_open_files(causes: Sequence[str]) -> TooManyOpenFiles | None:
    """The error where that is the reason, in one place: Java says it of a file as if that were not there. None where it is not."""
    if not any("Too many open files" in cause for cause in causes):
        return None
    return TooManyOpenFiles(
        "The system lets this process open no further file.",
        required="Nothing is lost: what was not committed is done again at the next start.",
        remedy="Raise the limit (ulimit -n) before the start. Each partition of an operator with state holds some six files open.",
    )


def storage_error(path: str, causes: Sequence[str]) -> StreamproofError:
    """The error for a failed file operation, in one place: disk full, no permission, or what the store said."""
    text = " <- ".join(causes)
    if (many := too_many_open_files(causes)) is not None:
        return many
    if "No space left" in text or "ENOSPC" in text or "Disk quota" in text:
        return DiskFull(
            f"The disk is full: {path} could not be written.",
            required="Nothing is lost: what was not committed is done again.",
            remedy="Make room and run the job again.",
        )
    if "FileNotFound" in text and is_own(path):
        return gone_file(path)
    if "Parent path is not a directory" in text or "Not a directory" in text:
        return SinkError(
            f"{path} cannot be written: a part of the path is a file, not a directory.",
            remedy="Move that file away, or bind the output or the checkpoint elsewhere.",
        )
    if "Permission denied" in text or "AccessControlException" in text or "Mkdirs failed" in text:
        return SinkError(
            f"No permission to write {path}.", remedy="Give this user write permission there, or bind the output elsewhere."
        )
    return SinkError(
        f"{path} could not be read or written: {plain(causes[-1]) if causes else 'unknown reason'}",
        required="Nothing is lost: what was not committed is done again.",
        remedy="Mend what the store says and run the job again.",
    )
