"""Jobs: functions from streams to outputs."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from streamproof.core.users_code import place_of, raised_in, remedy_for
from streamproof.errors import JobDefinitionError, StreamproofError
from streamproof.stream.node import source
from streamproof.stream.outputs import Outputs
from streamproof.stream.stream import Stream


class Job:
    """A function that `@sp.job` marked: its name, the names of its sources, and how to call it."""

    def __init__(self, function: Callable[..., Outputs]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.sources = tuple(inspect.signature(function).parameters)

    def __call__(self, *args: Stream, **kwargs: Stream) -> Outputs:
        return self.function(*args, **kwargs)

    def outputs(self, sources: Iterable[str]) -> Outputs:
        """Calls the function with one stream per parameter.

        Raises
        ------
        JobDefinitionError
            If a parameter has no source in the configuration, the function raises, or it does not return Outputs.
        """
        known = tuple(sources)
        for name in self.sources:
            if name not in known:
                raise JobDefinitionError(
                    f"{self.name}({', '.join(self.sources)}) needs a source named {name}; the configuration has {', '.join(known) or 'none'}.",
                    remedy=f"Add [source.{name}] to streamproof.toml, or rename the parameter.",
                )
        outputs = self._called()
        if not isinstance(outputs, Outputs):
            raise JobDefinitionError(
                f"{self.name} returned a {type(outputs).__name__}.", required="A job returns sp.Outputs(name=stream, ...)."
            )
        return outputs

    def _called(self) -> Any:
        """What the function returns; what it raises, and what our own methods refuse, comes with the line of the user's file."""
        streams = {name: Stream(source(name)) for name in self.sources}
        file = Path(self.function.__code__.co_filename)
        try:
            return self.function(**streams)
        except JobDefinitionError as problem:
            place = place_of(problem)
            if place is None:
                raise
            raise JobDefinitionError(f"{place}: {problem.message}", required=problem.required, remedy=problem.remedy) from problem
        except StreamproofError:
            raise
        except Exception as problem:  # it is the user's function: anything can happen in it
            raise JobDefinitionError(
                raised_in(file, problem),
                required=f"{self.name} is called once, before any row is read; it takes streams and returns sp.Outputs(...).",
                remedy=remedy_for(problem),
            ) from problem


def job(function: Callable[..., Outputs]) -> Job:
    """Marks a function from streams to `Outputs` as a job.

    Each parameter is named after a source of the configuration.
    """
    if not inspect.signature(function).parameters:
        raise JobDefinitionError(f"The job {function.__name__} has no parameters.", required="It takes one stream per source.")
    return Job(function)
