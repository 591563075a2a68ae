"""Goes along the operators of a query without Spark: which columns are there at each, and whether one names a column that is not."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from streamproof.core.users_code import place_of, said
from streamproof.errors import JobDefinitionError, StreamproofError
from streamproof.runtime.checks.recorded_rows import Reader, RecordedRows
from streamproof.stream.known import Known, Look, Mention
from streamproof.stream.operators import Operator


def along(operators: Sequence[Operator], known: Known, reader: Reader) -> Known:
    """The columns after the operators; a name that is not there goes to `reader.problems`, what cannot be looked at to `reader.unseen`."""
    look = _Looking(reader)
    for operator in operators:
        known = operator.columns(known, look)
    return known


def behind(operator: Operator, coming: Sequence[Known], reader: Reader) -> Known:
    """The same after one operator that may have several inputs."""
    return operator.columns_of_all(coming, _Looking(reader))


class _Looking(Look):
    """Looks at what operators name; goes on where one name is wrong, so that the others are looked at too."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def mentions(self, mentions: "Sequence[Mention]", known: Known) -> None:
        for mention in mentions:
            for column in mention.columns:
                with self._kept():
                    if mention.exact:
                        self.reader.require(mention.where, [(column,)], known, exact=True)
                    else:
                        self.reader.mentioned(mention.where, column, known)

    def text(self, where: str, text: str, known: Known, *, besides: Iterable[str] = ()) -> None:
        with self._kept():
            self.reader.text(where, text, known, besides=besides)

    def wrong(self, problem: JobDefinitionError) -> None:
        self.reader.wrong(problem)

    def applied(self, function: Callable[[Any], Any], named: str, known: Known) -> Known:
        """The function is called with rows that are known by their names alone."""
        reader = self.reader
        try:
            made = function(RecordedRows(known, reader))
        except JobDefinitionError as problem:
            place = place_of(problem)
            said_where = f"{f'{place}: ' if place else ''}{problem.message}"
            reader.wrong(JobDefinitionError(said_where, required=problem.required, remedy=problem.remedy))
            return Known((), f"{named} is wrong")
        except StreamproofError as problem:
            reader.wrong(problem)
            return Known((), f"{named} is wrong")
        except Exception as problem:  # noqa: BLE001 -- it is the user's function, and what stands for rows is no DataFrame
            return self._unseen(named, said(problem).removeprefix("NeedsSpark: "))
        if not isinstance(made, RecordedRows):
            return self._unseen(named, f"it returned a {type(made).__name__}")
        return made.known

    def _unseen(self, named: str, why: str) -> Known:
        self.reader.pass_over(f"{named} ({why})")
        return Known((), f"{named} was not looked at")

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Keeps what is wrong with one name."""
        try:
            yield
        except JobDefinitionError as problem:
            self.reader.wrong(problem)
