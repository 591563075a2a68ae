"""The tables [sink.NAME]: one model per connector; `connector` says which."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from streamproof.config.fields import Count, Duration, Options, Servers, Table, Text, Texts, choice, wrong
from streamproof.config.registry import RegistryConfig, said_of
from streamproof.config.sources import RecordFormat
from streamproof.core.datasets import Dataset, of_api, of_keys, of_table, of_topics

FILES = "files"
"""The connector of folders; what no table binds goes to one too."""
CUSTOM_SINK = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[A-Za-z_]\w*)")


def output_of(name: str) -> str:
    """The output of the job that a sink is bound to: of one among several, "exposure.postgres", "exposure"."""
    return name.partition(".")[0]


def is_several(table: object) -> bool:
    """Whether a table [sink.NAME] holds one table for each of several sinks: [sink.exposure.postgres], [sink.exposure.kafka]."""
    return (
        isinstance(table, dict)
        and bool(table)
        and all(isinstance(inner, dict) and "connector" in inner for inner in table.values())
    )


Claim = Annotated[Literal["exactly-once", "at-least-once"], choice("exactly-once", "at-least-once")]


class SinkConfig(Table):
    """Where an output of the job goes: what all connectors take.

    Parameters
    ----------
    connector
        The system that is written.
    guarantee
        What this output must keep; a sink that cannot keep it is refused at the start. None takes what the sink gives.
    """

    connector: Text
    guarantee: Claim | None = None

    @property
    def services(self) -> tuple[str, ...]:
        """The services that it writes to, as `streamproof lab` calls them, its own first; none for files."""
        return ()

    @property
    def service(self) -> "ServiceSink | None":
        """Itself, where it is one of a service."""
        return None

    @property
    def folder(self) -> "FilesSink | None":
        """Itself, where it has a folder: for its files, or for a class of the user's to work in."""
        return None

    @property
    def by_registry(self) -> str:
        """What is said of the registry that its schemas go to; empty without one."""
        return ""

    @property
    def written_by_spark(self) -> bool:
        """Whether Spark's own connector writes the rows."""
        return False

    @property
    def takes_rows_at_once(self) -> bool:
        """Whether a row can be sent there while its batch still runs."""
        return False

    @property
    def is_one_effect_a_key(self) -> bool:
        """Whether of several rows with one key only the first has an effect."""
        return False

    @property
    def replaces(self) -> bool:
        """Whether a row takes the place of an earlier one that has its key."""
        return False

    @property
    def last_of_key(self) -> tuple[Texts, str | None, str | None] | None:
        """Where the row of each key that came last is kept: the key, the column that decides within a batch, and the condition of rows that
        delete.
        """
        return None

    @property
    def facts(self) -> tuple[Texts, str, str | None] | None:
        """Where the greatest version of each key is kept: the key, the column of the version, and that of a tombstone."""
        return None

    @property
    def is_of_the_job(self) -> bool:
        """Whether the user wrote its class."""
        return False


class FilesSink(SinkConfig):
    """A folder, or a sink class in the user's folder ("file.py:ClassName") with a folder to work in."""

    path: Text
    format: Annotated[Literal["parquet", "json", "csv", "avro"], choice("parquet", "json", "csv", "avro")] = "parquet"

    @model_validator(mode="after")
    def _own_class_takes_what_is_staged(self) -> "FilesSink":
        if self.is_of_the_job and self.format not in ("parquet", "json"):
            raise wrong(f'has the format "{self.format}"', 'A sink class of your own is given rows as "parquet" or "json".')
        return self

    @property
    def folder(self) -> "FilesSink":
        return self

    @property
    def is_of_the_job(self) -> bool:
        return self.connector != FILES


class ServiceSink(SinkConfig):
    """What all services take.

    Parameters
    ----------
    backlog
        So many batches may wait for a service that is down before the job stops; the other outputs go on meanwhile (R8).
    """

    backlog: Count = 100

    @property
    def services(self) -> tuple[str, ...]:
        return (self.connector,)

    @property
    def service(self) -> "ServiceSink":
        return self

    @property
    def can_be_exactly_once(self) -> bool:
        """Whether every row can be there once, whatever happens; a claim of the configuration is held against it (K8)."""
        return True

    @property
    def dataset(self) -> Dataset:
        """What it writes, as a catalogue calls it."""
        raise NotImplementedError(type(self).__name__)

    def resolved(self, resolve: Callable[[str], str]) -> Self:
        """The same with whole paths."""
        return self


class PostgresSink(ServiceSink):
    """A table of PostgreSQL.

    Parameters
    ----------
    url
        "postgresql://user@host/database", as libpq takes it.
    table
        The table, with its schema where it is not on the search path.
    mode
        "insert" adds rows; "upsert" replaces the row of the same key.
    key
        The columns of the table's primary key or of a unique index; "upsert" needs them.
    order_by
        Of several rows of one key in a batch the one with the greatest value of this column counts; without it they are an error.
    delete
        A condition over the output's columns: rows for which it holds delete the row of their key instead ("upsert" only).
    version
        The column that says which of two rows of a key is newer, also of two batches: the table keeps the newest, whatever comes first.
    deleted
        With a version, the boolean column that makes a row a tombstone; it stays in the table.
    shards
        So many transactions a batch, side by side: one lets readers see a batch whole or not at all.
    create
        Whether a table that is not there is made from the output's columns.
    """

    url: Text
    table: Text
    mode: Annotated[Literal["insert", "upsert"], choice("insert", "upsert")] = "insert"
    key: Texts = ()
    order_by: Text | None = None
    delete: Text | None = None
    version: Text | None = None
    deleted: Text | None = None
    shards: Count = 1
    create: bool = False

    @property
    def dataset(self) -> Dataset:
        return of_table(self.url, self.table)

    @property
    def replaces(self) -> bool:
        return self.mode == "upsert"

    @property
    def last_of_key(self) -> tuple[Texts, str | None, str | None] | None:
        return (self.key, self.order_by, self.delete) if self.replaces and not self.version else None

    @property
    def facts(self) -> tuple[Texts, str, str | None] | None:
        return (self.key, self.version, self.deleted) if self.version else None


class KafkaSink(ServiceSink):
    """A topic of Kafka, in transactions; with guarantee = "at-least-once" by Spark's own sink.

    Parameters
    ----------
    servers, topic
        The bootstrap servers and the topic.
    format
        "json": the value of a record is one object. "avro", "json_schema", "protobuf": it is in the wire format of Confluent's registry.
    registry
        Another registry than that of [registry].
    schema_file
        The schema that rows are written by; None makes one of the columns.
    message
        Which message of that file is written (Protobuf); None takes the first.
    subject
        What the schema is registered under; None takes "TOPIC-value".
    registers
        Whether the schema is registered where it is not there; else it is only looked up. The key of the file is `register`.
    key
        The columns that the record's key is made of: one as it is, several as texts joined by "|"; without them the key is null.
    tombstone
        A condition over the output's columns: rows for which it holds are written without a value, so that compaction drops their key.
    shards
        So many transactions a batch, side by side: one lets readers see a batch whole or not at all.
    options
        Settings of the producer, by librdkafka's names.
    """

    servers: Servers
    topic: Text
    format: RecordFormat = "json"
    registry: RegistryConfig | None = None
    schema_file: Text | None = None
    message: Text | None = None
    subject: Text | None = None
    registers: bool = Field(default=True, alias="register")
    key: Texts = ()
    tombstone: Text | None = None
    shards: Count = 1
    options: Options = Field(default_factory=dict)

    @property
    def dataset(self) -> Dataset:
        return of_topics(self.servers, (self.topic,))[0]

    @property
    def services(self) -> tuple[str, ...]:
        return (self.connector, *(() if self.registry is None else ("registry",)))

    @property
    def by_registry(self) -> str:
        return said_of(self.format, self.registry)

    @property
    def written_by_spark(self) -> bool:
        return self.guarantee == "at-least-once"

    @property
    def takes_rows_at_once(self) -> bool:
        return True


class RedisSink(ServiceSink):
    """Hashes of Redis, one for each key.

    Parameters
    ----------
    url
        "redis://host:6379/0", with TLS "rediss://".
    key
        The columns that tell rows apart; the key is their text, joined by "|".
    prefix
        What the names of all keys begin with.
    order_by
        Of several rows of one key in a batch the one with the greatest value of this column counts.
    delete
        A condition over the output's columns: rows for which it holds delete their key.
    ttl
        How long a key lives after it was written.
    """

    url: Text
    key: Texts
    prefix: Text
    order_by: Text | None = None
    delete: Text | None = None
    ttl: Duration | None = None

    @property
    def dataset(self) -> Dataset:
        return of_keys(self.url, self.prefix)

    @property
    def can_be_exactly_once(self) -> bool:
        return False

    @property
    def replaces(self) -> bool:
        return True

    @property
    def last_of_key(self) -> tuple[Texts, str | None, str | None]:
        return (self.key, self.order_by, self.delete)


class HttpSink(ServiceSink):
    """Calls to an API, one for each row, its body the row as JSON.

    Parameters
    ----------
    url
        Where the calls go.
    key
        The columns that the idempotency key is made of: one call, one effect.
    method
        "POST", "PUT" or "PATCH".
    idempotent
        Whether the API honours the header Idempotency-Key: a second call with the same key has no second effect.
    lookup
        Where to ask whether a call was done, with "{key}" in it: success means that it was.
    headers
        Sent with every call: { Authorization = "Bearer ${env:TOKEN}" }.
    timeout
        How long an answer may take.
    attempts
        How often a call is tried before its batch waits, with pauses that grow.
    concurrency
        Calls at a time in each task.
    ledger
        The folder where it is kept what became of the calls; beside the checkpoint without it. A new checkpoint is refused there as long as
        the calls are those of another.
    """

    url: Text
    key: Texts
    method: Annotated[Literal["POST", "PUT", "PATCH"], choice("POST", "PUT", "PATCH")] = "POST"
    idempotent: bool = False
    lookup: Text | None = None
    headers: Options = Field(default_factory=dict)
    timeout: Duration = timedelta(seconds=10)
    attempts: Count = 5
    concurrency: Count = 8
    ledger: Text | None = None

    @property
    def dataset(self) -> Dataset:
        return of_api(self.url)

    @property
    def is_one_effect_a_key(self) -> bool:
        return True

    @property
    def services(self) -> tuple[str, ...]:
        return ("api",)

    @property
    def can_be_exactly_once(self) -> bool:
        return self.idempotent

    def resolved(self, resolve: Callable[[str], str]) -> Self:
        return self if self.ledger is None else self.model_copy(update={"ledger": resolve(self.ledger)})


SINKS: Mapping[str, type[SinkConfig]] = {
    FILES: FilesSink,
    "postgres": PostgresSink,
    "kafka": KafkaSink,
    "redis": RedisSink,
    "http": HttpSink,
}
