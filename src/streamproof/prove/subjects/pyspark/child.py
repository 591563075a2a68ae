"""A PySpark job in a child: bound to the scenario, called as its author calls it, run to the end of what there is."""

import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.core.paths import as_pattern
from streamproof.core.users_code import place_of, raised_in, remedy_for, said
from streamproof.errors import JobDefinitionError, ScenarioError, StreamproofError
from streamproof.prove.process import machine
from streamproof.prove.process.guard import of_a_real_place
from streamproof.prove.process.spark_settings import PLAIN
from streamproof.prove.process.task import JOB_RAISED, ChildResult, ChildTask
from streamproof.prove.subjects.pyspark.cut_lines import with_cut_lines
from streamproof.prove.subjects.pyspark.spark_faults import remedy_of_spark_fault
from streamproof.prove.subjects.pyspark.told import ELSEWHERE, ROWS_IN, Told, placed, placed_text
from streamproof.prove.subjects.pyspark.type_complaints import typed_by_schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from pyspark.sql import DataFrame, SparkSession

    from streamproof.core.notes import Note
    from streamproof.prove.subjects.pyspark.readers import Inputs
    from streamproof.prove.subjects.pyspark.writers import Started

STANDS_ON = PLAIN
DELTA_CLASS = "io.delta.sql.DeltaSparkSessionExtension"
_LOOK_SECONDS, _GRACE_SECONDS = 0.5, 5.0


def spark_of(task: ChildTask) -> "tuple[Mapping[str, str], Sequence[str]]":
    """What the user has set, beside what every proof has."""
    return Told.of(task.subject).conf, ()


def run(spark: "SparkSession", task: ChildTask) -> ChildResult:
    """Runs the job to its end on the scenario's folder."""
    from streamproof.prove.subjects.pyspark import before_state, stateful
    from streamproof.prove.subjects.pyspark.ending import JOB_THREAD
    from streamproof.prove.subjects.pyspark.readers import Inputs
    from streamproof.prove.subjects.pyspark.redirect import redirect
    from streamproof.prove.subjects.pyspark.reference import CUT
    from streamproof.prove.subjects.pyspark.settings import as_in_production
    from streamproof.prove.subjects.pyspark.writers import Started

    told = Told.of(task.subject)
    left_out = as_in_production(spark, told.conf)
    for key, value in task.conditions.settings.items():
        if key.startswith("spark.sql."):
            spark.conf.set(key, value)
    elsewhere = task.folder / ELSEWHERE
    elsewhere.mkdir(parents=True, exist_ok=True)
    os.environ.update(placed(told.environment, elsewhere, task.binding.urls))
    inputs = Inputs(
        spark, told.inputs, task.binding.data, task.binding.files_per_batch, json.loads(task.conditions.settings.get(CUT, "{}"))
    )
    started = Started(task.binding.base, task.folder, delta=_jvm.has_class(spark, DELTA_CLASS), roles=told.roles)
    started.looking = before_state.SETTING in task.conditions.settings
    if _is_recorded(task):
        spark.conf.set(stateful.COUNTS, "true")
    notes = redirect(spark, inputs, started, task.conditions.settings)
    notes.extend(left_out)
    ended = _Ended()
    thread = threading.Thread(target=_call, args=(spark, told, task, inputs, started, ended), name=JOB_THREAD, daemon=True)
    thread.start()
    try:
        _until_done(thread, started)
        started.wait()
        if ended.problem is not None:
            raise ended.problem
        _require_sound(told, inputs, started)
        if _is_recorded(task):
            stateful.note([(query.name, running) for query, running in started.queries], task.folder)
        if not told.roles:  # the first run of the proof
            (task.folder / ROWS_IN).write_text(json.dumps(inputs.counted()))
    except Exception as problem:  # noqa: BLE001 -- it is the user's job: anything can happen in it
        return _stopped(started.raised[0] if started.raised else problem, notes, told, own_network=task.limits.own_network)
    return ChildResult(notes=tuple(notes))


def _is_recorded(task: ChildTask) -> bool:
    """Whether a run without a fault is recorded: it alone is asked what keeps state."""
    return task.binding.base != str(task.folder)


def _stopped(problem: Exception, notes: "list[Note]", told: Told | None = None, *, own_network: bool = False) -> ChildResult:
    """How the job was stopped; what is neither the job's nor Spark's is a fault of the proof, and goes on."""
    of_spark = type(problem).__module__.startswith(("pyspark", "py4j"))
    place, causes = place_of(problem), _jvm.causes_of(problem) if of_spark else []
    real = of_a_real_place("\n".join(causes) or said(problem), str(place or ""), own_network=own_network)
    if real is not None and not isinstance(problem, StreamproofError) and (place is not None or of_spark):
        return ChildResult(real.code, real.message, real.remedy, None, tuple(notes))
    if (did := machine.did(problem)) is not None:
        return ChildResult(machine.MACHINE, did, "", None, tuple(notes))
    if isinstance(problem, StreamproofError):
        return ChildResult(problem.code, problem.message, problem.remedy, problem.action, tuple(notes))
    if place is None and not of_spark:
        raise problem
    text = "\n".join((type(problem).__name__, str(problem), *causes))
    by_schema = typed_by_schema(text, told.inputs) if of_spark and told is not None else ""
    result = (_in_spark(causes, notes) if of_spark else None) or ChildResult(
        JOB_RAISED, raised_in(None, problem), remedy_of_spark_fault(causes) or remedy_for(problem) or by_schema, None, tuple(notes)
    )
    return with_cut_lines(result, text) if told is not None and told.cuts and not by_schema else result


def _in_spark(causes: "Sequence[str]", notes: "list[Note]") -> "ChildResult | None":
    """What stopped a task: Spark says it below a long message. None where it is something else."""
    from streamproof.runtime.spark.task_failures import of_a_task

    task = of_a_task(causes)
    if task is None:
        return None
    return ChildResult(JOB_RAISED, task.message, "Mend it. Its text may hold values of rows, and is left out.", None, tuple(notes))


class _Ended:
    """How the job's own code came to its end: what it raised, if it did."""

    def __init__(self) -> None:
        self.problem: Exception | None = None


def _until_done(thread: threading.Thread, started: "Started") -> None:
    """Until the job's code has returned; or until its queries have, and it goes on without them (`while True`, a server).

    A job that starts one query after the other may need long in between where the machine is busy: it is not done while it works.
    """
    grace, used = 0.0, 0.0
    while thread.is_alive():
        thread.join(_LOOK_SECONDS)
        running = [query for _, query in list(started.queries) if query.isActive]
        before, used = used, _processor_seconds(thread)
        works = used - before > _LOOK_SECONDS / 10 or _asks_the_jvm(thread)
        grace = grace + _LOOK_SECONDS if started.queries and not running and not works else 0.0
        if grace >= _GRACE_SECONDS:
            return


def _processor_seconds(thread: threading.Thread) -> float:
    """How long a thread has had a processor."""
    if not hasattr(time, "pthread_getcpuclockid") or thread.ident is None or not thread.is_alive():
        return 0.0
    try:
        return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    except OSError:  # it has just ended
        return 0.0


def _asks_the_jvm(thread: threading.Thread) -> bool:
    """Whether it waits for an answer of the JVM."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if "py4j" in Path(frame.f_code.co_filename).parts:
            return True
        frame = frame.f_back
    return False


def _call(spark: "SparkSession", told: Told, task: ChildTask, inputs: "Inputs", started: "Started", ended: _Ended) -> None:
    """Calls the job's code in a thread of its own. A job that never returns is noticed by that."""
    try:
        returned = _called(spark, told, task, inputs)
        for name, frame in _frames(told, returned):
            _start(frame, started, name, told.modes.get(name))
    except SystemExit as left:
        if left.code not in (None, 0):
            ended.problem = JobDefinitionError(
                f"The job ended itself: sys.exit({left.code!r}).", remedy="Look at what it printed before."
            )
    except Exception as problem:  # noqa: BLE001 -- it is the user's code: it is told in the main thread
        ended.problem = problem


def _called(spark: "SparkSession", told: Told, task: ChildTask, inputs: "Inputs") -> Any:
    from streamproof.runtime.binding.loading import load_module

    elsewhere = task.folder / ELSEWHERE
    file = Path(told.file)
    if not told.function:
        sys.argv = [told.file, *(placed_text(word, elsewhere, task.binding.urls) for word in told.words)]
        load_module(file, name="__main__")
        return None
    function = _function(load_module(file), told)
    arguments: dict[str, Any] = {
        **placed(told.arguments, elsewhere, task.binding.urls),
        **{name: _table(spark, path) for name, path in told.tables.items()},
    }
    return function(**_bound(function, spark, told, inputs, arguments))


def _function(module: "ModuleType", told: Told) -> Any:
    found = getattr(module, told.function, None)
    if callable(found):
        return found
    functions = [name for name, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__]
    raise JobDefinitionError(
        f"{told.file} has no function {told.function}.",
        required=f"It has {', '.join(functions) or 'none'}.",
        remedy="Name one of them.",
    )


def _bound(function: Any, spark: "SparkSession", told: Told, inputs: "Inputs", arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What each parameter gets: an input of its name, an argument, the session.

    Raises
    ------
    JobDefinitionError
        If a parameter gets nothing and has no default, or something is given that the function does not take.
    """
    names = {one.name for one in told.inputs}
    signature = inspect.signature(function)
    found: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if name in names:
            found[name] = inputs.frame(name)
        elif name in arguments:
            found[name] = _typed(arguments[name], parameter)
        elif _is_session(name, parameter):
            found[name] = spark
        elif parameter.default is inspect.Parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise JobDefinitionError(
                f"{told.function}{signature} needs {name}, and nothing is given for it.",
                required=f"A stream is an input of that name; there are {', '.join(sorted(names)) or 'none'}.",
                remedy=f"Add --input {name}=FILE for a stream, --table {name}=FILE for a table, --set {name}=VALUE for anything else.",
            )
    other = sorted(set(arguments) - set(signature.parameters))
    if other:
        raise JobDefinitionError(
            f"{other[0]} is given, and {told.function}{signature} does not take it.", remedy="Give what it takes, or leave it out."
        )
    return found


def _is_session(name: str, parameter: inspect.Parameter) -> bool:
    return name in ("spark", "session", "spark_session") or "SparkSession" in str(parameter.annotation)


def _typed(value: Any, parameter: inspect.Parameter) -> Any:
    """A text as the parameter's own type, where that is a number or a truth."""
    wanted = parameter.annotation if parameter.annotation is not inspect.Parameter.empty else type(parameter.default)
    if not isinstance(value, str):
        return value
    if wanted is bool or wanted == "bool":
        return value.lower() in ("true", "yes", "1")
    for kind in (int, float):
        if wanted is kind or wanted == kind.__name__:
            return kind(value)
    return Path(value) if wanted is Path or wanted == "Path" else value


def _table(spark: "SparkSession", path: str) -> "DataFrame":
    form = Path(path).suffix.removeprefix(".").lower().replace("jsonl", "json").replace("ndjson", "json")
    reader = spark.read.format(form or "parquet")
    return (reader.option("header", "true").option("inferSchema", "true") if form == "csv" else reader).load(as_pattern(path))


def _frames(told: Told, returned: Any) -> "Iterator[tuple[str, DataFrame]]":
    """The streaming DataFrames that a function returns, with their names.

    Raises
    ------
    JobDefinitionError
        If one is not a stream.
    """
    if returned is None or not _holds_frames(returned):
        return
    if isinstance(returned, Mapping):
        named = dict(returned)
    elif isinstance(returned, tuple | list):
        named = dict(
            zip(getattr(returned, "_fields", None) or [f"out_{n}" for n in range(1, len(returned) + 1)], returned, strict=True)
        )
    else:
        named = {"out": returned}
    for name, frame in named.items():
        if not getattr(frame, "isStreaming", False):
            raise JobDefinitionError(
                f"{told.function} returned {name}, which is a {type(frame).__name__} and no stream.",
                required="It returns streaming DataFrames: one, several, or a dict of them.",
                remedy="Look for spark.read where readStream is meant, or for a collect().",
            )
        yield str(name), frame


def _holds_frames(returned: Any) -> bool:
    values = returned.values() if isinstance(returned, Mapping) else returned if isinstance(returned, tuple | list) else [returned]
    return any(hasattr(value, "isStreaming") for value in values)


def _start(frame: "DataFrame", started: "Started", name: str, mode: str | None) -> None:
    """A query to a sink of the proof's, in the first output mode that Spark takes; it ends before the next one begins."""
    from pyspark.errors import AnalysisException

    from streamproof.prove.subjects.pyspark.writers import OF_A_FUNCTION, BoundWriter

    refused: list[AnalysisException] = []
    for one in (mode,) if mode else ("append", "update", "complete"):
        try:
            BoundWriter(frame, started).format(OF_A_FUNCTION).outputMode(one).queryName(name).start().awaitTermination()
        except AnalysisException as problem:
            started.names.discard(name)
            refused.append(problem)
        else:
            return
    raise next((problem for problem in refused if "OUTPUT_MODE" not in (problem.getCondition() or "")), refused[0])


def _require_sound(told: Told, inputs: "Inputs", started: "Started") -> None:
    """ScenarioError if there was nothing to prove, or an input was given that the job never read."""
    if not started.queries:
        raise ScenarioError(
            f"{told.function or told.file} started no query and returned no stream.",
            required="A job returns streaming DataFrames, or starts a query: frame.writeStream....start().",
            remedy="Name the function that does: file.py:function.",
        )
    inputs.batch_reads.require_streamed(started.places.streamed_from)
    never = [one.name for one in told.inputs if one.name not in inputs.read]
    if never:
        raise ScenarioError(
            f"The job never read the input {never[0]}.",
            required="Each input is a parameter of the function, or what spark.readStream names: a topic, a table, a folder.",
            remedy="Leave it out, or call it as the job does.",
        )
