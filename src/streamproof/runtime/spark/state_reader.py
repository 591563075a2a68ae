"""Whether the installed Spark can read the state in a checkpoint, by which class of state stores, and what it means where it could not."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import _jvm
from streamproof.checkpoint.inspection import FORMAT, STORES, Inspection, written_since
from streamproof.checkpoint.stores import Operator
from streamproof.checkpoint.verify.state import files_of_another_store, partitions_gone
from streamproof.checkpoint.view import no_room
from streamproof.errors import ConfigurationError, EnvironmentProblem, StreamproofError, TornCheckpoint
from streamproof.runtime.spark.session import ROCKSDB, ROCKSDB_IDENTIFIED, start_session
from streamproof.stream.identity import SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SOON = "-XX:TieredStopAtLevel=1"
"""Java's second compiler would take longer than it saves: a state is read once."""
_OURS = "io.streamproof."
_OF_DATA = re.compile(r"SQLSTATE: 22\w{3}")
"""By the standard of SQL: an expression does not go with the data, such as a text that is no number."""
_NO_CLASS = re.compile(r"ClassNotFoundException: (\S+)|Cannot find state store provider class: (\S+)")


def start_reader(log: Path | None = None) -> "SparkSession":
    """The session that state is read in, for a moment.

    Parameters
    ----------
    log
        As of `start_session`.
    """
    return start_session("streamproof inspect", {}, java_options=_SOON, log=log)


def require_state_reader(found: Inspection, operator: Operator) -> None:
    """What can be known before Spark starts.

    Raises
    ------
    EnvironmentProblem
        If the installed Spark has no reader of state.
    TornCheckpoint
        If a partition is gone, or has files of another kind of state store.
    """
    installed = _jvm.installed_spark()
    if not _jvm.reads_state():
        raise EnvironmentProblem(
            f"PySpark {installed} cannot read state: Spark has a reader for it since {_jvm.FIRST_TO_READ_STATE}.",
            required=f"What PySpark {_jvm.minor_version(installed)} has written, a later one reads. Without --operator and --rows no Spark is needed.",
            remedy=_elsewhere(_jvm.SPARK_VERSIONS[-1]),
        )
    gone = partitions_gone(found, operator)
    if gone:  # Spark reads the folders that there are
        raise TornCheckpoint(
            f"{found.path}: partition {gone[0]} of operator {operator.number} is not there{f', nor {len(gone) - 1} others' if gone[1:] else ''}.",
            required="A table of the others would lack rows without saying so.",
            remedy=f"Bring the folder state/{operator.number}/{gone[0]} back from a backup, or inspect another copy.",
        )
    foreign = next((file for store in operator.stores for file in files_of_another_store(found, store)), None)
    if foreign is not None:
        stores = found.settings[STORES].rpartition(".")[2]
        raise TornCheckpoint(
            f"{foreign.path} is a file of another kind of state store than {stores}, which the checkpoint fixes.",
            required="All files of a state are of one kind. Spark would pass this one over, or take it for something else.",
            remedy=f"Inspect another copy, or a backup. streamproof inspect {found.path} --verify names each such file.",
        )


def require_no_newer_spark(found: Inspection, knows: Callable[[str], bool]) -> None:
    """EnvironmentProblem where a newer Spark than the installed one has written a checkpoint.

    Parameters
    ----------
    knows
        Whether the installed one knows a setting: a patch version may have taken over what a minor version brought.
    """
    installed = _jvm.installed_spark()
    wrote = written_by(found, installed, knows)
    if not wrote or _jvm.numbers(wrote) <= _jvm.numbers(installed):
        return
    raise EnvironmentProblem(
        f"Spark {wrote} or later has written {found.path}, and PySpark {installed} is installed.",
        required="An older Spark may take what it does not know in a state for something else. Without --operator and --rows no Spark is needed.",
        remedy=_elsewhere(_jvm.minor_version(wrote)),
    )


def _elsewhere(version: str) -> str:
    return (
        f"Inspect it in another environment: python -m venv looking && looking/bin/pip install streamproof 'pyspark=={version}.*'"
    )


def written_by(found: Inspection, installed: str, knows: Callable[[str], bool]) -> str:
    """The minor version of Spark from which on a checkpoint can be; "" where nothing tells it."""
    own = found.own.newest.made_by.get(SPARK, "") if found.own is not None and found.own.newest is not None else ""
    told = [own, _jvm.planned_by(found.settings, installed, knows)]
    if FORMAT in found.settings:
        told.append(_jvm.FIRST_TO_NAME_STATE_FORMAT)
    return max(filter(None, map(_jvm.minor_version, told)), key=_jvm.numbers, default="")


def stores_that_read(found: Inspection) -> str:
    """The class of state stores that reads a checkpoint on the installed Spark; "" for the one that it names.

    Spark 4.0 does not find files with an id in their names, which a class of ours does. Where a class of ours has written them later ones read them
    without it: the files are Spark's.
    """
    named = found.settings.get(STORES, "")
    if not _jvm.finds_state_files():
        return ROCKSDB_IDENTIFIED if found.state_format > 1 and named == ROCKSDB else ""
    return ROCKSDB if named.startswith(_OURS) else ""


def why_unreadable(
    found: Inspection, operator: Operator, batch: int | None, causes: Sequence[str], condition: str | None
) -> StreamproofError:
    """The error where Spark has not read a state.

    Parameters
    ----------
    causes
        What Spark said, outermost first.
    condition
        In SQL, where there is one.
    """
    text, said = " ".join(causes), in_a_line(causes[-1])
    if "No space left" in text or "Disk quota" in text:
        return no_room()
    refused = None if condition is None else does_not_go(condition, causes)
    if refused is not None:
        return refused
    where = f"{found.path}: Spark cannot read the state of operator {operator.number} after {_batch(batch)}: {said}"
    if written_since(found):
        return TornCheckpoint(
            where,
            required="A driver has written to this checkpoint while it was read. Nothing was changed by inspect.",
            remedy="Stop the job, or inspect a copy.",
        )
    missing = _NO_CLASS.search(text)
    if missing is not None:
        return EnvironmentProblem(
            f"{found.path}: its state is kept by {missing[1] or missing[2]}, a class that is not here.",
            required="The checkpoint names the class of its state stores, and Spark's reader needs it.",
            remedy="Put its jar on the class path (SPARK_CLASSPATH, or spark.jars in spark-defaults.conf). Without --operator and --rows it is not needed.",
        )
    return TornCheckpoint(
        where,
        required="Its state reader needs every file that the batch stands on, and a Spark that knows their format. Nothing was changed.",
        remedy=f"streamproof inspect {found.path} --verify says which files are damaged. Another batch may be readable (--batch).",
    )


def does_not_go(condition: str, causes: Sequence[str]) -> ConfigurationError | None:
    """The error where a condition can be asked, and a value of a row does not go with it, such as a text that is no number; None for other causes."""
    if not _OF_DATA.search(" ".join(causes)):
        return None
    return ConfigurationError(
        f'The condition "{condition}" does not go with a row: {in_a_line(causes[-1])}',
        required="It has to hold or not to hold for each row that it is asked of.",
        remedy="Texts stand in single quotes. try_cast and the like give NULL where a value does not go, and such a row is left out.",
    )


def in_a_line(cause: str) -> str:
    """What Spark says, in a line: without the names of classes, its own codes, and the text of the condition once more."""
    said = _jvm.plain(" ".join(cause.split())).partition(" == SQL ==")[0]
    return re.sub(r"\s*SQLSTATE: \w+|^\[[A-Z_.]+\] ", "", said).strip()


def _batch(batch: int | None) -> str:
    return "the newest batch" if batch is None else f"batch {batch}"
