"""The aggregates that were asked for, in the oracle's batch query: Spark's own as they are, accumulators added row by row, sketches exactly.

Of what the product makes of declared aggregates nothing is taken but the sketch's own value: a transform after `aggregate` may use it. Where
such a transform has put another value in a sketch's column, that is compared with nothing.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from streamproof.prove.oracle.arrived import plain
from streamproof.prove.oracle.folds import Fold
from streamproof.prove.oracle.sketches import Exact, exact_of
from streamproof.prove.scenario.generate import TRACE
from streamproof.stream.aggregates import Accumulator, Sketch
from streamproof.stream.aggregates.declared import columns_of
from streamproof.stream.names import quoted

ROWS = "_rows"
BESIDE = "_beside"
"""What is needed to judge sketches, beside the aggregates: their own values, and all the values that they are of."""


class Aggregated:
    """The aggregates of a query, over rows with a trace id.

    Parameters
    ----------
    aggregates
        As the user wrote them.
    rows
        What they are over.
    """

    def __init__(self, aggregates: Mapping[str, Any], rows: DataFrame) -> None:
        self._aggregates, self._rows = aggregates, rows
        self.sketches = {name: one for name, one in aggregates.items() if isinstance(one, Sketch)}
        accumulators = {name: one for name, one in aggregates.items() if isinstance(one, Accumulator)}
        self.folds = {name: fold_of(one, rows) for name, one in accumulators.items()}

    def grouped(self) -> list[Column]:
        """The columns of the aggregation; `shown` makes the aggregates of them."""
        plain_ones = {name: one for name, one in self._aggregates.items() if name not in self.folds}
        made = columns_of(plain_ones, self._rows)
        found = [column.alias(name) for name, column in made.items()]
        if self.folds:
            found.append(F.array_sort(F.collect_list(F.struct(TRACE, *[quoted(name) for name in self._read()]))).alias(ROWS))
        beside = [made[name].alias(f"own_{number}") for number, name in enumerate(self.sketches)]
        values = [
            F.collect_list(F.struct(F.expr(one.of).alias("value"))).alias(f"all_{number}")
            for number, one in enumerate(self.sketches.values())
        ]
        found.append(F.struct(F.lit(0).alias("_"), *beside, *values).alias(BESIDE))
        return found

    def _read(self) -> list[str]:
        """The columns that accumulators read."""
        names = [name for name in self._rows.columns if name != TRACE]
        return list(dict.fromkeys(name for fold in self.folds.values() for name in fold.columns(names)))

    def shown(self) -> list[Column]:
        """The aggregates in their order, of the grouped rows."""
        read = self._read() if self.folds else []
        return [self._shown(name, read).alias(name) for name in self._aggregates]

    def _shown(self, name: str, read: list[str]) -> Column:
        fold = self.folds.get(name)
        return F.col(quoted(name)) if fold is None else F.expr(fold.of_buffer(fold.over(ROWS, read)))

    def judged(self, values: Mapping[str, Any], beside: Any) -> dict[str, Any]:
        """A row with the exact answers in the place of its sketches, where their values are still in their columns."""
        judged = dict(values)
        for number, (name, sketch) in enumerate(self.sketches.items()):
            if name in values and values[name] == plain(beside[f"own_{number}"]):
                judged[name] = exact_of(sketch, [plain(one["value"]) for one in beside[f"all_{number}"]])
        return judged


def fold_of(accumulator: Accumulator, rows: DataFrame) -> Fold:
    """An accumulator as a fold, with the types of its fields."""
    zero = rows.sparkSession.range(1).select(*[F.expr(text).alias(field) for field, text in accumulator.zero.items()])
    return Fold.of(accumulator, {field.name: field.dataType.simpleString() for field in zero.schema.fields})


def stated(results: Iterable[Mapping[Any, Mapping[str, Any]]]) -> frozenset[str]:
    """The columns that are compared by a stated error."""
    return frozenset(name for rows in results for row in rows.values() for name, value in row.items() if isinstance(value, Exact))
