"""Transforms: a function of the user's makes one row of each."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.paths import display
from streamproof.core.users_code import place_of, raised_in, remedy_for
from streamproof.errors import JobDefinitionError, StreamproofError
from streamproof.stream.known import Known, Look
from streamproof.stream.names import MADE
from streamproof.stream.operators.operator import RowWise

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors


@dataclass(frozen=True)
class Transform(RowWise):
    """A function of the DataFrame, applied when the plan is built."""

    function: "Callable[[DataFrame], DataFrame]"

    def __str__(self) -> str:
        """How errors call it: `transform(in_euros) in my_job/job.py line 12`; without a place where the function is not written in Python."""
        function: Any = self.function
        while isinstance(function, partial):
            function = function.func
        function = inspect.unwrap(function)
        named = getattr(function, "__name__", type(function).__name__).strip("<>")
        code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
        return f"transform({named})" + (f" in {display(Path(code.co_filename))} line {code.co_firstlineno}" if code else "")

    def streaming(self, rows: "DataFrame", doors: "Doors") -> "DataFrame":
        """The rows, marked: the optimiser pushes a filter below a projection and computes what it needs of it a second time.

        A function of the user's would be called twice a row for each door behind it. A filter that asks for a column that is not
        deterministic is not pushed below it.
        """
        from pyspark.sql import functions as F

        return self.applied(rows).withColumn(MADE, F.spark_partition_id())

    def after_state(self, rows: "DataFrame") -> "DataFrame":
        return self.applied(rows)

    @property
    def users_code(self) -> str:
        return str(self)

    @property
    def functions(self) -> "Sequence[Callable[..., Any]]":
        return (self.function,)

    def columns(self, known: Known, look: Look) -> Known:
        return look.applied(self.function, str(self), known)

    def applied(self, rows: "DataFrame") -> "DataFrame":
        """What the function returns; JobDefinitionError where it fails, or does what a transform may not."""
        from pyspark.errors import AnalysisException
        from pyspark.sql import DataFrame

        from streamproof.stream.operators.transform_limits import require_row_by_row
        from streamproof.stream.problems import require_free, unknown_column

        try:
            made = self.function(rows)
        except AnalysisException as problem:
            place = place_of(problem)
            raise unknown_column(f"{place}: transform()" if place else "transform()", problem, rows.columns) from problem
        except StreamproofError:
            raise
        except Exception as problem:  # it is the user's function: anything can happen in it
            raise JobDefinitionError(
                f"The function given to transform() failed: {raised_in(None, problem)}",
                required="It takes a DataFrame and returns one; it is called once, when the plan is built.",
                remedy=remedy_for(problem),
            ) from problem
        if not isinstance(made, DataFrame):
            raise JobDefinitionError(
                f"The function given to transform() returned a {type(made).__name__}.", required="It returns a DataFrame."
            )
        require_row_by_row(rows, made, str(self))
        require_free((name for name in made.columns if name not in rows.columns), "The function given to transform()")
        return made
