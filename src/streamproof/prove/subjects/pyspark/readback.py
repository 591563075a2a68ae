"""`--read NAME=module:function`: reads back what a job writes by itself, such as a table in SQLite that `foreachBatch` keeps."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamproof.core.users_code import raised_in, remedy_for
from streamproof.errors import ScenarioError
from streamproof.prove.process.environment import in_environment
from streamproof.prove.subjects.pyspark.reading import Row
from streamproof.prove.subjects.pyspark.told import placed


@dataclass(frozen=True)
class ReadBack:
    """A function that gives the rows of an output: dicts, or tuples. It takes the job's arguments that it names, and `folder`."""

    name: str
    file: Path
    function: str

    @classmethod
    def parse(cls, text: str, beside: Path) -> "ReadBack":
        """From "NAME=module:function"; the module lies beside the job, or is a path to a file.

        Raises
        ------
        ScenarioError
            If the text is no such thing, or there is no such file.
        """
        name, _, place = text.partition("=")
        module, _, function = place.rpartition(":")
        if not (name and module and function):
            raise ScenarioError(
                f"--read {text} is not NAME=module:function.", required="For example --read totals=checks.py:totals."
            )
        file = Path(module if module.endswith(".py") else f"{module}.py")
        file = file if file.is_file() else beside / file
        if not file.is_file():
            raise ScenarioError(
                f"--read {text}: there is no file {file}.", required="The module lies beside the job, or is a path."
            )
        return cls(name, file.resolve(), function)

    def rows(
        self, arguments: Mapping[str, str], environment: Mapping[str, str], folder: Path, words: Mapping[str, str] | None = None
    ) -> list[Row]:
        """The rows that are there after a scenario; the function finds the job's variables of the environment, as the job did.

        Parameters
        ----------
        folder, words
            Where the scenario's own folder is, and what stands for the words of its places in services.

        Raises
        ------
        ScenarioError
            If the function is not there, or raises.
        """
        words = words or {}
        with in_environment(placed(environment, folder, words)):
            return self._rows(placed(arguments, folder, words) | {"folder": str(folder)})

    def _rows(self, given: Mapping[str, str]) -> list[Row]:
        from streamproof.runtime.binding.loading import load_module

        function = getattr(load_module(self.file), self.function, None)
        if not callable(function):
            raise ScenarioError(
                f"{self.file.name} has no function {self.function}.", required=f"--read {self.name}=module:function."
            )
        taken = {name: given[name] for name in inspect.signature(function).parameters if name in given}
        try:
            found: Iterable[Any] = function(**taken)
            return [
                dict(row) if isinstance(row, Mapping) else {f"column {n}": value for n, value in enumerate(row, 1)} for row in found
            ]
        except Exception as problem:  # it is the user's function: anything can happen in it
            raise ScenarioError(
                f"--read {self.name}: {raised_in(self.file, problem)}",
                required="It gives the rows of the output: dicts or tuples.",
                remedy=remedy_for(problem),
            ) from problem
