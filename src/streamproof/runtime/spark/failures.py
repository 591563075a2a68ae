"""Turns what Spark says when a query dies into our errors: where, what was found, what to do."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from streamproof import _jvm
from streamproof.connectors.files import names, parquet_types
from streamproof.core.file_formats import FILE_FORMATS
from streamproof.core.masking import unquoted
from streamproof.core.paths import path_of
from streamproof.core.users_code import place_of, raised_in, remedy_for
from streamproof.errors import (
    AccountError,
    CheckpointError,
    DataError,
    DivertError,
    EnvironmentProblem,
    JobDefinitionError,
    JvmGone,
    RegistryError,
    RegistryUnavailable,
    RemedyAction,
    SinkError,
    SourceUnavailable,
    StreamproofError,
    TornCheckpoint,
    TwoDrivers,
)
from streamproof.runtime.spark.task_failures import of_a_task

_FILE = re.compile(r"(?:^|[\s'\"\[(=:])(?:file:|sp-[a-z]+:)?(/[^\s'\",:;)]+)")
_NO_MODULE = re.compile(r"Traceback.*No module named '([\w.]+)'", re.DOTALL)
"""In a worker's trace; what the driver itself cannot import comes without one."""
_REGISTRY, _ROW = "streamproof-registry:", "streamproof-row:"
"""What tasks begin with where a registry has not answered, or a row does not fit the schema that it is written by."""
_SILENT = "silent:"
_NO_BROKER = re.compile(
    r"org\.apache\.kafka\.common\.errors\.(?:Timeout|Disconnect|Network|BrokerNotAvailable|CoordinatorNotAvailable|LeaderNotAvailable)Exception"
)
_REAL_TIME = re.compile(
    r"\[STREAMING_REAL_TIME_MODE\.\w+\] Streaming real-time mode has the following limitation: (?P<said>[^\n]*)"
)
_SLOTS = re.compile(
    r"CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT\].* needs (\d+) concurrent task slots .* only (\d+) are currently free"
)
_CLASS = re.compile(r"\borg\.apache\.spark(?:\.\w+)+")
_NO_WRITE = re.compile(r"No space|Permission|Access|Mkdirs|quota|not a directory")


def translated(problem: BaseException, *, has_rows: bool = True) -> StreamproofError:
    """The error for what stopped a query; `has_rows` says whether it had read any, whose values are then kept out of it."""
    if isinstance(problem, StreamproofError):
        return problem
    if _jvm.is_gone(problem):
        return jvm_gone()
    if not _jvm.is_of_spark(problem) and place_of(problem) is not None:
        return _in_users_code(problem)
    causes = _jvm.causes_of(problem)
    for known in (
        _jvm.too_many_open_files,  # the others would take the file for one that is gone
        _registry,
        _row,
        _offsets_lost,
        _no_broker,
        _staged_gone,
        _other_files,
        _other_folders,
        _timer,
        names.refusal,
        _vanished,
        parquet_types.mismatch,
        _not_parquet,
        _disk,
        _not_whole,
        _two_drivers,
        _damaged,
        _not_in_workers,
        _divert,
        _not_in_real_time,
        _no_cores_for_shuffle,
        of_a_task,
    ):
        found = known(causes)
        if found is not None:
            return found
    last = causes[-1] if causes else str(problem)
    required = "Nothing is lost: what was not committed is done again at the next start."
    if not has_rows:
        return StreamproofError(f"The query stopped: {unquoted(_jvm.plain(last))}", required=required)
    return StreamproofError(
        f"The query stopped: {_named(problem, last)}.",
        required=required,
        remedy="Its text may hold values of rows: --debug prints it. Spark's log has the place where it came up.",
    )


def _named(problem: BaseException, cause: str) -> str:
    """What stopped a query, by its class and condition: nobody knows all sentences in which a value of a row is quoted."""
    found = _jvm.named(cause).rstrip(".")
    return f"{type(problem).__name__} {found}".strip() if not found or found[0] == "[" else found


_DONE_AGAIN = "Nothing is lost: what was not committed is done again at the next start, and doubles nothing."


def jvm_gone(required: str = _DONE_AGAIN) -> JvmGone:
    """The error for a JVM that has ended under us, in one place; `required` says what that costs."""
    return JvmGone(
        "The JVM is gone: it was killed, or ran out of memory.",
        required=required,
        remedy="Run it again. Where it happens again, look for the kernel's out-of-memory killer, and give it more: spark.driver.memory below [spark].",
    )


@contextmanager
def telling_of_a_dead_jvm(required: str = _DONE_AGAIN, asked_to_end: Callable[[], bool] = bool) -> Iterator[None]:
    """Says that the JVM is gone in place of whatever its death makes of the call that was under way, in Python or behind it.

    Raises
    ------
    JvmGone
        If the JVM has ended.
    KeyboardInterrupt
        If it has, and the work was asked to end: whoever asked may have ended the JVM too.
    """
    try:
        yield
    except AccountError:  # it has the result of a run that went to its end
        raise
    except Exception as problem:
        told = isinstance(problem, JvmGone)
        if not told and not _jvm.is_gone(problem):
            raise
        if asked_to_end():
            raise KeyboardInterrupt from problem
        if told:
            raise
        raise jvm_gone(required) from problem


def _in_users_code(problem: BaseException) -> StreamproofError:
    """Of a sink of the user's, say: which error, where; never its text, which may hold values of rows."""
    missing, place = isinstance(problem, ModuleNotFoundError), place_of(problem)
    frames = [(str(place.file), place.line, place.function)] if place is not None else []
    return StreamproofError(
        f"The query stopped: {raised_in(None, problem, told='' if missing else type(problem).__name__)}",
        required="Nothing is lost: what was not committed is done again at the next start.",
        remedy=remedy_for(problem) or "Mend it and run again. Its text may hold values of rows: --debug prints it.",
    ).is_at(frames=frames)


def _registry(causes: Sequence[str]) -> StreamproofError | None:
    found = next((cause for cause in causes if _REGISTRY in cause), None)
    if found is None:
        return None
    told = found.partition(_REGISTRY)[2].strip()
    said = told.removeprefix(_SILENT).splitlines()
    kind = RegistryUnavailable if told.startswith(_SILENT) else RegistryError
    return kind(
        said[0] if said[0].startswith("The ") else f"The schema registry: {said[0].rstrip('.')}.",
        required="Nothing is lost, and no record is rejected for it: the batch is done again at the next start.",
        remedy="Look whether it runs, is reached from the executors, and what user and password in [registry] are, then run again.",
    )


def _row(causes: Sequence[str]) -> StreamproofError | None:
    found = next((cause for cause in causes if _ROW in cause), None)
    if found is None:
        return None
    return SinkError(
        f"An output cannot be written: {found.partition(_ROW)[2].strip().splitlines()[0].rstrip('.')}.",
        required="Nothing of its batch is published, and nothing is lost.",
        remedy="Mend schema_file, or the job's columns, and run again.",
    )


def _not_in_real_time(causes: Sequence[str]) -> StreamproofError | None:
    """What Spark's real-time trigger does not run, and only Spark's plan shows: a function over batches of rows, say."""
    found = next((match for cause in causes if (match := _REAL_TIME.search(cause))), None)
    if found is None:
        return None
    operators = ", ".join(name.rpartition(".")[2].removesuffix("Exec") for name in _CLASS.findall(found["said"]))
    what = f"has {operators} in its plan" if operators else f"is not possible: {found['said'].partition('. ')[0].strip()}"
    return JobDefinitionError(
        f"[job] trigger is real-time, and the job {what}.",
        required="Spark's real-time trigger takes columns and conditions of SQL; no Python functions over batches of rows, and of joins those with a "
        "small table only.",
        remedy='Write the transform with the columns of PySpark, or take a short interval, such as trigger = "1 second".',
    )


def _no_cores_for_shuffle(causes: Sequence[str]) -> StreamproofError | None:
    """The error for too few cores: with the real-time trigger all stages run side by side."""
    found = next((match for cause in causes if (match := _SLOTS.search(cause))), None)
    if found is None:
        return None
    return EnvironmentProblem(
        f"[job] trigger is real-time, and the job needs {found[1]} cores at the same time; {found[2]} are free.",
        required="Each partition that is read takes a core, and so does each one of a shuffle: a repartition in a transform, say.",
        remedy="Leave the shuffle out, give it fewer partitions, or give the job more cores.",
    )


def vanished(file: str, batch: int | None = None) -> DataError:
    """The error for an input file that is planned and not there, in one place."""
    planned = "" if batch is None else f" for batch {batch}"
    return DataError(
        f"An input file vanished after it was listed{planned}: {file}.",
        required="A file stays where it is until the job has read it; nothing of its batch was published.",
        remedy="Put it back and run again: the same batch is read again. Files that are complete should be moved in, never edited in place.",
    )


def unreadable(file: str, form: str = "") -> DataError:
    """The error for an input file that is no whole one of its format, in one place."""
    return DataError(
        f"An input file cannot be read{f' as {FILE_FORMATS[form].title}' if form else ''}: {file}.",
        required="A file that cannot be opened stops the job: its records cannot be counted, so they cannot be rejected.",
        remedy="Replace it with a whole file of the declared schema and run again.",
    )


def _other_files(causes: Sequence[str]) -> StreamproofError | None:
    """The guard of our source: what Spark would read is not what the log of the batch names."""
    file = _told(causes, "streamproof-files: ")
    if file is None:
        return None
    return DataError(
        f"Spark would read another set of files than the log of the batch names: {path_of(file)} is not in it, or comes twice.",
        required="A batch reads each file that its log names once. Nothing of the batch was published.",
        remedy="Rename the file, if its name has unusual characters, before the job sees it; with a file of that name this is a fault of Streamproof: "
        "please report it.",
    )


def _other_folders(causes: Sequence[str]) -> StreamproofError | None:
    """A folder such as `date=2026-03-02` that names a column for which the plan has no place."""
    told = _told(causes, "streamproof-folders: ")
    if told is None:
        return None
    column, _, folder = told.partition(" ")
    return DataError(
        f"The folder {path_of(folder)} names the column {column}, and no folder did when the job started.",
        required="The columns that folders name are looked for at a start. Nothing of the batch was published.",
        remedy="Run it again: the batch is then read with the values that its folders say.",
    )


def _timer(causes: Sequence[str]) -> StreamproofError | None:
    """A timer of declared state that sets itself, or another one, to an instant that is not later than its own: it would fire for ever."""
    timer = _told(causes, "streamproof-timer: ")
    if timer is None:
        return None
    return DataError(
        f"keyed(): the timer {timer.split()[0]} was set by a timer to an instant that is not after its own.",
        required="What a timer sets lies after the instant for which it fires; else it would fire for ever in one batch. Nothing was published.",
        remedy='Count from timer, which is that instant: "timer + INTERVAL 1 HOUR". Or set it in on_row only.',
    )


def _told(causes: Sequence[str], mark: str) -> str | None:
    return next((cause.partition(mark)[2].strip().splitlines()[0] for cause in causes if mark in cause), None)


def _offsets_lost(causes: Sequence[str]) -> StreamproofError | None:
    text = "\n".join(causes)
    if not re.search(
        r"KAFKA_DATA_LOSS|MISSING_KAFKA_PARTITION|offset was changed from|Some data may have been lost|OffsetOutOfRange", text
    ):
        return None
    said = next((cause for cause in causes if re.search(r"DATA_LOSS|offset|topic", cause)), causes[-1])
    return DataError(
        f"Records of Kafka are gone that the job has not read: {_jvm.plain(said)}",
        required="Retention took them, or the topic was deleted and made anew: they are in no place of the account.",
        remedy="Bring them back into the topic if you can. To go on without them, start over with a new checkpoint and new outputs; "
        "so that it does not happen again, let the topic keep records longer than the job may stand still.",
    )


def _no_broker(causes: Sequence[str]) -> StreamproofError | None:
    found = next((cause for cause in reversed(causes) if _NO_BROKER.search(cause)), None)
    if found is None:
        return None
    return SourceUnavailable(
        f"No broker of Kafka answers: {_jvm.plain(found)}",
        required="Nothing is lost: what was not committed is read again at the next start.",
        remedy="Look whether the brokers run and are reached from here and from the executors, then run again.",
    )


def _staged_gone(causes: Sequence[str]) -> StreamproofError | None:
    text = "\n".join(causes)
    file = next((found.group(1) for found in _FILE.finditer(text) if _jvm.is_own(found.group(1))), None)
    if file is None or not re.search(r"FileNotFound|FILE_NOT_EXIST|NoSuchFile|does not exist", text):
        return None
    return _jvm.gone_file(file)


def _vanished(causes: Sequence[str]) -> StreamproofError | None:
    text = "\n".join(causes)
    file = _FILE.search(text)
    if (
        "FileNotFound" not in text and "FILE_NOT_EXIST" not in text and not (file and "does not exist" in text)
    ):  # a table may not, too
        return None
    if re.search(r"/(state|offsets|commits|sources|_streamproof)/", text):
        return None
    return vanished(file.group(1) if file else "see the log")


def _not_parquet(causes: Sequence[str]) -> StreamproofError | None:
    text = "\n".join(causes)
    if "is not a Parquet file" not in text and "CANNOT_READ_FILE" not in text and "PARQUET" not in text.upper():
        return None
    if not re.search(r"not a Parquet file|CANNOT_READ|FAILED_READ_FILE|Unable to create Parquet", text):
        return None
    file = next((found.group(1) for found in _FILE.finditer(text) if "parquet" in found.group(1)), None)
    return unreadable(file or "see the log", "parquet")


def _not_whole(causes: Sequence[str]) -> StreamproofError | None:
    """Files of other formats: packed ones that are cut short, Avro that is none."""
    text = "\n".join(causes)
    if not re.search(r"FAILED_READ_FILE|CANNOT_READ_FILE", text) or re.search(
        r"/(state|offsets|commits|sources|_streamproof)/", text
    ):
        return None
    file = re.search(r"reading file (\S+?)\.?(?:\s|$)", text)
    said = _jvm.named(causes[-1]).rstrip(".") or "it is no whole file of its format"
    error = unreadable(path_of(file[1]) if file else "see the log")
    return DataError(f"{error.message.rstrip('.')}: {said}.", required=error.required, remedy=error.remedy)


def _disk(causes: Sequence[str]) -> StreamproofError | None:
    text = "\n".join(causes)
    if not re.search(r"No space left|Permission denied|AccessControlException|Mkdirs failed|Disk quota|not a directory", text):
        return None
    innermost = next((cause for cause in reversed(causes) if _NO_WRITE.search(cause)), text)
    file = _FILE.search(innermost)
    found: StreamproofError = _jvm.storage_error(file.group(1) if file else "a file of the job", causes)
    return found


def _two_drivers(causes: Sequence[str]) -> StreamproofError | None:
    text = "\n".join(causes)
    if not re.search(
        r"CONCURRENT_STREAM_LOG_UPDATE|CONCURRENT_QUERY|Multiple streaming queries are concurrently|same id is already active", text
    ):
        return None
    first = (
        "it was started before" if re.search(r"CONCURRENT_QUERY|already active", text) else "it wrote the log of the batch first"
    )
    return TwoDrivers(
        f"Another driver works on this checkpoint: {first}.",
        required="One driver works on a checkpoint at a time.",
        remedy="Stop one of them; the ledger decides what is published, nothing is doubled.",
    )


def _damaged(causes: Sequence[str]) -> StreamproofError | None:
    text = "\n".join(causes)
    if not re.search(
        r"/(state|offsets|commits|sources)/|CANNOT_LOAD|STATE_STORE|CHECKSUM|MISSING_METADATA|MISSING_STATE|streaming metadata|Incomplete log",
        text,
    ):
        return None
    file = next(
        (found.group(1) for found in _FILE.finditer(text) if re.search(r"/(state|offsets|commits|sources)/", found.group(1))), None
    )
    said = _jvm.named(causes[-1]).rstrip(".") if causes else ""
    error = TornCheckpoint if file else CheckpointError
    return error(
        f"The checkpoint is damaged{f' at {file}' if file else ''}{f': {said}' if said else ''}.",
        required="Published rows stand; nothing is lost.",
        remedy="Run again with --replay-last: the newest batch is computed again from its recorded input and compared with what is published.",
        action=RemedyAction.REPLAY_LAST,
    )


def _not_in_workers(causes: Sequence[str]) -> StreamproofError | None:
    found = next((match for cause in causes if (match := _NO_MODULE.search(cause))), None)
    if found is None:
        return None
    own = found.group(1).startswith("streamproof_job_")
    what = "a function of the job's file that is wrapped by an object" if own else f"the module {found.group(1)}"
    return JobDefinitionError(
        f"A Python worker cannot import {what}.",
        required="Plain functions of the job's file go to the workers with their code; what they import must be there.",
        remedy="Move the function into a module beside the job's file."
        if own
        else f"Install {found.group(1)} for the workers' Python, or name its file in [spark] submit.pyFiles.",
    )


def _divert(causes: Sequence[str]) -> StreamproofError | None:
    found = next((cause for cause in causes if "streamproof:" in cause), None)
    return None if found is None else DivertError(found.partition("streamproof:")[2].strip())
