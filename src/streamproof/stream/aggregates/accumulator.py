"""Accumulators: a buffer of named fields, and SQL expressions that say what it starts as, takes in, merges and ends as."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates.declared import Declared, Expression
from streamproof.stream.names import quoted, visible
from streamproof.stream.sql_texts import analysed, require_fits, why_unfit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_TYPES = "A field has the type of its zero: 0L is bigint, 0D is double, 0.0 is decimal(1,1)."


@dataclass(frozen=True)
class Accumulator(Declared):
    """A declared accumulator; made by `accumulator`."""

    zero: Mapping[str, str]
    add: Mapping[str, str]
    merge: Mapping[str, str]
    result: str

    def __str__(self) -> str:
        parts = [f"{part}({_listed(getattr(self, part))})" for part in ("zero", "add", "merge")]
        return f"accumulator {' '.join(parts)} result({self.result})"

    def expressions(self) -> Sequence[Expression]:
        fields = tuple(self.zero)
        return (
            *(Expression("zero", text, of_rows=False) for text in self.zero.values()),
            *(Expression("add", text, own=fields) for text in self.add.values()),
            *(Expression("merge", text, of_rows=False, own=("left", "right")) for text in self.merge.values()),
            Expression("result", self.result, of_rows=False, own=fields),
        )

    def column(self, name: str, rows: "DataFrame") -> "Column":
        from streamproof._jvm import accumulator_column

        return accumulator_column(*_Projections(self, name, rows).all())


def accumulator(*, zero: Mapping[str, str], add: Mapping[str, str], merge: Mapping[str, str], result: str) -> Accumulator:
    """An aggregate of your own, as SQL expressions over the fields of a small buffer; for `window(...).aggregate(name=...)`.

    Spark keeps the fields of the buffer as columns of its state and compiles the expressions into the loop of the aggregation: no event is
    kept. Which rows are added to which buffer, and which buffers are merged in which order, is not fixed: `merge` has to be associative
    and commutative, `zero` may change nothing, and adding rows to two buffers and merging these must give what adding them to one gives.
    A proof holds the accumulator to that, and compares it with the rows added one by one.

    Parameters
    ----------
    zero
        By field what the buffer starts as, a constant: `{"total": "0D", "n": "0L"}`. Its type is that of the field.
    add
        By field what it becomes when a row is added, over the fields and the row's columns: `{"total": "total + amount", "n": "n + 1"}`.
        All fields are taken as they were before the row.
    merge
        By field what two buffers become, `left` and `right`: `{"total": "left.total + right.total", "n": "left.n + right.n"}`.
    result
        The value of the aggregate, over the fields: `"total / n"`.

    Raises
    ------
    JobDefinitionError
        If a part is missing or is no text. What does not fit the rows (an unknown column, another type) is said when the plan is built.
        Python functions are refused: Spark runs none while it aggregates a stream.
    """
    parts = {"zero": zero, "add": add, "merge": merge}
    for part, given in parts.items():
        _require_texts(part, given)
    for part in ("add", "merge"):
        _require_same_fields(part, parts[part], zero)
    _require_text("result", result)

    def in_order(given: Mapping[str, str]) -> Mapping[str, str]:
        """Java puts fields in their places by number."""
        return {field: given[field] for field in zero}

    return Accumulator(in_order(zero), in_order(add), in_order(merge), result)


class _Projections:
    """Its expressions as projections that Spark has analysed: a column for each field, over relations without a row."""

    def __init__(self, declared: Accumulator, name: str, rows: "DataFrame") -> None:
        self._declared, self._name, self._rows = declared, name, rows
        self._spark = rows.sparkSession

    def all(self) -> Iterator["DataFrame"]:
        from streamproof._jvm import empty_rows

        self._require_free()
        declared = self._declared
        zero = self._projected(self._spark.range(1).select(), "zero", declared.zero, ())
        # Whatever a field starts as, it can become null, and so can what is in it.
        buffer = zero.schema.toNullable()
        types = {field.name: field.dataType for field in buffer.fields}
        as_it_is = all(types[field.name] == field.dataType for field in zero.schema.fields)
        yield zero if as_it_is else self._projected(self._spark.range(1).select(), "zero", declared.zero, (), types)
        fields, columns = list(declared.zero), visible(self._rows.columns)
        row = empty_rows(self._spark, type(buffer)([*buffer.fields, *self._rows.schema.fields]))
        yield self._projected(row, "add", declared.add, (*fields, *columns), types)
        no_buffer = empty_rows(self._spark, buffer)
        both = no_buffer.alias("left").crossJoin(no_buffer.alias("right"))
        sides = [f"{side}.{field}" for side in ("left", "right") for field in fields]
        yield self._projected(both, "merge", declared.merge, sides, types)
        yield self._projected(no_buffer, "result", {"": declared.result}, fields)

    def _require_free(self) -> None:
        columns = {column.lower() for column in visible(self._rows.columns)}
        taken = next((field for field in self._declared.zero if field.lower() in columns), None)
        if taken is not None:
            raise JobDefinitionError(
                f"aggregate({self._name}=...): the buffer has a field {taken}, and so have the rows.",
                required="add names both fields of the buffer and columns of the row.",
                remedy="Give the field another name.",
            )

    def _projected(
        self,
        rows: "DataFrame",
        part: str,
        texts: Mapping[str, str],
        columns: Sequence[str],
        types: "Mapping[str, DataType] | None" = None,
    ) -> "DataFrame":
        """The expressions of a part over rows, of the types of the fields."""
        from pyspark.sql import functions as F

        # The comment is in what Spark says of an expression that fails while it runs.
        made = {
            field: F.expr(f"{text} /* {self._name}: {part}{' of ' + field if field else ''} */") for field, text in texts.items()
        }
        # Where there are no columns, a projection takes the name of an expression before for one.
        found = (_as_they_are(rows, made) if columns else None) or self._one_by_one(rows, part, texts, made, columns)
        if types is None or all(type_ == types[field] for field, type_ in zip(made, _types_of(found), strict=True)):
            return found
        for field, type_ in zip(made, _types_of(found), strict=True):
            require_fits(self._where(part, field, texts[field]), type_, types[field], _TYPES)
        return rows.select(*[one.cast(types[field]).alias(field) for field, one in made.items()])

    def _one_by_one(
        self, rows: "DataFrame", part: str, texts: Mapping[str, str], made: "Mapping[str, Column]", columns: Sequence[str]
    ) -> "DataFrame":
        """The same, once each has been looked at by itself: a JobDefinitionError names the one that does not fit."""
        for field, text in texts.items():
            where = self._where(part, field, text)
            why = why_unfit(analysed(rows, made[field], where, columns, _required("any")))
            if why:
                raise JobDefinitionError(f"{where} cannot be used: {why}.", required=_required(part))
        return rows.select(*_named(made))

    def _where(self, part: str, field: str, text: str) -> str:
        return f'aggregate({self._name}=...): {part}{" of " + field if field else ""}, "{text}",'


def _as_they_are(rows: "DataFrame", made: "Mapping[str, Column]") -> "DataFrame | None":
    """Expressions as a projection; None where one of them does not fit."""
    from pyspark.errors import AnalysisException

    from streamproof._jvm import unfit_for_a_buffer

    try:
        found = rows.select(*_named(made))
    except AnalysisException:
        return None
    return None if any(unfit_for_a_buffer(found)) else found


def _named(made: "Mapping[str, Column]") -> "list[Column]":
    return [one.alias(field or "result") for field, one in made.items()]


def _types_of(rows: "DataFrame") -> "list[DataType]":
    return [field.dataType for field in rows.schema.fields]


def _required(part: str) -> str:
    if part == "zero":
        return "zero is a constant for each field."
    return (
        "add is over the fields of the buffer and the row's columns, merge over left.FIELD and right.FIELD, result over the fields."
    )


def _require_texts(part: str, given: Any) -> None:
    if not isinstance(given, Mapping) or not given:
        raise JobDefinitionError(
            f"accumulator({part}=...) is {'empty' if isinstance(given, Mapping) else f'a {type(given).__name__}'}.",
            required='It says a SQL expression for each field of the buffer, such as {"total": "total + amount"}.',
        )
    for field, text in given.items():
        if not isinstance(field, str) or not field.isidentifier():
            raise JobDefinitionError(
                f"accumulator({part}=...): {field!r} is no name of a field.", required="Letters, digits, underscores."
            )
        _require_text(f"{part} of {field}", text)


def _require_text(where: str, text: Any) -> None:
    if isinstance(text, str) and text.strip():
        return
    if callable(text):
        raise JobDefinitionError(
            f"accumulator(): {where} is a Python function.",
            required="Spark runs no Python while it aggregates a stream: each batch would have to hand its state to Python and back.",
            remedy="Write it as a SQL expression. What only Python can say goes into transform(): before the window, as a column that the "
            "accumulator adds, or behind aggregate(), from what the accumulator gives.",
        )
    raise JobDefinitionError(
        f"accumulator(): {where} is {'empty' if isinstance(text, str) else f'a {type(text).__name__}'}.",
        required='It is a SQL expression, such as "total + amount".',
    )


def _require_same_fields(part: str, given: Mapping[str, str], zero: Mapping[str, str]) -> None:
    for one, other, lacks in ((zero, given, part), (given, zero, "zero")):
        missing = next((field for field in one if field not in other), None)
        if missing is not None:
            raise JobDefinitionError(
                f"accumulator(): {lacks} does not say what becomes of the field {missing}.",
                required=f"zero, add and merge have the same fields: {', '.join(dict.fromkeys([*zero, *given]))}.",
            )


def _listed(given: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(field)}: {text}" for field, text in given.items())
