"""Importing the user's files: the job, sinks of their own, the modules beside them."""

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from streamproof.core.users_code import raised_in, remedy_for
from streamproof.errors import ConfigurationError, JobDefinitionError, StreamproofError
from streamproof.stream.job import Job

if TYPE_CHECKING:
    from streamproof.config import JobConfig

_REUSE = "spark.python.worker.reuse"


def load_job(config: "JobConfig") -> Job:
    """The job function of the entry, from a freshly imported module."""
    file_name, _, function = config.entry.partition(":")
    _forget_folders()
    module = load_module(config.root / file_name)
    found = getattr(module, function, None)
    if isinstance(found, Job):
        return found
    jobs = [name for name, value in vars(module).items() if isinstance(value, Job)]
    raise ConfigurationError(
        f"{config.file}: entry names {config.entry}, and {function or 'that'} is {'not there' if found is None else 'no job'}.",
        required=f"A job is a function with @sp.job above it; {file_name} has {', '.join(jobs) or 'none'}.",
    )


def load_module(file: Path, *, name: str = "") -> ModuleType:
    """Imports a file of the user's under a name of its own, so that nothing of an earlier import remains (R17).

    `name` is another one, such as "__main__" for a script.
    """
    if not file.is_file():
        raise ConfigurationError(f"There is no file {file}.", remedy='Look at entry = "job.py:function" in streamproof.toml.')
    name = name or f"streamproof_job_{file.stem}"
    folder = str(file.absolute().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    try:
        # Compiled from the source each time: a bytecode file of the same second and size would pass for the new one.
        exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)  # noqa: S102  # importing is executing
    except StreamproofError:
        raise
    except Exception as problem:
        raise JobDefinitionError(
            raised_in(file, problem),
            required=f"{file.name} is imported before the job starts, and that stopped there.",
            remedy=remedy_for(problem),
        ) from problem
    _let_travel(module)
    _show_workers(folder)
    return module


def _let_travel(module: ModuleType) -> None:
    """Sends functions of the user's file to Python workers with their code: no worker knows the name that the file was imported under."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _show_workers(folder: str) -> None:
    """Puts a folder on the path of Python workers: they import the modules beside the user's file by name.

    That needs the folder to be on their machine; on a cluster where it is not, `spark.submit.pyFiles` brings the modules.
    """
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None:
        return
    if context._conf.get(_REUSE, "true") == "false":
        # Spark starts one process to fork workers from for each PYTHONPATH. In a proof it imports what tasks need, which takes seconds.
        context._python_includes = [*(path for path in context._python_includes or () if path != folder), folder]
    else:
        others = [path for path in context.environment.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", folder)]
        context.environment["PYTHONPATH"] = os.pathsep.join((folder, *others))


def _forget_folders() -> None:
    """Takes the folders of another job off the list of archives, which Spark passes on as a set: workers would search them in any order."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is not None:
        context._python_includes = [path for path in context._python_includes or () if not Path(path).is_absolute()]
