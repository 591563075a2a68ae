"""Both sides of a query over a sample on disk: in the same batches, from the same columns, into Parquet."""

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.nexmark.generator import Input
from benchmarks.nexmark.query import LAG, Query
from benchmarks.time_per_event import Run, seconds_of_batches
from streamproof.config import JobConfig, load
from streamproof.runtime.binding.bind import bind
from streamproof.runtime.start.options import Start
from streamproof.runtime.start.query import start_query

PARTITIONS = "spark.sql.shuffle.partitions"
Looked = Callable[[StreamingQuery, int], float]


def job_in(folder: Path, source: Input, query: Query) -> JobConfig:
    """The job of a query in a folder: its file, as it is, and what binds it to the sample."""
    (folder / "job.py").write_text(query.file.read_text(encoding="utf-8"), encoding="utf-8")
    lines = [f'[job]\nentry = "job.py:{query.name}"\ncheckpoint = "checkpoint"']
    for name in query.reads:
        lines.append(
            f'[source.{name}]\nconnector = "files"\npath = "{source.folder / name}"\nformat = "parquet"\n'
            f'schema = "{query.schema(name)}"\nfiles_per_batch = {source.files_per_batch}'
        )
        if query.timed:
            lines.append(f'event_time = {{ column = "dateTime", lag = "{LAG}" }}')
    lines += [f'[table.{name}]\nconnector = "files"\npath = "{source.folder / name}"' for name in query.tables]
    lines.append(f'[spark]\n"{PARTITIONS}" = "{source.partitions}"')
    lines.append('[sink.out]\nconnector = "files"\npath = "out"\nformat = "parquet"')
    (folder / "streamproof.toml").write_text("\n".join(lines) + "\n")
    return load(folder)


def ours(spark: SparkSession, source: Input, query: Query, looked: Looked = seconds_of_batches) -> Run:
    """The job of a query; `looked` says of the ended stream what its batches took."""

    def run(folder: Path) -> float:
        running = start_query(bind(job_in(folder, source, query)), "out", spark.newSession(), Start())
        running.wait()
        return looked(running.stream, source.batches + 1)

    return run


def by_hand(spark: SparkSession, source: Input, query: Query, looked: Looked = seconds_of_batches) -> Run:
    """The hand-written query; `looked` as of `ours`."""

    def run(folder: Path) -> float:
        session = spark.newSession()
        session.conf.set(PARTITIONS, source.partitions)
        read = {name: _stream(session, source, query, name) for name in query.reads}
        tables = {name: session.read.parquet(str(source.folder / name)) for name in query.tables}
        rows = query.by_hand(**read, **tables)
        writer = rows.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
        running = writer.option("path", str(folder / "out")).trigger(availableNow=True).start()
        running.awaitTermination()
        return looked(running, source.batches + 1)

    return run


def _stream(spark: SparkSession, source: Input, query: Query, name: str) -> DataFrame:
    files = spark.readStream.schema(query.schema(name)).option("maxFilesPerTrigger", source.files_per_batch)
    return files.parquet(str(source.folder / name))


def rows_in(spark: SparkSession, folder: Path) -> DataFrame:
    """The rows that one side has written, whichever it is."""
    files = [str(path) for path in (folder / "out").rglob("*.parquet") if not path.name.startswith(("_", "."))]
    return spark.read.parquet(*files)
