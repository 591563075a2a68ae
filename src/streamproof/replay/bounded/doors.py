"""The doors of a batch: what leaves by them is collected, and counted while the rows pass."""

from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from streamproof.core.clock import now_utc, to_micros
from streamproof.runtime.doors import late_row, rejected_row
from streamproof.stream.names import ORIGINAL, REASON
from streamproof.stream.outputs import SideKind

ONCE = "once"
"""What a deduplication lets pass."""


@dataclass
class BatchDoors:
    """Takes rejected and filtered rows out of the plan of one query. Nothing is late: a batch knows all events at once.

    Rows are counted in the pass that writes the main output; `counts` has them once that is done. `at_source` is true while sources are read:
    what passes their doors is the input.
    """

    asked_at_us: int = field(default_factory=lambda: to_micros(now_utc()))
    sides: dict[SideKind, list[DataFrame]] = field(default_factory=dict)
    at_source: bool = True
    _observed: list[tuple[str, Observation]] = field(default_factory=list)

    def clock(self) -> Column:
        """The time of this run: a batch has no other clock."""
        return F.lit(self.asked_at_us)

    def reject(self, rows: DataFrame, reason: Column) -> DataFrame:
        if self.at_source:
            rows = self.counted(rows, "input")
        rows = rows.withColumn(REASON, reason)
        refused = rows.filter(F.col(REASON).isNotNull()).select(rejected_row(rows, F.col(REASON)).alias("row")).select("row.*")
        self.sides.setdefault(SideKind.REJECTED, []).append(refused)
        seen = self._observing(rows, rejected=F.count_if(F.col(REASON).isNotNull()))
        return seen.filter(F.col(REASON).isNull()).drop(REASON)

    def drop(self, rows: DataFrame, keep: Column, name: str) -> DataFrame:
        return self._observing(rows, filtered=F.count_if(~keep)).filter(keep)

    def late(
        self, rows: DataFrame, decides: Column, window_us: int = 0, *, window: tuple[Column, Column] | None = None
    ) -> DataFrame:
        """All rows pass; the late output has the columns that it has in the stream, and no row."""
        nobody = rows.filter(F.lit(False)).select(late_row(rows, window).alias("row")).select("row.*")
        self.sides.setdefault(SideKind.LATE, []).append(nobody)
        return self.counted(rows.drop(ORIGINAL), "reached")

    def expanded(self, rows: DataFrame, further: Column) -> DataFrame:
        return self._observing(rows, expanded=F.count_if(further))

    def once(self, rows: DataFrame, key: list[str]) -> DataFrame:
        """The rows without the copies of a key, counted on both sides."""
        return self.counted(self.counted(rows, "copies").dropDuplicates(key), ONCE)

    def counted(self, rows: DataFrame, name: str, counts: Column | None = None) -> DataFrame:
        """The rows as they are; how many pass, or what they sum up to, is counted under the name."""
        return self._observing(rows, **{name: F.count(F.lit(1)) if counts is None else F.coalesce(counts, F.lit(0))})

    @property
    def counts(self) -> dict[str, int]:
        """What was counted, in sum by name. It waits until the plan has run."""
        found: dict[str, int] = {}
        for name, observed in self._observed:
            found[name] = found.get(name, 0) + int(observed.get[name])
        found["duplicate"] = found.get("copies", 0) - found.get(ONCE, 0)
        return found

    def _observing(self, rows: DataFrame, **counts: Column) -> DataFrame:
        ((name, counted),) = counts.items()
        observed = Observation()
        self._observed.append((name, observed))
        return rows.observe(observed, counted.alias(name))
