"""Rows that are known by the names of their columns alone: what a transform is given where there is no Spark."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from streamproof.errors import StreamproofError
from streamproof.runtime.checks.recording_spark import NeedsSpark, output_of, read_by
from streamproof.runtime.checks.sql_names import Name, read_text
from streamproof.stream.known import Known
from streamproof.stream.problems import column_error

if TYPE_CHECKING:
    from pyspark.sql import Column

_KEPT = (
    *("repartition", "repartitionByRange", "coalesce", "hint", "cache", "persist", "unpersist", "observe", "checkpoint"),
    *(
        "localCheckpoint",
        "fillna",
        "dropna",
        "replace",
        "limit",
        "sort",
        "orderBy",
        "sortWithinPartitions",
        "distinct",
        "withMetadata",
    ),
)
"""Methods whose rows have the same columns; some of them a transform may not call, which Spark's plan tells."""
_TYPES = ("schema", "dtypes", "printSchema", "explain", "sparkSession", "rdd", "write", "writeStream")
"""What needs more than names."""


class Reader:
    """Holds what is named against the columns that are there; remembers what is wrong, and what it could not look at."""

    def __init__(self) -> None:
        self.unseen: list[str] = []
        self.problems: list[StreamproofError] = []

    def wrong(self, problem: StreamproofError) -> None:
        if str(problem) not in map(str, self.problems):
            self.problems.append(problem)

    def require(self, where: str, names: Iterable[Name], known: Known, *, exact: bool = False, besides: Iterable[str] = ()) -> None:
        """JobDefinitionError for a name that is no column; one that may be a further one is not seen.

        Parameters
        ----------
        besides
            Names that are known beside the columns.
        """
        others = {name.lower() for name in besides}
        for name in sorted(names):
            root = name[0]
            if root == "*" or root.lower() in others or known.has(root, exact=exact):
                continue
            if not known.further:
                raise column_error(where, root, known.names)
            self.pass_over(f'the column "{root}" in {where}: {known.further}')

    def text(self, where: str, text: str, known: Known, *, besides: Iterable[str] = ()) -> None:
        """The same for a SQL text."""
        found = read_text(text)
        if found is None:
            self.pass_over(f'the text "{text[:60]}" in {where}')
        else:
            self.require(where, found.names, known, besides=besides)

    def mentioned(self, where: str, column: Any, known: Known, *, besides: Iterable[str] = ()) -> None:
        """The same for a SQL text or a PySpark column."""
        if isinstance(column, str):
            self.text(where, column, known, besides=besides)
            return
        names, unread = read_by(column)
        for text in sorted(unread):
            self.pass_over(f'the text "{text[:60]}" in {where}')
        self.require(where, names, known, besides=besides)

    def pass_over(self, what: str) -> None:
        if what not in self.unseen:
            self.unseen.append(what)


class RecordedRows:
    """Stands for a DataFrame in a transform: its methods say which columns come out, and refuse names that are not there."""

    isStreaming = True  # noqa: N815

    def __init__(self, known: Known, reader: Reader, called: tuple[str, ...] = (), below: Known | None = None) -> None:
        self.known, self.reader, self._called = known, reader, called
        self._below = known if below is None else known.beside(below)
        """What a filter may name: Spark also finds there the columns of the rows that a select, a drop or another name was made from."""

    @property
    def columns(self) -> list[str]:
        if self.known.further:
            raise NeedsSpark(f"the columns of its rows: {self.known.further}")
        return list(self.known.names)

    def _made(self, known: Known) -> "RecordedRows":
        return RecordedRows(known, self.reader, self._called, self._below)

    def _look(self, *columns: Any, made: Iterable[str] = ()) -> None:
        """Names as PySpark's methods take them: a text is the name of a column; `made` are those that the same call makes before it."""
        besides = (*self._called, *made)
        for column in columns:
            for one in column if isinstance(column, list | tuple) else (column,):
                self.reader.mentioned("transform()", _named(one) if isinstance(one, str) else one, self.known, besides=besides)

    def withColumn(self, name: str, column: "Column") -> "RecordedRows":  # noqa: N802 -- PySpark's names, here and below
        self._look(column)
        return self._made(self.known.with_column(name))

    def withColumns(self, columns: "Mapping[str, Column]") -> "RecordedRows":  # noqa: N802
        known, made = self.known, list[str]()
        for name, column in columns.items():
            self._look(column, made=made)
            known = known.with_column(name)
            made.append(name)
        return self._made(known)

    def withColumnRenamed(self, old: str, new: str) -> "RecordedRows":  # noqa: N802
        return self.withColumnsRenamed({old: new})

    def withColumnsRenamed(self, names: Mapping[str, str]) -> "RecordedRows":  # noqa: N802
        lower = {old.lower(): new for old, new in names.items()}
        return self._made(Known(tuple(lower.get(name.lower(), name) for name in self.known.names), self.known.further))

    def drop(self, *columns: Any) -> "RecordedRows":
        gone = {(column if isinstance(column, str) else output_of(column)).lower() for column in columns}
        return self._made(Known(tuple(name for name in self.known.names if name.lower() not in gone), self.known.further))

    def select(self, *columns: Any) -> "RecordedRows":
        given = [one for column in columns for one in (column if isinstance(column, list | tuple) else (column,))]
        known = Known(())
        for one in given:
            self._look(one, made=known.names)
            name = _last_part(one) if isinstance(one, str) else output_of(one)
            known = self._selected(known, name, star=name == "*")
        return self._made(known)

    def selectExpr(self, *texts: Any) -> "RecordedRows":  # noqa: N802
        given = [one for text in texts for one in (text if isinstance(text, list | tuple) else (text,))]
        known = Known(())
        for text in given:
            self.reader.text("transform()", text, self.known, besides=(*self._called, *known.names))
            found = read_text(text)
            known = self._selected(known, found.output if found else "", star=found is not None and found.star)
        return self._made(known)

    def _selected(self, known: Known, name: str, *, star: bool) -> Known:
        if star:
            return Known((*known.names, *self.known.names), known.further or self.known.further)
        return (
            Known((*known.names, name), known.further)
            if name
            else Known(known.names, known.further or "a select() names no alias for it")
        )

    def filter(self, condition: Any) -> "RecordedRows":
        self.reader.mentioned("transform()", condition, self._below, besides=self._called)
        return self

    where = filter  # noqa: A003

    def alias(self, name: str) -> "RecordedRows":
        return RecordedRows(self.known, self.reader, (*self._called, name))

    def transform(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return function(self, *given, **named)

    def toDF(self, *names: str) -> "RecordedRows":  # noqa: N802
        return self._made(Known(tuple(names)))

    def mapInPandas(self, function: Any, schema: Any, *_: Any, **__: Any) -> "RecordedRows":  # noqa: N802
        from streamproof.config.columns import UnreadableSchema, columns_of

        try:
            names = columns_of(schema) if isinstance(schema, str) else schema.names
        except UnreadableSchema:
            return self._made(Known((), "the schema of mapInPandas() or mapInArrow() cannot be read without Spark"))
        return RecordedRows(Known(tuple(names)), self.reader, self._called)

    mapInArrow = mapInPandas  # noqa: N815

    def __getitem__(self, item: Any) -> Any:
        from pyspark.sql import functions as F

        if isinstance(item, str):
            self._look(item)
            return F.col(item)
        if isinstance(item, list | tuple):
            return self.select(*item)
        if isinstance(item, int):
            return F.col(self.columns[item])
        return self.filter(item)

    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as F

        if name.startswith("_"):
            raise AttributeError(name)
        if name in _KEPT:
            return lambda *_, **__: self
        if name in _TYPES:
            raise NeedsSpark(f"rows.{name}")
        if hasattr(DataFrame, name):
            return lambda *_, **__: self._made(Known((), f"what {name}() gives is not known without Spark"))
        self._look(name)
        return F.col(name)


def _named(name: str) -> Any:
    """A column of that name."""
    from pyspark.sql import functions as F

    return F.col(name)


def _last_part(name: str) -> str:
    from streamproof.runtime.checks.sql_names import parts_of

    parts = parts_of(name)
    return parts[-1] if parts and (len(parts) == 1 or parts[-1] != "*") else ""
