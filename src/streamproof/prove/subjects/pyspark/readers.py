"""Readers of a job, bound to the events of a scenario: whatever the job names as its source, it gets the events of an input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming import DataStreamReader
from pyspark.sql.types import StructType

from streamproof import _jvm
from streamproof.config.columns import typed_columns_of
from streamproof.core.paths import as_pattern
from streamproof.errors import ScenarioError
from streamproof.prove.subjects.pyspark.batch_reads import BatchReads
from streamproof.prove.subjects.pyspark.kafka_headers import require_headers
from streamproof.prove.subjects.pyspark.places import Places
from streamproof.prove.subjects.pyspark.shapes import folder_of, refuse_not_served, shape_of
from streamproof.prove.subjects.pyspark.told import ToldInput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KAFKA = "kafka"
KAFKA_FOLDER = "{}.kafka"
"""The folder of an input in the shape of Kafka's source. It lies next to the folder with the input's files."""
KAFKA_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)
_LINES = ("json", "csv", "text")
_TEXTS = ("json", "csv")
_CUT_FILES = "io.streamproof.proof.CutFiles"
"""Spark's source of files, with as many files in each batch as its options say."""
_NOT_REPLAYABLE = ("rate", "rate-micro-batch", "socket")
_OF_THE_SOURCE = ("path", "maxfilespertrigger", "maxbytespertrigger", "latestfirst", "maxfileage", "cleansource", "pathglobfilter")
_NAMES = ("subscribe", "assign", "subscribepattern", "path", "table", "dbtable", "streamname", "topic")


@dataclass(frozen=True)
class Reading:
    """How an input is read: format, schema, options, the folder of the events in that shape, and whether spoilt ones are among them."""

    source: str
    schema: "StructType | str"
    options: Mapping[str, Any]
    folder: str
    spoilt: bool


class Inputs:
    """The inputs of a scenario, and which of them the job has read."""

    def __init__(
        self,
        spark: "SparkSession",
        inputs: Sequence[ToldInput],
        data: Mapping[str, str],
        files_per_batch: int | None,
        cut: Mapping[str, str],
    ) -> None:
        self._spark, self._inputs, self._data = spark, {one.name: one for one in inputs}, data
        self._files_per_batch, self._cut = files_per_batch, cut
        self.read: set[str] = set()
        self.batch_reads = BatchReads(inputs, data)
        self.shapes: dict[str, Reading] = {}

    def frame(self, name: str) -> "DataFrame":
        """The events of an input, as its sample has them."""
        one = self._inputs[name]
        return self._kafka(name, {}) if one.kafka else self._own(one)

    def for_reader(self, source: str, schema: "StructType | str | None", options: Mapping[str, Any], place: str) -> "DataFrame":
        """The events of the input that a reader of the job means.

        Raises
        ------
        ScenarioError
            If the job reads what no sample stands for, or what cannot be read twice.
        """
        if source in _NOT_REPLAYABLE:
            raise ScenarioError(
                f'The job reads readStream.format("{source}"), which gives other rows each time.',
                required="A proof reads the same events after every crash.",
                remedy="Read them from files or a topic, and give a sample of them: --input NAME=FILE.",
            )
        name = self._meant(source, options, place)
        if source == KAFKA:
            return self._kafka(name, options)
        one = self._inputs[name]
        kept = {key: value for key, value in options.items() if key.lower() not in _OF_THE_SOURCE}
        if source == one.format:
            if schema is None:
                return _only(self._files(name, source, one.schema, kept), one.kept)
            return self._files(name, source, schema, kept)
        if {source, one.format} <= set(_LINES) and "text" in (source, one.format):
            return self._lines(one, source, schema, kept)
        refuse_not_served(source, kept)
        return self._as_declared(self._own(one), schema)

    def _as_declared(self, frame: "DataFrame", schema: "StructType | str | None") -> "DataFrame":
        """The events of a sample in another format than the job reads, with the columns and types that its schema says."""
        if schema is None:
            return frame
        wanted = schema if isinstance(schema, StructType) else self._spark.createDataFrame([], schema).schema
        there = {name.lower(): name for name in frame.columns}
        return frame.select(
            *(
                (F.col(f"`{there[field.name.lower()]}`") if field.name.lower() in there else F.lit(None))
                .cast(field.dataType)
                .alias(field.name)
                for field in wanted
            )
        )

    def _meant(self, source: str, options: Mapping[str, Any], place: str) -> str:
        """The input that a reader means: the only one, else the one whose name the reader mentions, else the next that was not read yet."""
        if len(self._inputs) == 1:
            return next(iter(self._inputs))
        said = [place, *(str(value) for key, value in options.items() if key.lower() in _NAMES)]
        words = {part for text in said for part in (*text.replace(",", "/").split("/"), PurePosixPath(text).stem)}
        named = [name for name in self._inputs if name in words]
        if len(named) == 1:
            return named[0]
        raise ScenarioError(
            f'The job reads readStream.format("{source}"){f" from {place}" if place else ""}, and it is not clear which input that is.',
            required=f"There are {', '.join(self._inputs)}: a topic, table or folder of that name.",
            remedy="Call the input as the job does: --input TOPIC=FILE.",
        )

    def _lines(self, one: ToldInput, source: str, schema: "StructType | str | None", options: Mapping[str, Any]) -> "DataFrame":
        """Lines that are read as another format than that of the sample: as texts, or plain lines by a schema of the job's."""
        if source == "text":
            return self._files(one.name, source, schema if schema is not None else "value string", options)
        if schema is None:
            return self._own(one)
        return self._files(one.name, source, schema, {"header": "false", **options} if source == "csv" else options)

    def _own(self, one: ToldInput) -> "DataFrame":
        return _only(self._files(one.name, one.format, one.schema, {}), one.kept)

    def _files(self, name: str, source: str, schema: "StructType | str", options: Mapping[str, Any]) -> "DataFrame":
        self.read.add(name)
        given = dict(options)
        if source == "csv" and not any(key.lower() == "header" for key in options):
            given["header"] = "true" if not options else "false"
        its = self._inputs[name].format
        shape = shape_of(source, given) if source in _TEXTS and source == its else None
        folder = str(folder_of(shape, Path(self._data[name]))) if shape is not None else self._data[name]
        if (source, its) != ("text", "csv"):  # there a header is a line too
            self.shapes[name] = Reading(source, schema, given, folder, spoilt=shape is None or shape.spoilt)
        reader = self._reader(source).schema(schema)
        for key, value in given.items():
            reader = reader.option(key, value)
        return self._limited(reader).load(as_pattern(folder))

    def counted(self) -> dict[str, tuple[int, bool]]:
        """By input how many rows its readers give, by the readers' own options, and whether spoilt records are among the events."""
        found = {}
        for name, one in self.shapes.items():
            reader = self._spark.read.format(one.source).schema(one.schema)
            for key, value in one.options.items():
                reader = reader.option(key, value)
            found[name] = (_jvm.rows_in_full(DataFrameReader.load(reader, as_pattern(one.folder))), one.spoilt)
        return found

    def _kafka(self, name: str, options: Mapping[str, Any]) -> "DataFrame":
        self.read.add(name)
        with_headers = any(key.lower() == "includeheaders" and str(value).lower() == "true" for key, value in options.items())
        if with_headers:
            require_headers(name, list(typed_columns_of(self._inputs[name].schema)))
        frame = self._limited(self._reader("parquet").schema(KAFKA_SCHEMA)).load(as_pattern(KAFKA_FOLDER.format(self._data[name])))
        return frame if with_headers else frame.drop("headers")

    def _reader(self, source: str) -> DataStreamReader:
        """A reader of files; where the batches are given, it takes so many files in each."""
        reader = DataStreamReader(self._spark)
        if not self._cut:
            return reader.format(source)
        reader = reader.format(_CUT_FILES).option("streamproofFormat", source)
        for place, counts in self._cut.items():
            reader = reader.option(f"streamproofCut.{place}", counts)
        return reader

    def _limited(self, reader: DataStreamReader) -> DataStreamReader:
        return reader if self._files_per_batch is None else reader.option("maxFilesPerTrigger", self._files_per_batch)


def _only(frame: "DataFrame", columns: Sequence[str]) -> "DataFrame":
    """The columns of a declared schema, in its order: a reader of CSV has to name all that the file has."""
    return frame.select(*(f"`{name.replace('`', '``')}`" for name in columns)) if columns else frame


class BoundReader(DataStreamReader):
    """`spark.readStream` of a job in a proof: it takes every call of the real one, and loads the events of an input."""

    def __init__(self, spark: "SparkSession", inputs: Inputs, places: Places) -> None:
        super().__init__(spark)
        self._inputs, self._places = inputs, places
        self._format, self._own_schema, self._options = "parquet", None, dict[str, Any]()

    def format(self, source: str) -> "BoundReader":
        self._format = source.lower()
        return self

    def schema(self, schema: Any) -> "BoundReader":
        self._own_schema = schema
        return self

    def option(self, key: str, value: Any) -> "BoundReader":
        self._options[key] = value
        return self

    def options(self, **options: Any) -> "BoundReader":
        self._options.update(options)
        return self

    def name(self, source_name: str) -> "BoundReader":
        return self

    def load(self, path: str | None = None, format: str | None = None, schema: Any = None, **options: Any) -> "DataFrame":
        if format is not None:
            self.format(format)
        if schema is not None:
            self.schema(schema)
        self.options(**options)
        for name, value in {**self._options, "path": path or self._options.get("path") or ""}.items():
            if value and name.lower() in _NAMES:
                self._places.reads(str(value), topic=self._format == KAFKA)
        return self._inputs.for_reader(self._format, self._own_schema, self._options, path or "")

    def table(self, tableName: str) -> "DataFrame":
        self._places.reads(tableName)
        return self._inputs.for_reader("table", None, self._options, tableName.rpartition(".")[2])

    def json(self, path: str, schema: Any = None, **options: Any) -> "DataFrame":
        return self._of("json", path, schema, options)

    def csv(self, path: str, schema: Any = None, **options: Any) -> "DataFrame":
        return self._of("csv", path, schema, options)

    def parquet(self, path: str, **options: Any) -> "DataFrame":
        return self._of("parquet", path, None, options)

    def orc(self, path: str, **options: Any) -> "DataFrame":
        return self._of("orc", path, None, options)

    def xml(self, path: str, schema: Any = None, **options: Any) -> "DataFrame":
        return self._of("xml", path, schema, options)

    def text(self, path: str, **options: Any) -> "DataFrame":
        return self._of("text", path, None, options)

    def _of(self, source: str, path: str, schema: Any, options: Mapping[str, Any]) -> "DataFrame":
        given = {key: value for key, value in options.items() if value is not None}
        return self.load(path, source, schema, **given)
