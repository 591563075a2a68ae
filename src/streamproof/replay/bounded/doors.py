"""The doors of a batch: what leaves by them is collected, and counted while the rows pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import Column, DataFrame, Observation, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof.connectors.json_records import WRITTEN
from streamproof.core.clock import now_utc, to_micros
from streamproof.core.sides import DUPLICATE, LATE, REJECTED, Side
from streamproof.runtime.batch.staging import merged_schema
from streamproof.runtime.rows.doors import AFTER, duplicate_row, late_row, no_tables, rejected_row
from streamproof.stream.looked_up import Conditions, TableRows
from streamproof.stream.names import NUMBER, ORIGINAL, REASON, quoted

_BEFORE_ALL = -(2**63)
RECORDS_AFTER = "records-after-"
"""With the name of an operator: the records that the rows are of that go on from there."""
ONCE = "once"
"""What a deduplication lets pass."""


@dataclass
class BatchDoors:
    """Takes rejected, filtered and, where they are asked for, duplicate rows out of the plan of one query. Nothing is late: a batch knows all
    events at once.

    Rows are counted in the pass that writes the main output; `counts` has them once that is done. `at_source` is true while sources are read:
    what passes their doors is the input. `tables` gives the tables that rows are looked up in.
    """

    asked_at_us: int = field(default_factory=lambda: to_micros(now_utc()))
    at_source: bool = True
    copies_asked: bool = False
    tables: Callable[[str, Conditions | None], TableRows] = no_tables
    _left: dict[Side, list[DataFrame]] = field(default_factory=dict)
    _observed: list[tuple[str, Observation]] = field(default_factory=list)

    def table(self, name: str, conditions: Conditions | None = None) -> TableRows:
        return self.tables(name, conditions)

    def clock(self) -> Column:
        """The time of this run: a batch has no other clock."""
        return F.lit(self.asked_at_us)

    def batch(self) -> Column:
        return F.lit(0).cast("bigint")

    def bound(self) -> Column:
        """Nothing is late, and no window has been on time before."""
        return F.lit(_BEFORE_ALL)

    def divert(self, rows: DataFrame, side: Side, leaves: Column, payload: Column, reason: Column) -> DataFrame:
        self._leave(side, rows.filter(leaves), payload)
        return self._observing(rows, str(side), F.count_if(leaves)).filter(~leaves)

    def reject(self, rows: DataFrame, reason: Column) -> DataFrame:
        if self.at_source:
            rows = self.counted(rows, "input")
        rows = rows.withColumn(REASON, reason)
        found = F.col(REASON)
        return self.divert(rows, REJECTED, found.isNotNull(), rejected_row(rows, found), found).drop(REASON)

    def drop(self, rows: DataFrame, keep: Column, name: str) -> DataFrame:
        return self._observing(rows, "filtered", F.count_if(~keep)).filter(keep)

    def late(
        self,
        rows: DataFrame,
        decides: Column,
        window_us: int = 0,
        *,
        window: tuple[Column, Column] | None = None,
        side: Side = LATE,
    ) -> DataFrame:
        """All rows pass; the late output has the columns that it has in the stream, and no row."""
        self._leave(side, rows.filter(F.lit(False)), late_row(rows, window))
        return self.counted(rows.drop(ORIGINAL), "reached")

    def expanded(self, rows: DataFrame, further: Column) -> DataFrame:
        return self._observing(rows, "expanded", F.count_if(further))

    def watched(self, rows: DataFrame, key: Sequence[str], operator: str) -> DataFrame:
        """A batch has no partition that is there for long."""
        return rows

    def going_on(self, rows: DataFrame, records: Column, *, after: str) -> DataFrame:
        return self.counted(self.counted(rows, f"{AFTER}{after}"), f"{RECORDS_AFTER}{after}", F.sum(records))

    def once(self, rows: DataFrame, key: list[str]) -> DataFrame:
        """The rows without the copies of a key, counted on both sides."""
        rows = self.counted(rows, "copies")
        if not self.copies_asked:
            return self.counted(rows.dropDuplicates(key), ONCE)
        # Main and side output are computed apart, and must agree which row stays: the first one, as text.
        order = Window.partitionBy(*map(quoted, key)).orderBy(F.to_json(F.struct(*map(quoted, rows.columns))))
        numbered = rows.withColumn(NUMBER, F.row_number().over(order))
        others = numbered.filter(F.col(NUMBER) > 1).drop(NUMBER)
        self._leave(DUPLICATE, others, duplicate_row(others))
        return self.counted(numbered.filter(F.col(NUMBER) == 1).drop(NUMBER), ONCE)

    def counted(self, rows: DataFrame, name: str, counts: Column | None = None) -> DataFrame:
        """The rows as they are; how many pass, or what they sum up to, is counted under the name."""
        return self._observing(rows, name, F.count(F.lit(1)) if counts is None else F.coalesce(counts, F.lit(0)))

    def side(self, side: Side) -> DataFrame | None:
        """The rows that leave by one side output, as the stream has them: where two doors know a column by other types, it is a text."""
        left = self._left.get(side, [])
        if not left:
            return None
        columns = merged_schema([_struct(rows) for rows in left])
        texts = [rows.select(F.to_json("row", WRITTEN).alias("row")) for rows in left]
        return reduce(DataFrame.unionAll, texts).select(F.from_json("row", columns).alias("row")).select("row.*")

    @property
    def counts(self) -> dict[str, int]:
        """What was counted, in sum by name. It waits until the plan has run."""
        found: dict[str, int] = {}
        for name, observed in self._observed:
            found[name] = found.get(name, 0) + int(observed.get[name])
        found["duplicate"] = found.get("copies", 0) - found.get(ONCE, 0)
        return found

    def _leave(self, side: Side, rows: DataFrame, payload: Column) -> None:
        self._left.setdefault(side, []).append(rows.select(payload.alias("row")))

    def _observing(self, rows: DataFrame, name: str, counted: Column) -> DataFrame:
        observed = Observation()
        self._observed.append((name, observed))
        return rows.observe(observed, counted.alias(name))


def _struct(rows: DataFrame) -> StructType:
    shape = rows.schema["row"].dataType
    assert isinstance(shape, StructType), "a payload is a struct of the row's columns"
    return shape
