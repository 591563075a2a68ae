"""Declared state of a key, which Java runs (`Keyed`)."""

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from streamproof._jvm.java import java_class

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_MICROSECOND = timedelta(microseconds=1)


class Declared(Protocol):
    """What a job declares, as `stream/keyed` has it."""

    @property
    def key(self) -> "tuple[str, ...]": ...
    @property
    def tags(self) -> "tuple[str, ...]": ...
    @property
    def on_timer(self) -> "Mapping[str, object]": ...
    @property
    def ttl(self) -> "timedelta | None": ...


class Step(Protocol):
    """A step as analysed projections."""

    @property
    def fields(self) -> "DataFrame": ...
    @property
    def emissions(self) -> "DataFrame": ...
    @property
    def outputs(self) -> "tuple[int, ...]": ...


class Compiled(Protocol):
    """The same with its expressions as analysed projections over rows of certain columns."""

    @property
    def rules(self) -> Declared: ...
    @property
    def rows(self) -> "DataFrame": ...
    @property
    def starts(self) -> "DataFrame": ...
    @property
    def key(self) -> "DataFrame": ...
    @property
    def bounds(self) -> "tuple[DataFrame, DataFrame] | None": ...
    @property
    def steps(self) -> "Sequence[Step]": ...


def keyed_rows(
    rows: "DataFrame", compiled: Compiled, event_time: str, begins: "DataFrame | None", *, forgets: bool, traced: bool
) -> "DataFrame":
    """What rows give with the state of their keys: `_place`, `_row`, `_records` and `_trace` (see `Keyed` in Java).

    Parameters
    ----------
    begins
        The state of keys before the first batch: the columns of the key, `_latest` and `_fields`. None where no key has any.
    forgets
        False in a batch, which has no watermark.
    traced
        Whether rows have a trace.
    """
    from pyspark.sql import DataFrame

    spark, rules = rows.sparkSession, compiled.rules
    keyed, bounds = java_class(spark, "Keyed"), compiled.bounds
    bounded, lost = (None, None) if bounds is None else (bounds[0]._jdf, bounds[1]._jdf)
    ttl_us = -1 if rules.ttl is None else rules.ttl // _MICROSECOND
    made = java_class(spark, "KeyedRules")(
        compiled.starts._jdf, compiled.key._jdf, bounded, lost, list(rules.on_timer), 1 + len(rules.tags), ttl_us, forgets, traced
    )
    for step in compiled.steps:
        made.add(step.fields._jdf, step.emissions._jdf, list(step.outputs))
    begun = None if begins is None else begins._jdf
    return DataFrame(keyed.of(rows._jdf, list(rules.key), compiled.rows.columns, event_time, made, begun), spark)


def unpacked(spark: "SparkSession", number: "Column", packed: "Column", columns: "StructType", wanted: int) -> "Column":
    """The struct of the bytes of a row of an output (`wanted`); null where the row is of another."""
    from pyspark.sql import Column

    return Column(java_class(spark, "Packed").struct(number._jc, packed._jc, columns.json(), wanted))
