"""Goes along the steps of a recipe without Spark: which columns are there at each, and whether a step names one that is not."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamproof.core.users_code import place_of, said
from streamproof.errors import JobDefinitionError, StreamproofError
from streamproof.runtime.checks.recorded_rows import Known, Reader, RecordedRows
from streamproof.stream.aggregates import Declared
from streamproof.stream.emissions.emission import REVISION
from streamproof.stream.operators import Operator, Transform, WindowAggregate

if TYPE_CHECKING:
    from streamproof.stream.operators.operator import Mention


def along(steps: Sequence[Operator], known: Known, reader: Reader) -> Known:
    """The columns after the steps; a name that is not there goes to `reader.problems`, what cannot be looked at to `reader.unseen`."""
    for step in steps:
        if isinstance(step, Transform):
            known = _transformed(step, known, reader)
            continue
        for mention in step.mentioned():
            _look(mention, known, reader)
        if isinstance(step, WindowAggregate):
            known = _aggregated(step, known, reader)
    return known


def _look(mention: "Mention", known: Known, reader: Reader) -> None:
    for column in mention.columns:
        with _kept(reader):
            if mention.exact:
                reader.require(mention.where, [(column,)], known, exact=True)
            else:
                reader.mentioned(mention.where, column, known)


@contextmanager
def _kept(reader: Reader) -> Iterator[None]:
    """Keeps what is wrong with one name, so that the others are looked at too."""
    try:
        yield
    except JobDefinitionError as problem:
        reader.wrong(problem)


def _aggregated(step: WindowAggregate, known: Known, reader: Reader) -> Known:
    """The columns of the rows of a window; looks at the SQL texts of declared aggregates."""
    for name, one in step.aggregates.items():
        for expression in one.expressions() if isinstance(one, Declared) else ():
            columns = known if expression.of_rows else Known(expression.own)
            with _kept(reader):
                reader.text(f"{expression.part} of aggregate({name}=...)", expression.text, columns, besides=expression.own)
    revision = (REVISION,) if step.emission.revised else ()
    return Known((*step.by, "window_start", "window_end", *revision, *step.aggregates))


def _transformed(step: Transform, known: Known, reader: Reader) -> Known:
    """The columns that a transform gives; its function is called with rows that are known by their names alone."""
    try:
        made = step.function(RecordedRows(known, reader))  # type: ignore[arg-type]
    except JobDefinitionError as problem:
        place = place_of(problem)
        said_where = f"{f'{place}: ' if place else ''}{problem.message}"
        reader.wrong(JobDefinitionError(said_where, required=problem.required, remedy=problem.remedy))
        return Known((), f"{step} is wrong")
    except StreamproofError as problem:
        reader.wrong(problem)
        return Known((), f"{step} is wrong")
    except Exception as problem:  # noqa: BLE001 -- it is the user's function, and what stands for rows is no DataFrame
        return _unseen(step, said(problem).removeprefix("NeedsSpark: "), reader)
    if not isinstance(made, RecordedRows):
        return _unseen(step, f"it returned a {type(made).__name__}", reader)
    return made.known


def _unseen(step: Transform, why: str, reader: Reader) -> Known:
    reader.pass_over(f"{step} ({why})")
    return Known((), f"{step} was not looked at")
