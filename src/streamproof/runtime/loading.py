"""Importing the user's files: the job, sinks of their own, the modules beside them."""

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from streamproof.core.users_code import raised_in, remedy_for
from streamproof.errors import ConfigurationError, JobDefinitionError, StreamproofError
from streamproof.stream.job import Job

if TYPE_CHECKING:
    from streamproof.config import JobConfig


def load_job(config: "JobConfig") -> Job:
    """The job function of the entry, from a freshly imported module."""
    file_name, _, function = config.entry.partition(":")
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
    folder = str(file.parent)
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
    _let_travel(module, folder)
    return module


def _let_travel(module: ModuleType, folder: str) -> None:
    """Lets functions of the job run in Python workers: those of the file itself go with their code, modules beside it by name.

    No worker knows the name that the file was imported under. The folder is on the workers' path where they see it; on a cluster that
    does not, `spark.submit.pyFiles` brings the modules.
    """
    from pyspark import SparkContext, cloudpickle

    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    context = SparkContext._active_spark_context
    if context is not None:
        # Not by PYTHONPATH: Spark starts a process to fork workers from for each value of it, and that one imports everything anew.
        folders: list[str] = context._python_includes or []
        context._python_includes = [*(path for path in folders if path != folder), folder]  # the last one is looked in first
