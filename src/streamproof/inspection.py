"""`sp.inspect`: what is in a checkpoint, in Python; its state as tables, which Spark reads when they are asked for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.checkpoint.inspection import FORMAT, Inspection, inspect_checkpoint
from streamproof.checkpoint.stores import Operator
from streamproof.checkpoint.verify.sound import Verified, verify
from streamproof.errors import ConfigurationError, StreamproofError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    from streamproof.checkpoint.tables import Read

_FIRST_TASKS, _ALL_AT_ONCE = "spark.sql.limit.initialNumPartitions", 10_000
"""For a few rows Spark reads one partition, then four, and so on. Where a condition chooses them they may be in any."""


@dataclass(frozen=True)
class StateTable:
    """The state of one operator as a table. Nothing is read before it is asked for.

    Its columns depend on the operator. The last one is `partition` (int); times are timestamps in UTC.

    - an aggregate: the key (a window as `window_start` and `window_end`), and the buffers of its aggregates; of a job of ours `records` and
      the aggregates by their names
    - session windows: the key, `session_start`, `session_end`, and the same
    - a deduplication: the key, and `expires_at` where it has an end
    - a join: `side` ("left" or "right"), `matched` (boolean; null where Spark does not keep it, or its reader does not show it), and the columns of both sides
    - state of a key: the key, the fields, and `expires_at`; of `keyed()` also `latest_at`
    - `transformWithState`: `variable`, `key` and `value` as JSON; with `variable=` the columns of that one
    - any other operator: the columns of its key and value as Spark has written their schema
    """

    found: Inspection
    of: Operator
    batch: int | None = None
    variable: str | None = None
    condition: str | None = None

    def where(self, condition: str) -> "StateTable":
        """The rows for which a condition in SQL over the columns holds.

        Raises
        ------
        ConfigurationError
            When the table is read, if the condition names no column, or is no SQL.
        """
        both = condition if self.condition is None else f"({self.condition}) AND ({condition})"
        return replace(self, condition=both)

    @property
    def columns(self) -> dict[str, str]:
        """The columns with Spark's names of their types."""
        with self.frame() as rows:
            return dict(rows.dtypes)

    def count(self) -> int:
        """How many rows there are."""
        with self.frame() as rows:
            return rows.count()

    def by_partition(self) -> dict[int, int]:
        """How many rows each partition has; those without a row are left out."""
        with self.frame() as rows:
            return {row[0]: row[1] for row in rows.groupBy("partition").count().orderBy("partition").collect()}

    def to_pandas(self, limit: int | None = None) -> "pd.DataFrame":
        """The rows as a pandas DataFrame, `limit` of them at most; timestamps are UTC, without a zone."""
        with self.frame() as rows:
            return (rows if limit is None else rows.limit(limit)).toPandas()

    def rows(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows as JSON has them, `limit` of them at most: times are ISO 8601 in UTC, bytes base64; decimals are `decimal.Decimal`."""
        return self.columns_and_rows(limit)[1]

    def columns_and_rows(self, limit: int | None = None) -> tuple[dict[str, str], list[dict[str, Any]]]:
        """What `columns` and `rows` give, read at once."""
        from streamproof.runtime.spark.json_rows import as_json, reader_of

        with self.frame() as rows:
            some = rows if limit is None else rows.limit(limit)
            texts = as_json(some).collect()
            columns, read = dict(rows.dtypes), reader_of(rows)
        return columns, [read(text[0]) for text in texts]

    @contextmanager
    def one_by_one(self, limit: int | None = None) -> Iterator[tuple[dict[str, str], Iterator[dict[str, Any]]]]:
        """What `columns` and `rows` give, read row by row as long as the block lasts: of a large state a part is in memory at a time."""
        from streamproof.runtime.spark.json_rows import as_json, reader_of

        with self.frame() as rows:
            some = rows if limit is None else rows.limit(limit)
            read = reader_of(rows)
            yield dict(rows.dtypes), (read(text[0]) for text in as_json(some).toLocalIterator(prefetchPartitions=True))

    def write_parquet(self, path: str | Path, limit: int | None = None) -> int:
        """Writes the rows to one file of Parquet, and says how many they are."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with self.frame() as rows:
            some = rows if limit is None else rows.limit(limit)
            table = some.toArrow() if hasattr(some, "toArrow") else pa.Table.from_pandas(some.toPandas())
        pq.write_table(table, path)
        return int(table.num_rows)

    @contextmanager
    def frame(self) -> "Iterator[DataFrame]":
        """The table on Spark, as long as the block lasts. It takes the session that is there, or starts one.

        Raises
        ------
        TornCheckpoint
            If Spark cannot read the state, or a part of it is gone.
        EnvironmentProblem
            If the installed Spark has no reader of state, or is older than the one that wrote it.
        ConfigurationError
            If the condition cannot be used.
        DiskFull
            If there is no room to unpack the state.
        """
        from streamproof import _jvm
        from streamproof.checkpoint.tables import Read, readable
        from streamproof.checkpoint.view import scratch
        from streamproof.runtime.spark.state_reader import require_no_newer_spark, stores_that_read, why_unreadable

        found = self.found
        self.require_readable()
        own = found.own
        made_by = own.newest.made_by if own is not None and own.newest is not None else {}
        batch = self.batch if self.batch is not None else found.logs.newest_committed
        with scratch() as folder, readable(found, batch, stores_that_read(found)) as path:
            spark = _session(found)
            require_no_newer_spark(found, spark.conf.isModifiable)
            try:
                yield self._table(Read(spark, path, self.of, batch, made_by, found.settings), folder)
            except StreamproofError:
                raise
            except Exception as problem:
                if not _jvm.is_of_spark(problem):
                    raise
                raise why_unreadable(found, self.of, self.batch, _jvm.causes_of(problem), self.condition) from problem

    def require_readable(self) -> None:
        """What can be known of the table before Spark starts.

        Raises
        ------
        EnvironmentProblem
            If the installed PySpark has no reader of state: 3.5 has none.
        TornCheckpoint
            If a partition of the state is gone, or has files of another kind of state store.
        """
        from streamproof.runtime.spark.state_reader import require_state_reader

        require_state_reader(self.found, self.of)

    def _table(self, read: "Read", folder: Path) -> "DataFrame":
        """The rows. Where the condition names one key, only the partition is read that it lies in: if it has it, no other has."""
        from streamproof.checkpoint.one_partition import named_partition, with_one_partition
        from streamproof.checkpoint.tables import PARTITION, state_table

        if self.condition is None:
            return state_table(read, self.variable)
        partition = named_partition(read.spark, self.of, self.condition)
        if partition is not None and read.batch is not None:
            from pyspark.sql import functions as F

            path = with_one_partition(Path(read.path), self.of, partition, read.batch, folder / "checkpoint")
            there = state_table(replace(read, path=str(path))).withColumn(PARTITION, F.lit(partition))
            rows = self._filtered(there).localCheckpoint()  # read once, and not for this question and again for the answer
            if not rows.isEmpty():
                return rows
        return self._filtered(state_table(read, self.variable))

    def _filtered(self, table: "DataFrame") -> "DataFrame":
        from streamproof import _jvm
        from streamproof.runtime.spark.state_reader import in_a_line

        table.sparkSession.conf.set(_FIRST_TASKS, str(_ALL_AT_ONCE))
        try:
            rows = table.where(self.condition or "true")
            rows.schema  # noqa: B018 -- Spark looks at the condition here
        except Exception as problem:
            if not _jvm.is_of_spark(problem):
                raise
            there = ", ".join(f"{name} {type_}" for name, type_ in table.dtypes)
            said = in_a_line(_jvm.causes_of(problem)[-1])
            raise ConfigurationError(
                f'The condition "{self.condition}" cannot be used: {said}',
                required="It is a condition in SQL over the columns of this state.",
                remedy=f"They are: {there}.",
            ) from problem
        return rows


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was looked into: `found` has what its files say, `operator` gives its state.

    Parameters
    ----------
    found
        Offsets, watermarks, batches, settings, sizes, and what a job of ours says; `as_dict()` has all of it as JSON.
    """

    found: Inspection

    def as_dict(self) -> dict[str, Any]:
        """All that the files say, as `streamproof inspect --json` prints it."""
        return self.found.as_dict()

    @property
    def operators(self) -> Mapping[int, str]:
        """The stateful operators: number to Spark's name of it."""
        return {one.number: one.name for one in self.found.operators}

    def verify(self, say: Callable[[str], None] = lambda _: None) -> Verified:
        """Look for files that are torn, missing, swapped, foreign or in a gap, without Spark; and which batches a start can go on from.

        Parameters
        ----------
        say
            Told how far it is.
        """
        return verify(self.found, say)

    def operator(self, number: int, *, batch: int | None = None, variable: str | None = None) -> StateTable:
        """The state of one operator as a table.

        Parameters
        ----------
        number
            As `operators` has it.
        batch
            The state as it was after this batch; without it after the newest that is committed.
        variable
            One state variable of `transformWithState`, or "timers", with columns of its own.

        Raises
        ------
        ConfigurationError
            If there is no such operator, batch or variable.
        """
        found = self.found
        operator = found.operator(number)
        if operator is None:
            known = ", ".join(f"{one.number} ({one.name or 'not named'})" for one in found.operators)
            raise ConfigurationError(
                f"{found.path} has no operator {number}.",
                required=f"Its operators with state are {known}." if known else "The query keeps no state.",
            )
        committed = sorted(found.logs.committed)
        if not committed:
            raise ConfigurationError(
                f"{found.path} has no committed batch.", required="State can be read after a batch that Spark has committed."
            )
        if batch is not None and batch not in committed:
            raise ConfigurationError(
                f"{found.path} has no commit of batch {batch}.",
                required=f"Committed and kept are the batches {committed[0]} to {committed[-1]}.",
                remedy="Spark keeps spark.sql.streaming.minBatchesToRetain of them.",
            )
        if variable is not None:
            _require_variable(found.path, operator, variable)
        return StateTable(found, operator, batch, variable)


def inspect(path: str | Path) -> Checkpoint:
    """Look into a checkpoint of Spark 3.5 to 4.3, whoever wrote it. Nothing is changed, and Spark starts only where state is read.

    `sp.inspect("checkpoints/my_job/exposure").operator(0).where("client = 'c17'").to_pandas()`

    Parameters
    ----------
    path
        The folder of one query: of a stopped job, or a copy of a running one's.

    Raises
    ------
    ConfigurationError
        If there is no checkpoint, or several.
    DataError
        If a file may not be read.
    UnknownFormat
        If a log is of a version that is not known.
    """
    return Checkpoint(inspect_checkpoint(path))


def _require_variable(path: Path, operator: Operator, variable: str) -> None:
    from streamproof.checkpoint.tables import variables_of

    known = variables_of(operator)
    if variable not in known:
        raise ConfigurationError(
            f"{path}: operator {operator.number} has no variable {variable}.",
            required=f"It has {', '.join(known)}." if known else "Only transformWithState has variables.",
        )


def _session(found: Inspection) -> "SparkSession":
    """A session of its own on the Spark that runs, or one that is started, with the format that the state has: the reader goes by the session."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from streamproof.runtime.spark.session import STATE_COUNTS
    from streamproof.runtime.spark.state_reader import start_reader

    runs = SparkContext._active_spark_context is not None
    spark = (SparkSession.builder.getOrCreate() if runs else start_reader()).newSession()
    spark.conf.set(FORMAT, str(found.state_format))
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.streams.active  # noqa: B018 -- brings Spark 4.1 to start what its state reader asks, which only a stream would do else
    spark.conf.set(STATE_COUNTS, "false")  # else it would count all rows before it reads them
    return spark
