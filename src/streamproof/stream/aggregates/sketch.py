"""Sketches: percentiles, distinct counts and most frequent values in little memory, each with an error that is stated and proved.

A sketch keeps a summary of the values of a window, not the values. How far its answer may lie from the exact one is part of what it is asked
for; a proof holds every row to that, against the exact answer over the same events.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates.declared import Declared, Expression

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

Kind = Literal["percentile", "distinct", "top_k"]
_SIGMAS = 4
"""So many standard errors of a distinct count are its stated error: one count in 16,000 lies beyond them."""
_FIRST_WITH_TOP_K = (4, 1)
_LOAD = 0.75
"""How full the table of a frequency sketch gets."""


@dataclass(frozen=True)
class Sketch(Declared):
    """A declared sketch; made by `percentiles`, `distinct` and `top_k`.

    Parameters
    ----------
    kind
        What is asked for.
    of
        The SQL expression of the values.
    error
        The stated error.
    share
        Which share of the values lies at or below the percentile that is asked for.
    shares
        Those of all percentiles that are taken from one sketch.
    k
        How many of the most frequent values are asked for.
    """

    kind: Kind
    of: str
    error: float
    share: float = 0.0
    shares: tuple[float, ...] = ()
    k: int = 0

    def __str__(self) -> str:
        asked = {"percentile": f" {self.share} of {list(self.shares)}", "distinct": "", "top_k": f" {self.k}"}[self.kind]
        return f"sketch {self.kind}{asked} of {self.of} error {self.error}"

    def expressions(self) -> Sequence[Expression]:
        return (Expression(self.kind, self.of),)

    def column(self, name: str, rows: "DataFrame") -> "Column":
        from pyspark.sql import functions as F

        self._require_values(name, rows)
        values = F.expr(self.of)
        if self.kind == "percentile":
            # Spark computes one aggregate for all percentiles that are written alike.
            together = F.percentile_approx(values, list(self.shares), math.ceil(1 / self.error))
            return F.element_at(together, self.shares.index(self.share) + 1)
        if self.kind == "distinct":
            return F.approx_count_distinct(values, self.error / _SIGMAS)
        return F.expr(f"approx_top_k({self.of}, {self.k}, {self._tracked})")  # PySpark has no function for it

    @property
    def _tracked(self) -> int:
        """How many values are tracked: a table of M places is 3.5/M of all values off, and leaves out what is not twice that."""
        places = 2 ** math.ceil(math.log2(7 / self.error))
        while places * _LOAD < self.k:
            places *= 2
        return int(places * _LOAD)

    def _require_values(self, name: str, rows: "DataFrame") -> None:
        from pyspark.sql import functions as F

        from streamproof.stream.problems import checked

        where = f'aggregate({name}=...): "{self.of}"'
        found = checked(rows, where, lambda rows: rows.select(F.expr(self.of).alias("values")))
        type_ = found.schema[0].dataType
        if not _takes(self.kind, type_):
            wanted = "numbers" if self.kind == "percentile" else "texts, numbers or truth values"
            raise JobDefinitionError(
                f"{where} is {type_.simpleString()}.", required=f"sp.sketch.{_maker(self.kind)} is over {wanted}."
            )


def percentiles(of: str, *, error: float = 0.01, **shares: float) -> dict[str, Sketch]:
    """Percentiles of numbers, all from one sketch: `aggregate(**sp.sketch.percentiles("latency_ms", p50=0.5, p99=0.99), n=...)`.

    A percentile is a value that came: the one of rank share x count, or of a rank that is at most error x count + 1 away from it (Greenwald
    and Khanna, 2001, by Spark's `percentile_approx`, which is half a rank behind the paper). The sketch holds some 1/error values, and grows
    with the logarithm of their number. Nulls do not count; without a value the percentile is null.

    Parameters
    ----------
    of
        The column, or a SQL expression of the row's columns; a number.
    error
        How far the rank may be off, as a share of the count: 0.01 makes of the 99th percentile one between the 98th and the 100th.
    shares
        By the name of the column which share of the values lies at or below it, above 0 and below 1.

    Raises
    ------
    JobDefinitionError
        If a share or the error makes no sense.
    """
    _require_of("percentiles", of)
    _require_error("percentiles", error, 0.000_1, 0.5)
    if not shares:
        raise JobDefinitionError(
            "sketch.percentiles() needs a percentile.", remedy='For example: sp.sketch.percentiles("latency_ms", p95=0.95).'
        )
    for name, share in shares.items():
        if not _is_number(share) or not 0 < share < 1:
            raise JobDefinitionError(
                f"sketch.percentiles({name}={share!r}) is no share.",
                required="A number above 0 and below 1: 0.95 is the 95th percentile. F.min and F.max give the ends exactly.",
            )
    together = tuple(sorted({float(share) for share in shares.values()}))
    return {name: Sketch("percentile", of, float(error), float(share), together) for name, share in shares.items()}


def distinct(of: str, *, error: float = 0.1) -> Sketch:
    """How many different values came, by HyperLogLog++ (Heule, Nunkesser and Hall, 2013; Spark's `approx_count_distinct`).

    The count is off by at most error x count, never less than one; that is four standard errors, which one count in 16,000 exceeds. Memory
    does not grow: with an error of 0.1 a window and key takes 1.6 kB, with half the error four times as much. Nulls do not count.

    Parameters
    ----------
    of
        The column, or a SQL expression of the row's columns.
    error
        How far the count may be off, as a share of it, from 0.01 to 0.5.

    Raises
    ------
    JobDefinitionError
        If the error makes no sense.
    """
    _require_of("distinct", of)
    _require_error("distinct", error, 0.01, 0.5)
    return Sketch("distinct", of, float(error))


def top_k(of: str, k: int, *, error: float = 0.01) -> Sketch:
    """The k most frequent values with their counts, most frequent first: an array of `item` and `count` (Spark's `approx_top_k`).

    Each count is off by at most error x all values, and a value that is left out came at most so much more often than the last one that is
    given; where fewer than k are given, it came at most so often. Memory does not grow: the sketch tracks some 5/error values. Null is a
    value like others.

    Parameters
    ----------
    of
        The column, or a SQL expression of the row's columns; texts, numbers or truth values.
    k
        How many, from 1 to 1,000.
    error
        How far a count may be off, as a share of the number of all values, from 0.0001 to 0.5.

    Raises
    ------
    JobDefinitionError
        If k or the error makes no sense, or if the installed Spark has none: it does since 4.1.
    """
    _require_of("top_k", of)
    _require_spark_with_top_k()
    _require_error("top_k", error, 0.000_1, 0.5)
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= 1_000:
        raise JobDefinitionError(f"sketch.top_k({k!r}) asks for no number of values.", required="A whole number from 1 to 1,000.")
    return Sketch("top_k", of, float(error), k=k)


def _require_spark_with_top_k() -> None:
    from streamproof._jvm import installed_spark, numbers

    version = installed_spark()
    if numbers(version) < _FIRST_WITH_TOP_K:
        raise JobDefinitionError(
            f"sketch.top_k() on Spark {version}.",
            required="Spark has a sketch of the most frequent values since 4.1.",
            remedy='Run the job on 4.1 or later; or make the value part of the key, by=("service", "path"), and count: F.count("*").',
        )


def _require_of(maker: str, of: Any) -> None:
    if not isinstance(of, str) or not of.strip():
        raise JobDefinitionError(
            f"sketch.{maker}() got {'an empty text' if isinstance(of, str) else f'a {type(of).__name__}'}.",
            required='It takes the name of a column, or a SQL expression such as "ends - starts".',
        )


def _require_error(maker: str, error: Any, least: float, most: float) -> None:
    if not _is_number(error) or not least <= error <= most:
        raise JobDefinitionError(
            f"sketch.{maker}(error={error!r}) is no error that it can have.",
            required=f"A share, from {least:g} to {most:g}: 0.05 is five of a hundred. A smaller one takes more memory.",
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _maker(kind: Kind) -> str:
    return "percentiles()" if kind == "percentile" else f"{kind}()"


def _takes(kind: Kind, type_: "DataType") -> bool:
    from pyspark.sql.types import BooleanType, NumericType, StringType

    if kind == "distinct":
        return True
    return isinstance(type_, NumericType) or (kind == "top_k" and isinstance(type_, StringType | BooleanType))
