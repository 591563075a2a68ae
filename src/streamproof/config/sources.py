"""The tables [source.NAME]: one model per connector; `connector` says which."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, Strict, model_validator

from streamproof.config.fields import (
    Count,
    Duration,
    Limit,
    ReadingOptions,
    Servers,
    Table,
    Text,
    Texts,
    Zone,
    choice,
    some_of,
    text,
    wrong,
)
from streamproof.config.registry import RegistryConfig, said_of
from streamproof.config.secret import shown
from streamproof.core.datasets import Dataset, of_path, of_topics
from streamproof.core.file_formats import FILE_FORMATS, TYPED


class EventTime(Table):
    """When an event happened: which column says it, and how it is written.

    Parameters
    ----------
    column
        A column of the schema; the job sees it as TIMESTAMP under the same name.
    unit
        What a number counts since 1970-01-01T00:00:00Z: seconds, milliseconds, microseconds or nanoseconds; of a text, a number in quotes.
    zone
        IANA time zone of texts that carry none.
    format
        Spark's datetime pattern of a text; ISO 8601 without it.
    lag
        How far events may be out of order before they are late.
    max_future
        An event further ahead of its batch's own time is rejected: it would move the watermark, and all after it would be late. None,
        which is written "none", accepts every time.
    idle_after
        In a union: a source that has delivered nothing for so long, by the clock of the batches, no longer holds the watermark. None: it does.
    """

    column: Text
    unit: (
        Annotated[
            Literal["seconds", "milliseconds", "microseconds", "nanoseconds"],
            choice("seconds", "milliseconds", "microseconds", "nanoseconds"),
        ]
        | None
    ) = None
    zone: Zone = "UTC"
    format: Text | None = None
    lag: Duration = timedelta(0)
    max_future: Limit = timedelta(days=1)
    idle_after: Duration | None = None


RecordFormat = Annotated[Literal["json", "avro", "json_schema", "protobuf"], choice("json", "avro", "json_schema", "protobuf")]
"""How the value of a record of Kafka is written."""


class SourceConfig(Table):
    """Where a stream of the job comes from: what all connectors take.

    Parameters
    ----------
    connector
        The system that is read.
    schema_ddl
        The columns as Spark writes them in DDL, "trade_id string, notional double"; the key of the file is `schema`.
    event_time
        Needed by windows, `deduplicate` and `latest`.
    lenient
        Whether a record of JSON or CSV is taken where Spark's parser alters what it says; by default it is rejected.
    """

    connector: Text
    format: str
    schema_ddl: Text | None = Field(default=None, alias="schema")
    event_time: EventTime | None = None
    lenient: bool = False

    @property
    def says_columns(self) -> bool:
        """Whether what is read says its columns by itself, so that no schema need be declared."""
        return False

    @property
    def can_be_limited(self) -> bool:
        """Whether a batch can take less of it than is there."""
        return True

    @property
    def services(self) -> tuple[str, ...]:
        """The services that it is read from, as `streamproof lab` calls them, its own first; none for files."""
        return ()

    @property
    def by_registry(self) -> str:
        """What is said of the registry that its schemas come from; empty without one."""
        return ""

    def datasets(self, resolve: Callable[[str], str]) -> tuple[Dataset, ...]:
        """What it reads, as a catalogue calls it; `resolve` makes paths whole. None of what is in no catalogue."""
        return ()


LINE = "value string"
"""The schema of lines of text, unless one is declared."""


def _one_byte(value: object) -> str:
    character = text(value) if value != "\t" else "\t"
    if len(character) != 1 or not character.isascii() or character in "\r\n":
        raise wrong(f"is {shown(value)}", 'It must be one character of ASCII, such as ";", "|" or "\\t".')
    return character


Character = Annotated[str, PlainValidator(_one_byte)]


class CsvDialect(Table):
    """How files of CSV are written.

    Parameters
    ----------
    header
        Whether the first line of each file names its columns; they may stand in another order in each file.
    delimiter
        What stands between two fields.
    quote
        What a field is put in that has delimiters, quotes or line ends.
    escape
        What stands before a quote in a field in quotes; by default another quote.
    null
        What stands for a null, besides a field of no length; in quotes it is a text.
    """

    header: Annotated[bool, Strict()] = True
    delimiter: Character = ","
    quote: Character = '"'
    escape: Character = '"'
    null: str = ""

    @model_validator(mode="after")
    def _are_apart(self) -> "CsvDialect":
        if self.delimiter in (self.quote, self.escape):
            raise wrong(f"has the delimiter {shown(self.delimiter)}, which is its quote or escape too", "They must be apart.")
        return self


class FilesSource(SourceConfig):
    """A folder: every file in it is read once, in the order of modification time.

    Parameters
    ----------
    path
        The folder, relative to the configuration file; a URI with a scheme is left as it is.
    format
        "json" (one object a line), "csv", "text" (a line is a record of one column), "parquet", or "avro" (object containers).
    csv
        How files of CSV are written, where they are not written as most are.
    files_per_batch
        At most so many files in one batch; None takes all that are there.
    """

    path: Text
    format: Annotated[str, choice(*FILE_FORMATS)]
    csv: CsvDialect = CsvDialect()
    files_per_batch: Count | None = None

    @model_validator(mode="before")
    @classmethod
    def _line_is_a_column(cls, table: object) -> object:
        return {"schema": LINE, **table} if isinstance(table, Mapping) and table.get("format") == "text" else table

    @model_validator(mode="after")
    def _dialect_is_of_csv(self) -> "FilesSource":
        if self.csv.model_fields_set and self.format != "csv":
            raise wrong(f'has a table csv, and its format is "{self.format}"', remedy='Leave csv out, or write format = "csv".')
        return self

    @property
    def says_columns(self) -> bool:
        return self.format in TYPED

    def datasets(self, resolve: Callable[[str], str]) -> tuple[Dataset, ...]:
        return (of_path(resolve(self.path)),)


class KafkaSource(SourceConfig):
    """Topics of Kafka, read by Spark's own connector.

    Parameters
    ----------
    servers
        The bootstrap servers, "host:9092" or several with commas.
    topic
        One topic, or a list.
    format
        "json": the value of a record is one object. "avro", "json_schema", "protobuf": it is in the wire format of Confluent's registry.
    registry
        Another registry than that of [registry].
    schema_file
        The reader's schema, for what the columns do not say: aliases and defaults of Avro, the numbers of Protobuf's fields.
    message
        Which message of that file is read (Protobuf); None takes the first.
    validates
        Whether records are held against their JSON Schema; the key of the file is `validate`.
    start
        Where a new checkpoint begins: "earliest" or "latest".
    read
        "committed" leaves out what a transaction has aborted; "uncommitted" takes it in (R9).
    records_per_batch
        At most so many records in one batch; None takes all that are there.
    include
        Of the record's own columns those that the job sees, as kafka_key, kafka_timestamp and so on: "key", "timestamp", "topic",
        "partition", "offset", "headers"; "schema_id" is the id of the writer's schema.
    carry
        Headers that go along with each record, as columns named carried_NAME (string): sinks of topics and of APIs send them as headers.
    options
        Settings of Kafka's own client: "security.protocol", "sasl.jaas.config", "ssl.truststore.location".
    """

    servers: Servers
    topic: Texts
    format: RecordFormat
    registry: RegistryConfig | None = None
    schema_file: Text | None = None
    message: Text | None = None
    validates: bool = Field(default=True, alias="validate")
    start: Annotated[Literal["earliest", "latest"], choice("earliest", "latest")] = "earliest"
    read: Annotated[Literal["committed", "uncommitted"], choice("committed", "uncommitted")] = "committed"
    records_per_batch: Count | None = None
    include: Annotated[tuple[str, ...], some_of("key", "timestamp", "topic", "partition", "offset", "headers", "schema_id")] = ()
    carry: Texts = ()
    options: ReadingOptions = Field(default_factory=dict)

    @property
    def services(self) -> tuple[str, ...]:
        return (self.connector, *(() if self.registry is None else ("registry",)))

    @property
    def by_registry(self) -> str:
        return said_of(self.format, self.registry)

    def datasets(self, resolve: Callable[[str], str]) -> tuple[Dataset, ...]:
        return of_topics(self.servers, self.topic)


def _no_format(value: object) -> str:
    raise wrong(f"is {shown(value)}, and the source rate has none", remedy="Leave it out.")


RATE_COLUMNS = "timestamp timestamp, value bigint"


class RateSource(SourceConfig):
    """Rows that Spark makes itself, so many a second: for trying things out, and for load.

    Parameters
    ----------
    rows_per_second
        How many; the first row has the value 0, each the next number, and the time at which it was due.
    """

    rows_per_second: Count
    format: Annotated[Literal["parquet"], PlainValidator(_no_format)] = Field(default="parquet", exclude=True)
    schema_ddl: Text | None = Field(default=RATE_COLUMNS, alias="schema", exclude=True)
    lenient: bool = Field(default=False, exclude=True)

    @property
    def can_be_limited(self) -> bool:
        return False

    @model_validator(mode="after")
    def _columns_are_its_own(self) -> "RateSource":
        if self.schema_ddl != RATE_COLUMNS:
            raise wrong(
                "has a schema, and the source rate makes its own columns", f'They are "{RATE_COLUMNS}".', "Leave schema out."
            )
        return self


SOURCES: Mapping[str, type[SourceConfig]] = {"files": FilesSource, "kafka": KafkaSource, "rate": RateSource}
