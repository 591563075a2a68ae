"""What the tables of a scenario hold, one state after another: as the oracle knows their rows, and as columns beside those of events."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from streamproof._jvm import is_gone, is_of_spark
from streamproof.prove.artifacts.reading import QueryHistory, QueryLayout
from streamproof.prove.artifacts.table_versions import Rows, UsedTable, copy_of, in_order, versions_fixed, versions_used
from streamproof.prove.oracle.arrived import BatchRead, Tables, plain
from streamproof.prove.oracle.tables import HoldsRules, LooksUp, PlainTable
from streamproof.prove.scenario.generate import TRACE
from streamproof.prove.sources.tables import HeldTable, batches_behind, state_of
from streamproof.stream.names import FOUND, quoted

if TYPE_CHECKING:
    from streamproof.config import JobConfig


@dataclass(frozen=True)
class TableState:
    """What a table holds at one time.

    Parameters
    ----------
    state
        As the oracle knows it.
    rows
        The same, with its types.
    """

    state: PlainTable
    rows: pa.Table

    @classmethod
    def of(cls, rows: pa.Table, valid_from: str | None, valid_to: str | None) -> "TableState":
        plainly = [{name: plain(value) for name, value in row.items()} for row in rows.to_pylist()]
        return cls(PlainTable(plainly, valid_from, valid_to), rows)

    def beside(self, rows: DataFrame, twin: LooksUp) -> DataFrame:
        """The rows of a stream with the columns that the oracle finds for each, and with `FOUND`, true where it finds some."""
        added = twin.added(self.state, self.rows.column_names)
        if TRACE not in rows.columns:  # a transform has lost what tells events apart: of such a job only the types are asked for
            none = rows.sparkSession.createDataFrame(self.rows.select(added).slice(0, 0))
            lost = {name: F.lit(None).cast(none.schema[name].dataType) for name in added}
            return rows.withColumns({**lost, FOUND: F.lit(True)})
        asked = [*twin.on, *([twin.as_of] if twin.as_of is not None else [])]
        taken = rows.select(TRACE, *[_plainly(rows, name).alias(f"_k{number}") for number, name in enumerate(asked)]).collect()
        finder, traces, numbers = twin.finder(self.state), list[str](), list[int]()
        for trace, *values in taken:
            instant = values.pop() if twin.as_of is not None else None
            number = finder.find([plain(value) for value in values], instant)
            if number is not None:
                traces.append(trace)
                numbers.append(number)
        found = self.rows.select(added).take(pa.array(numbers, pa.int64()))
        marked = found.append_column(TRACE, pa.array(traces, pa.string())).append_column(FOUND, pa.array([True] * len(traces)))
        return rows.join(F.broadcast(rows.sparkSession.createDataFrame(marked)), TRACE, "left")

    def ruled(self, rows: DataFrame, twin: HoldsRules) -> DataFrame:
        """The rows of a stream with the names of the rules that hold for each, and of those that fail on it."""
        none = F.array().cast("array<string>")
        columns = (twin.into, f"{twin.into}_failed")
        if TRACE not in rows.columns:
            return rows.withColumns(dict.fromkeys(columns, none))
        asked = rows.toArrow()
        found: dict[str, tuple[list[str], list[str]]] = {str(trace): ([], []) for trace in asked[TRACE].to_pylist()}
        for name, text in twin.conditions(self.state):
            for trace, is_true in _truth(rows.sparkSession, asked, text):
                if is_true is not False:
                    found[trace][is_true is None].append(name)
        lists = [pa.array([names[place] for names in found.values()], pa.list_(pa.string())) for place in range(2)]
        table = pa.table({TRACE: pa.array(list(found), pa.string()), **dict(zip(columns, lists, strict=True))})
        return rows.join(F.broadcast(rows.sparkSession.createDataFrame(table)), TRACE, "left")


def _truth(spark: SparkSession, rows: pa.Table, condition: str) -> Iterator[tuple[str, bool | None]]:
    """By the trace of each row whether a condition is true of it; None where it fails.

    It is one query over all rows. Where that fails the halves are asked, down to one row: so Spark itself says what fails, also behind OR and COALESCE.
    """
    if not rows.num_rows:
        return
    answers = spark.createDataFrame(rows).select(TRACE, F.expr(f"({condition})").alias("_is_true"))
    try:
        found = answers.collect()
    except Exception as problem:  # what Spark raises over a row has no common type
        if is_gone(problem) or not is_of_spark(problem):
            raise
        if rows.num_rows == 1:
            yield rows[TRACE][0].as_py(), None
            return
        middle = rows.num_rows // 2
        for part in (rows.slice(0, middle), rows.slice(middle)):
            yield from _truth(spark, part, condition)
    else:
        yield from ((row[0], row[1] is True) for row in found)


TableStates = Mapping[str, Sequence[TableState]]
"""By table its states, in the order in which it comes to them."""


def alternatives(states: TableStates, names: Sequence[str]) -> Iterator[tuple[Tables, Mapping[str, TableState]]]:
    """Everything that some tables can hold together; once, and empty, without tables."""
    for numbers in product(*(range(len(states[name])) for name in names)):
        chosen = tuple(zip(names, numbers, strict=True))
        yield chosen, {name: states[name][number] for name, number in chosen}


def states_of(config: "JobConfig", tables: Mapping[str, HeldTable]) -> TableStates:
    """What each table of a job holds, one state after another."""
    found = {}
    for name, held in tables.items():
        asked = config.table[name]
        found[name] = [TableState.of(rows, asked.valid_from, asked.valid_to) for _, rows in held.states]
    return found


def with_tables(
    left: QueryHistory,
    layout: QueryLayout,
    names: Sequence[str],
    states: TableStates,
    tables: Mapping[str, HeldTable],
    again: Collection[str],
) -> tuple[QueryHistory, list[UsedTable]]:
    """What a query has left, each batch with the states of the tables that it has used; and what is known of these.

    Of a batch of which nothing says it, it is what the table held when the batch was planned.

    Parameters
    ----------
    again
        The tables that are read before every batch; the others at the start.
    """
    if not names:
        return left, []
    checkpoint = layout.checkpoint
    fixed = versions_fixed(checkpoint)
    versions, batches, used = versions_used(left.manifests, fixed), list[BatchRead](), list[UsedTable]()
    for read in left.batches:
        chosen = []
        for name in names:
            version = versions.get(read.batch, {}).get(name, "")
            held = tables[name].states
            earliest, latest = (state_of(held, read.batch) if name in again else 0), state_of(held, read.batch + 1)
            number = _number(copy_of(checkpoint, name, version), states[name], range(earliest, latest + 1))
            chosen.append((name, latest if number is None else number))
            if read.effective:
                pinned = fixed.get(read.batch, {}).get(name, "")
                behind = 0 if number is None else batches_behind(held, number, read.batch)
                used.append(UsedTable(read.batch, name, version, pinned, number, earliest, latest, behind))
        batches.append(replace(read, tables=tuple(chosen)))
    return replace(left, batches=tuple(batches)), used


def _number(copy: Rows | None, states: Sequence[TableState], likely: range) -> int | None:
    """Which state the copy of a version holds: of several that are alike the likely one."""
    alike = [
        number
        for number, state in enumerate(states)
        if copy is not None and in_order([dict(row) for row in state.state.rows]) == copy
    ]
    return next((number for number in alike if number in likely), alike[0] if alike else None)


def _plainly(rows: DataFrame, name: str) -> Any:
    """A column; an instant as microseconds UTC, since PySpark would give it in the time zone of this process."""
    column = F.col(quoted(name))
    return F.unix_micros(column) if isinstance(rows.schema[name].dataType, TimestampType) else column
