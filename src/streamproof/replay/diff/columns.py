"""Which columns of two sides are compared, and as what: equal types as they are, numbers as the wider type, texts of JSON as what the other side has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    MapType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from streamproof.connectors.json_records import WRITTEN
from streamproof.replay.diff.result import Apart, Column
from streamproof.stream.names import quoted

_DIGITS = 38
_DIGITS_OF_INTEGER = 20
_BEHIND_POINT = 18
_FROM_TEXT = ("json", "csv")


@dataclass(frozen=True)
class Compared:
    """A column of both sides: what is compared, as expressions on each, and whether it is a number, or one with a point that floats."""

    name: str
    a: Expression
    b: Expression
    number: bool = False
    floating: bool = False
    text_side: str = ""
    """The side whose texts are read as what the other side has: "a", "b", or neither."""


@dataclass(frozen=True)
class Plan:
    """The columns that are compared, those that are not, and what is to be said of how."""

    compared: Sequence[Compared]
    apart: Sequence[Column]
    notes: Mapping[str, str]
    """By column."""


def planned(a: DataFrame, b: DataFrame, formats: tuple[str, str], ignored: Sequence[str]) -> Plan:
    """How the columns of two sides are compared; the order is that of A.

    Names are compared as Spark does, whatever their case.
    """
    left, right = _types(a), _types(b)
    left_out = {name.lower() for name in ignored}
    compared: list[Compared] = []
    apart: list[Column] = []
    notes: dict[str, str] = {}
    for key, (name, mine) in left.items():
        if key in left_out:
            continue
        if key not in right:
            apart.append(Column(name, Apart.ONLY_A, (mine.simpleString(), "")))
            continue
        other_name, theirs = right[key]
        found = _compared(name, other_name, mine, theirs, formats)
        if found is None:
            apart.append(Column(name, Apart.OTHER_TYPES, (mine.simpleString(), theirs.simpleString())))
            continue
        compared.append(found)
        if mine != theirs and _format_of_texts(found, formats) != "csv":
            notes[name] = f"{name} is {mine.simpleString()} in A and {theirs.simpleString()} in B; it is compared all the same."
    for key, (name, theirs) in right.items():
        if key not in left and key not in left_out:
            apart.append(Column(name, Apart.ONLY_B, ("", theirs.simpleString())))
    return Plan(compared, apart, notes)


def _format_of_texts(column: Compared, formats: tuple[str, str]) -> str:
    return {"a": formats[0], "b": formats[1]}.get(column.text_side, "")


def _types(rows: DataFrame) -> dict[str, tuple[str, DataType]]:
    return {field.name.lower(): (field.name, field.dataType) for field in rows.schema.fields}


def _compared(name: str, other: str, mine: DataType, theirs: DataType, formats: tuple[str, str]) -> Compared | None:
    a, b = named(name), named(other)
    if isinstance(mine, NumericType) and isinstance(theirs, NumericType):
        wider = _wider(mine, theirs)
        return Compared(name, a.cast(wider), b.cast(wider), number=True, floating=isinstance(wider, DoubleType | FloatType))
    if _nested(mine) and _nested(theirs):
        return Compared(name, _as_text(a, mine), _as_text(b, theirs))
    if _instant(mine) and _instant(theirs) and mine != theirs:
        return Compared(name, a.cast("timestamp"), b.cast("timestamp"))
    if mine == theirs or (isinstance(mine, StringType) and isinstance(theirs, StringType)):
        return Compared(name, a, b)
    for text, type_, side, format_ in ((mine, theirs, "a", formats[0]), (theirs, mine, "b", formats[1])):
        if isinstance(text, StringType) and format_ in _FROM_TEXT and _readable(type_):
            kind = _roomy(type_) if isinstance(type_, DecimalType) else type_
            read = (a.try_cast(kind), b.cast(kind)) if side == "a" else (a.cast(kind), b.try_cast(kind))
            is_float = isinstance(type_, DoubleType | FloatType)
            return Compared(name, *read, number=isinstance(type_, NumericType), floating=is_float, text_side=side)
    return None


def named(name: str) -> Expression:
    """The column of a name, whatever stands in it."""
    return F.col(quoted(name))


def _wider(mine: DataType, theirs: DataType) -> DataType:
    if mine == theirs:
        return mine
    kinds = (mine, theirs)
    if any(isinstance(kind, FloatType) for kind in kinds):
        return FloatType()  # the digits that a float lacks are no difference
    if any(isinstance(kind, DoubleType) for kind in kinds):
        return DoubleType()
    scale = max(kind.scale if isinstance(kind, DecimalType) else 0 for kind in kinds)
    whole = max(kind.precision - kind.scale if isinstance(kind, DecimalType) else _DIGITS_OF_INTEGER for kind in kinds)
    if all(isinstance(kind, IntegralType) for kind in kinds):
        return DecimalType(_DIGITS_OF_INTEGER, 0)
    return DecimalType(whole + scale, scale) if whole + scale <= _DIGITS else DoubleType()


def _roomy(type_: DecimalType) -> DecimalType:
    """A decimal with room for the digits of a text after those of the type: a text that is cast to the type itself is rounded, and seems equal."""
    return DecimalType(_DIGITS, max(type_.scale, min(_BEHIND_POINT, _DIGITS - (type_.precision - type_.scale))))


def _nested(type_: DataType) -> bool:
    return isinstance(type_, StructType | ArrayType | MapType) or type_.typeName() == "variant"


def _instant(type_: DataType) -> bool:
    return isinstance(type_, TimestampType | TimestampNTZType | DateType)


def _readable(type_: DataType) -> bool:
    """Whether a text of JSON or CSV can be read as a value of the type."""
    return isinstance(type_, NumericType | BooleanType) or _instant(type_)


def _as_text(column: Expression, type_: DataType) -> Expression:
    """A nested value as JSON; the entries of a map in the order of their keys."""
    ordered = F.sort_array(F.map_entries(column)) if isinstance(type_, MapType) else column
    return F.when(column.isNotNull(), F.to_json(ordered, dict(WRITTEN)))


def sides_as(plan: Plan, a: DataFrame, b: DataFrame) -> Mapping[str, DataFrame]:
    """Both sides with the compared columns only, of the same names and types."""
    return {
        "a": a.select(*(column.a.alias(column.name) for column in plan.compared)),
        "b": b.select(*(column.b.alias(column.name) for column in plan.compared)),
    }
