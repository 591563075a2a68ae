"""Writers of a job, bound to a scenario's folder: its paths, tables, topics and checkpoints lie there."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pyspark.sql.readwriter import DataFrameWriter
from pyspark.sql.streaming import DataStreamWriter

from streamproof.errors import ScenarioError
from streamproof.prove.record.binding import CHECKPOINT, OUT
from streamproof.prove.subjects.pyspark.before_state import FOLDER as BEFORE_STATE
from streamproof.prove.subjects.pyspark.before_state import rows_before_state
from streamproof.prove.subjects.pyspark.identity import Identity
from streamproof.prove.subjects.pyspark.places import Places, output_at
from streamproof.prove.subjects.pyspark.refusals import (
    inserts_into_delta,
    not_bound,
    not_written,
    without_a_checkpoint,
    without_a_path,
)
from streamproof.prove.subjects.pyspark.tables import Tables
from streamproof.prove.subjects.pyspark.told import QUERIES, Query
from streamproof.prove.subjects.pyspark.wrote import Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

FILES = ("json", "csv", "parquet", "orc", "text", "avro")
DELTA, DELTA_LOG = "delta", "_delta_log"
OF_A_FUNCTION = "proof"
"""What a stream is written to that a function returns."""
_MAY_HAVE_NONE = ("console", "memory", "noop")
"""Sinks beside `foreach` and `foreachBatch` whose query Spark starts without a checkpoint: it makes a temporary one."""
_NOT_PASSED = ("checkpointlocation", "path", "topic")


class Started:
    """The queries that a job has started, in a scenario.

    `delta` is whether its Spark has Delta Lake, `roles` what its queries are called in the first run of the proof, in their order.
    """

    def __init__(self, base: str, folder: Path, *, delta: bool = False, roles: Sequence[str] = ()) -> None:
        self.base, self._folder, self.delta, self._roles = base, folder, delta, roles
        self.identity = Identity(folder)
        self.places = Places(base, folder)
        self.looking = False
        """Whether the rows before the state are kept in the place of what the job writes."""
        self.written = Written()
        self.tables = Tables(self.places)
        self.queries: list[tuple[Query, StreamingQuery]] = []
        self.names: set[str] = set()
        self.raised: list[Exception] = []
        """What functions of `foreachBatch` have raised: Spark says it in the middle of a long message."""

    def name_for(self, wanted: str) -> str:
        """A name that is a word, and that no other query of the job has; the same in every run."""
        word = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in wanted).strip("_") or "out"
        number, name = 1, word
        while name in self.names:
            number += 1
            name = f"{word}_{number}"
        if self._roles and name not in self._roles:  # a name that is another at each start: the query is known by its turn
            name = next(iter(self._roles[len(self.names) : len(self.names) + 1]), name)
        self.names.add(name)
        return name

    def table_at(self, path: str) -> str | None:
        """Where the table of Delta Lake lies that the job has made at a path, None where it has made none."""
        bound = self.places.of_batch_writer(path)
        there = self._folder / bound.removeprefix(f"{self.base}/") / DELTA_LOG
        return bound if there.is_dir() else None

    def wait_for(self, checkpoint: str) -> None:
        """Waits for the query that works on this checkpoint: two at a time would take each other's batches in an order that is chance."""
        for query, running in self.queries:
            if query.checkpoint == checkpoint:
                running.awaitTermination()

    def add(self, query: Query, running: "StreamingQuery") -> None:
        self.queries.append((query, running))
        self.write()

    def noting(
        self, function: "Callable[[DataFrame, int], None]", query: "Callable[[], str]"
    ) -> "Callable[[DataFrame, int], None]":
        """The same function of `foreachBatch`; what it raises is kept, and what it writes is known as that of its query."""

        def noted(rows: "DataFrame", batch: int) -> None:
            try:
                with self.written.by(query()):
                    function(rows, batch)
            except Exception as problem:
                self.raised.append(problem)
                raise

        return noted

    def look_before_state(self, frame: "DataFrame", name: str) -> "StreamingQuery | None":
        """Starts a query that keeps the rows which reach the stateful operator; None where the plan does not say which these are."""
        rows = rows_before_state(frame, self._folder, name)
        if rows is None:
            return None
        writer = DataStreamWriter(rows).foreachBatch(batches_to(f"{self.base}/{BEFORE_STATE}/{name}"))
        running = writer.option("checkpointLocation", f"{self.base}/{CHECKPOINT}/{name}").trigger(availableNow=True).start()
        self.add(Query(name, "append", "batches", "parquet", BEFORE_STATE, checkpoint=name), running)
        return running

    def kept_at(self, name: str) -> Path:
        """Where the rows of an output lie on the local disk."""
        return self._folder / OUT / name

    def write(self) -> None:
        """What has been started so far, for whoever reads the scenario's folder."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / QUERIES).write_text(json.dumps([asdict(query) for query, _ in self.queries]))

    def wait(self) -> None:
        """Until every query has done what there is; what stopped one is raised."""
        for number, (query, running) in enumerate(self.queries):
            running.awaitTermination()
            dropped = sum(
                int(operator["numRowsDroppedByWatermark"])
                for progress in running.recentProgress
                for operator in progress["stateOperators"]
            )
            self.queries[number] = (replace(query, dropped=dropped, wrote=self.written.of(query.name)), running)
        self.write()


def batches_to(folder: str) -> "Callable[[DataFrame, int], None]":
    """A sink that keeps the rows of each batch by its number; a batch that runs again takes the place of what it left before."""

    def keep(rows: "DataFrame", batch: int) -> None:
        DataFrameWriter(rows).mode("overwrite").parquet(f"{folder}/batch={batch}")

    return keep


class BoundWriter(DataStreamWriter):
    """`frame.writeStream` of a job in a proof: it takes every call of the real one, and writes to the scenario's folder."""

    def __init__(self, frame: "DataFrame", started: Started) -> None:
        super().__init__(frame)
        self._frame, self._started = frame, started
        self._format, self._mode, self._name = "parquet", "append", ""
        self._options: dict[str, Any] = {}
        self._own = self._bound = self._table = ""

    def format(self, source: str) -> "BoundWriter":
        self._format = source.lower()
        return self

    def outputMode(self, outputMode: str) -> "BoundWriter":
        super().outputMode(outputMode)
        self._mode = outputMode.lower()
        return self

    def option(self, key: str, value: Any) -> "BoundWriter":
        self._options[key] = value
        return self

    def options(self, **options: Any) -> "BoundWriter":
        self._options.update(options)
        return self

    def queryName(self, queryName: str) -> "BoundWriter":
        self._name = queryName
        return self

    def trigger(self, **kind: Any) -> "BoundWriter":
        if kind.get("continuous") is not None or kind.get("realTime") is not None:
            raise ScenarioError(
                "The job asks for a trigger without micro-batches.",
                required="A proof crashes micro-batches: availableNow, once or processingTime.",
                remedy="Make the trigger an argument of the job.",
            )
        return self

    def foreachBatch(self, func: Any) -> "BoundWriter":
        super().foreachBatch(self._started.noting(func, lambda: self._bound))
        self._own = "foreachBatch"
        return self

    def foreach(self, f: Any) -> "BoundWriter":
        super().foreach(f)
        self._own = "foreach"
        return self

    def start(
        self,
        path: str | None = None,
        format: str | None = None,
        outputMode: str | None = None,
        partitionBy: Any = None,
        queryName: str | None = None,
        **options: Any,
    ) -> "StreamingQuery":
        if format is not None:
            self.format(format)
        if outputMode is not None:
            self.outputMode(outputMode)
        if partitionBy is not None:
            self.partitionBy(partitionBy)
        if queryName is not None:
            self.queryName(queryName)
        self.options(**options)
        return self._begin(path or str(self._options.get("path") or self._options.get("topic") or ""))

    def toTable(self, tableName: str, **options: Any) -> "StreamingQuery":
        mode = options.pop("outputMode", None)
        form = options.pop("format", None) or self._format
        self._format = form if form == DELTA else "table"
        self._table = tableName
        return self.start(
            tableName.rpartition(".")[2], None, mode, options.pop("partitionBy", None), options.pop("queryName", None)
        )

    def _begin(self, place: str) -> "StreamingQuery":
        stem = PurePosixPath(place.rstrip("/")).stem if place else ""
        name = self._bound = self._started.name_for(self._name or stem or "out")
        looking = self._started.look_before_state(self._frame, name) if self._started.looking else None
        if looking is not None:
            return looking
        identity = self._started.identity
        kept = identity.output(name, identity.said(place) or "")
        out = f"{self._started.base}/{OUT}/{kept}"
        if not self._own:
            self._started.places.streams_to(place, out, topic=self._format == "kafka")
        checkpoint = identity.checkpoint(name, self._asked_checkpoint(name))
        self._started.wait_for(checkpoint)
        if self._own:
            query = Query(name, self._mode, "function", "", self._own, checkpoint=checkpoint)
        elif self._format in FILES:
            query = Query(name, self._mode, "files", self._format, self._format, checkpoint=checkpoint)
            super().format(self._format)
            super().option("path", out)
            for key, value in self._options.items():
                if key.lower() not in _NOT_PASSED:
                    super().option(key, value)
        else:
            query = Query(name, self._mode, "batches", "parquet", self._format, checkpoint=checkpoint)
            super().foreachBatch(self._started.noting(batches_to(out), lambda: name))
        super().option("checkpointLocation", f"{self._started.base}/{CHECKPOINT}/{checkpoint}")
        super().trigger(availableNow=True)
        running = super().start()
        self._started.add(query, running)
        if query.rows == "batches":
            filled = self._table or (self._name if self._format == "memory" else "")
            at = self._started.kept_at(kept)
            self._started.tables.fills(filled, out, at, self._frame.schema, running, complete=self._mode == "complete")
        return running

    def _asked_checkpoint(self, name: str) -> str | None:
        """The place of the checkpoint that the job means, as Spark finds it; None where it is a temporary folder, a new one at each start.

        Raises
        ------
        JobDefinitionError
            If Spark would not start the query without one.
        """
        said = self._started.identity.said
        given = next((value for key, value in self._options.items() if key.lower() == "checkpointlocation" and value), None)
        if given is not None:
            return said(str(given))
        if self._format == OF_A_FUNCTION:  # a function that returns a stream leaves the checkpoint to whoever starts it
            return f"{OF_A_FUNCTION}:{name}"
        everyone = self._frame.sparkSession.conf.get("spark.sql.streaming.checkpointLocation", None)
        if everyone:
            return said(f"{everyone}/{self._name}") if self._name else None
        if self._own or self._format in _MAY_HAVE_NONE:
            return None
        raise without_a_checkpoint(name, self._format)


class BoundBatchWriter(DataFrameWriter):
    """`frame.write` of a job in a proof: what it would write to paths and tables lies in the scenario's folder."""

    _tables_only: tuple[Callable[[], Any], ...] = ()

    def __init__(self, frame: "DataFrame", started: Started) -> None:
        super().__init__(frame)
        self._started, self._format = started, "parquet"
        self._path: str | None = None

    def format(self, source: str) -> "BoundBatchWriter":
        self._format = source.lower()
        super().format(source)
        return self

    def option(self, key: str, value: Any) -> "BoundBatchWriter":
        if key.lower() == "path":
            self._path = None if value is None else str(value)
        else:
            super().option(key, value)
        return self

    def options(self, **options: Any) -> "BoundBatchWriter":
        for key, value in options.items():
            self.option(key, value)
        return self

    def bucketBy(self, *arguments: Any, **options: Any) -> "BoundBatchWriter":
        self._tables_only = (*self._tables_only, lambda: DataFrameWriter.bucketBy(self, *arguments, **options))
        return self

    def sortBy(self, *arguments: Any, **options: Any) -> "BoundBatchWriter":
        self._tables_only = (*self._tables_only, lambda: DataFrameWriter.sortBy(self, *arguments, **options))
        return self

    def clusterBy(self, *arguments: Any, **options: Any) -> "BoundBatchWriter":
        self._tables_only = (*self._tables_only, lambda: DataFrameWriter.clusterBy(self, *arguments, **options))
        return self

    def _as_no_table(self) -> None:
        """Buckets and clusters are of tables: a table is kept as files, which have none; for paths Spark refuses them."""
        for asked in self._tables_only:
            asked()

    def save(
        self, path: str | None = None, format: str | None = None, mode: Any = None, partitionBy: Any = None, **options: Any
    ) -> None:
        if format is not None:
            self.format(format)
        if self._format not in self._known:
            raise not_written(self._format)
        self.options(**options)
        place = path or self._path
        if not place:
            raise without_a_path(self._format)
        self._as_no_table()
        super().save(self._at(place), None, mode, partitionBy)

    def saveAsTable(self, name: str, format: str | None = None, mode: Any = None, partitionBy: Any = None, **options: Any) -> None:
        form = (format or self._format).lower()
        super().format(form if form == DELTA and self._started.delta else "parquet")
        super().save(self._at(name), None, mode, partitionBy, **options)

    def insertInto(self, tableName: str, overwrite: bool | None = None) -> None:
        if self._started.table_at(tableName) is not None:
            raise inserts_into_delta(tableName)
        super().format("parquet")
        super().save(self._at(tableName), None, "overwrite" if overwrite else "append")

    def parquet(self, path: str, *arguments: Any, **options: Any) -> None:
        super().parquet(self._at(path), *arguments, **options)

    def json(self, path: str, *arguments: Any, **options: Any) -> None:
        super().json(self._at(path), *arguments, **options)

    def csv(self, path: str, *arguments: Any, **options: Any) -> None:
        super().csv(self._at(path), *arguments, **options)

    def orc(self, path: str, *arguments: Any, **options: Any) -> None:
        super().orc(self._at(path), *arguments, **options)

    def text(self, path: str, *arguments: Any, **options: Any) -> None:
        super().text(self._at(path), *arguments, **options)

    def jdbc(self, *_: Any, **__: Any) -> None:
        raise not_bound("write.jdbc")

    def _at(self, path: str) -> str:
        self._started.written.note(output_at(path))
        return self._started.places.of_batch_writer(path)

    @property
    def _known(self) -> tuple[str, ...]:
        return (*FILES, DELTA) if self._started.delta else FILES
