"""Files whose names Spark does not take: it would leave them out as if they were not there, or stops at them without saying what to do."""

import os
import re
from collections.abc import Sequence

from streamproof.errors import DataError

_MARK = "streamproof-names: "
_SINK = "streamproof-sink-log: "
_COLON = re.compile(r"Relative path in absolute URI: (?P<name>[^\n]+)")


def refusal(causes: Sequence[str]) -> DataError | None:
    """The error where a name is what stopped Spark; None where it is not."""
    return unread_name(causes) or colon_in_name(causes) or _log_of_a_sink(causes)


def colon_in_name(causes: Sequence[str]) -> DataError | None:
    """The error where Hadoop has taken a name for a URI, in one place: it lists a pattern so, other than on the disk of one machine."""
    found = next((found for cause in causes if (found := _COLON.search(cause))), None)
    if found is None:
        return None
    return DataError(
        f"The name {found['name']} has a colon, and the path it was found by is a pattern: Hadoop takes such a name for a URI.",
        required="Names with a colon are read where path is the folder itself; by a pattern only with master local on a local disk.",
        remedy="Rename the file or folder; or name the folder in path, without a pattern, and a source for each of several folders.",
    )


def _log_of_a_sink(causes: Sequence[str]) -> DataError | None:
    """A folder of Spark's own sink whose name looks like a pattern."""
    folder = next((cause.partition(_SINK)[2].strip().splitlines()[0] for cause in causes if _SINK in cause), None)
    if folder is None:
        return None
    return DataError(
        f"The folder {folder} is written by a file sink of Spark, and its name has a character of patterns: {{}}[]*?\\.",
        required="Of such a folder only the files count that the sink's log names. Spark finds none of them below such a name.",
        remedy="Give the folder a name without these characters, and let the sink write there.",
    )


def unread_name(causes: Sequence[str]) -> DataError | None:
    """The error where that is what stopped Spark (`LocalNames`), in one place; None where it is not."""
    told = next((cause.partition(_MARK)[2].strip().splitlines()[0] for cause in causes if _MARK in cause), None)
    if told is None:
        return None
    encoding, _, path = told.partition(" ")
    folder, _, name = path.rpartition("/")
    if encoding == "UTF-8":
        return DataError(
            f"The name of a file cannot be read as UTF-8: {folder}/{_as_bytes(folder) or name}.",
            required="Java reads names as UTF-8, and finds no file by another one: its records would be missing without a word.",
            remedy="Rename the file; or, if it is none of the input, move it out of the folder.",
        )
    return DataError(
        f"The JVM that runs Spark reads names of files as {encoding}, and {folder}/{name} is not one in it.",
        required="Names beyond ASCII need a JVM that reads them as UTF-8: with another encoding files are left out, or are called otherwise at the next start.",
        remedy="Set LC_ALL=C.UTF-8 where the JVM is started: in the environment of spark-submit, and of the executors.",
    )


def _as_bytes(folder: str) -> str | None:
    """The first name in a folder that is no UTF-8, with its bytes: Java has lost them."""
    try:
        names = sorted(os.listdir(os.fsencode(folder)))  # noqa: PTH208 -- paths of bytes are nothing that pathlib has
    except OSError:
        return None
    for name in names:
        try:
            name.decode("utf-8")
        except UnicodeDecodeError:
            return name.decode("utf-8", "backslashreplace")
    return None
