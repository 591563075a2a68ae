"""SQL texts of a job that Spark compiles into state: what is said where one cannot be analysed, is not fit, or has another type."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_WHY = {
    "aggregate": "it has an aggregate in it: each expression sees one row and the state",
    "python": "it calls a Python function: Spark runs no Python while it keeps state",
    "not deterministic": "it is not deterministic: a batch that runs again would give something else",
}


def why_unfit(analysed_rows: "DataFrame") -> str:
    """Why an expression cannot be part of state; empty where it can."""
    from streamproof._jvm import unfit_for_a_buffer

    why = unfit_for_a_buffer(analysed_rows)[0]
    return _WHY.get(why, why)


def analysed(rows: "DataFrame", one: "Column", where: str, columns: Iterable[str], required: str) -> "DataFrame":
    """An expression over rows; JobDefinitionError where Spark cannot analyse it. Without columns it must be a constant."""
    from pyspark.errors import AnalysisException

    from streamproof.stream.problems import column_error, unknown_column

    try:
        return rows.select(one.alias("result"))
    except AnalysisException as problem:
        parameters = problem.getMessageParameters() or {}
        known = list(columns)
        if "UNRESOLVED_COLUMN" in str(problem.getCondition()) and "objectName" in parameters:
            if not known:
                raise JobDefinitionError(
                    f"{where} names {parameters['objectName'].replace('`', '')}, which is not there.",
                    required="zero is a constant." if "zero" in where else "What a field starts as is a constant.",
                ) from problem
            raise column_error(where, parameters["objectName"].replace("`", ""), known) from problem
        said = unknown_column(where, problem, known)
        raise JobDefinitionError(said.message, required=required) from problem


def require_fits(where: str, found: "DataType", wanted: "DataType", types: str) -> None:
    """JobDefinitionError unless every value of a type is one of another; `types` says what the type of a field is."""
    if not _fits(found, wanted):
        raise JobDefinitionError(
            f"{where} is {found.simpleString()}, and the field is {wanted.simpleString()}.",
            required=types,
            remedy=f"Write what it starts as in the type that you mean, or CAST(... AS {wanted.simpleString()}).",
        )


def _fits(found: "DataType", wanted: "DataType") -> bool:
    from pyspark.sql.types import DecimalType

    one, other = found.simpleString(), wanted.simpleString()
    if one in _INTEGERS and other in _INTEGERS:
        return _INTEGERS.index(one) <= _INTEGERS.index(other)
    if isinstance(found, DecimalType) and isinstance(wanted, DecimalType):
        return found.scale <= wanted.scale and found.precision - found.scale <= wanted.precision - wanted.scale
    return one in (other, "void") or (one, other) == ("float", "double") or (other == "double" and one in _INTEGERS[:3])
