"""The tables [table.NAME]: what a stream is looked up in; `connector` says where the rows are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from streamproof.config.columns import UnreadableSchema, columns_of
from streamproof.config.fields import Duration, ReadingOptions, Servers, Table, Text, Texts, choice, wrong
from streamproof.config.sources import CsvDialect
from streamproof.core.datasets import Dataset, of_path, of_table, of_topics


class TableConfig(Table):
    """A table that a stream is looked up in: what all connectors take.

    Parameters
    ----------
    connector
        The system that holds it.
    refresh
        How long after it was read it is read again, before the next batch; "0 seconds" reads it before every batch. None reads it at the start.
    valid_from, valid_to
        The columns (TIMESTAMP) that say since when a row holds, and until when, that instant excluded; a null in the second: to this day.
    """

    connector: Text
    refresh: Duration | None = None
    valid_from: Text | None = None
    valid_to: Text | None = None

    @model_validator(mode="after")
    def _validity_begins(self) -> Self:
        if self.valid_to is not None and self.valid_from is None:
            raise wrong(
                "has valid_to and no valid_from",
                "A row holds from one instant to another.",
                "Name the column that says since when: valid_from.",
            )
        if self.valid_to is not None and self.valid_to == self.valid_from:
            raise wrong("has one column for valid_from and valid_to", "They are two instants.")
        return self

    @property
    def services(self) -> tuple[str, ...]:
        """The services that hold it, as `streamproof lab` calls them; none for files."""
        return ()

    @property
    def dataset(self) -> Dataset | None:
        """What it is, as a catalogue calls it, once its paths are whole; None of what is in no catalogue."""
        return None

    def resolved(self, resolve: Callable[[str], str]) -> Self:
        """The same with its paths made whole."""
        return self

    def at(self, batch: int) -> Self:
        """Where it lies when it is read before a batch: a proof has one that changes from batch to batch."""
        return self


class TableOfFolder(TableConfig):
    """A table in a folder.

    Parameters
    ----------
    path
        The folder, relative to the configuration file; a URI with a scheme is left as it is.
    """

    path: Text

    @property
    def dataset(self) -> Dataset:
        return of_path(self.path)

    def resolved(self, resolve: Callable[[str], str]) -> Self:
        return self.model_copy(update={"path": resolve(self.path)})


class TableOfService(TableConfig):
    """A table in a service that is called as its connector."""

    @property
    def services(self) -> tuple[str, ...]:
        return (self.connector,)


class FilesTable(TableOfFolder):
    """A folder of files.

    Parameters
    ----------
    path
        The folder, relative to the configuration file; a URI with a scheme is left as it is.
    format
        "parquet" or "csv".
    schema_ddl
        The columns as Spark writes them in DDL; the key of the file is `schema`. Needed for CSV.
    csv
        How files of CSV are written, where they are not written as most are.
    """

    format: Annotated[Literal["parquet", "csv"], choice("parquet", "csv")] = "parquet"
    schema_ddl: Text | None = Field(default=None, alias="schema")
    csv: CsvDialect = CsvDialect()

    @model_validator(mode="after")
    def _columns_of_csv(self) -> Self:
        if self.csv.model_fields_set and self.format != "csv":
            raise wrong(f'has a table csv, and its format is "{self.format}"', remedy='Leave csv out, or write format = "csv".')
        if self.format == "csv" and self.schema_ddl is None:
            raise wrong(
                'needs the key "schema" for format "csv"', 'It is the columns, such as "currency string, rate decimal(18,6)".'
            )
        return self


class PostgresTable(TableOfService):
    """A table or a view of PostgreSQL; the driver reads it as a whole, so it is no larger than the driver's memory.

    Parameters
    ----------
    url
        "postgresql://user@host/database", as libpq takes it.
    table
        The table, with its schema where it is not on the search path.
    """

    url: Text
    table: Text

    @property
    def dataset(self) -> Dataset:
        return of_table(self.url, self.table)


class DeltaTable(TableOfFolder):
    """A table of Delta Lake, read by the connector whose jar the job brings.

    Parameters
    ----------
    path
        The folder of the table, relative to the configuration file; a URI with a scheme is left as it is.
    """


def _require_columns(ddl: str, names: Sequence[str]) -> Mapping[str, str]:
    """The columns of a schema with their types; what is wrong with it, or with a name that is none of them, is raised as pydantic takes it."""
    try:
        columns = columns_of(ddl)
    except UnreadableSchema as problem:
        raise wrong(f"has a schema that {problem}") from None
    for name in names:
        if name not in columns:
            raise wrong(f'names the column "{name}", which is not in its schema', f"The columns are {', '.join(columns)}.")
    return columns


class ChangesTable(TableOfFolder):
    """A table that is made from a stream of changes: a folder of JSON, one record a line, of which the newest of each key counts.

    Parameters
    ----------
    path
        The folder, relative to the configuration file; a URI with a scheme is left as it is.
    schema_ddl
        The columns of a record as Spark writes them in DDL; the key of the file is `schema`.
    key
        The columns that tell rows of the table apart.
    order_by
        The column by which a record is newer: the greatest counts.
    deleted
        The boolean column that makes a record a tombstone: it takes the row of its key away.
    """

    schema_ddl: Text = Field(alias="schema")
    key: Texts
    order_by: Text
    deleted: Text | None = None

    @model_validator(mode="after")
    def _columns_are_there(self) -> Self:
        columns = _require_columns(self.schema_ddl, (*self.key, self.order_by, *([self.deleted] if self.deleted else [])))
        if self.deleted is not None and columns[self.deleted] != "boolean":
            raise wrong(f'has deleted = "{self.deleted}", which is {columns[self.deleted]}', "A tombstone is marked by a boolean.")
        return self


class KafkaTable(TableOfService):
    """A table that is made from a topic of Kafka: its newest record of each key counts, and a record without a value takes the row away.

    Parameters
    ----------
    servers
        The bootstrap servers, "host:9092" or several with commas.
    topic
        The topic; all records of a key are in one partition.
    schema_ddl
        The columns of a value, an object of JSON, as Spark writes them in DDL; the key of the file is `schema`.
    key
        The column that tells the rows of the table apart; the key of a record is its text.
    options
        Settings of Kafka's own client: "security.protocol", "sasl.jaas.config", "ssl.truststore.location".
    """

    servers: Servers
    topic: Text
    schema_ddl: Text = Field(alias="schema")
    key: Text
    options: ReadingOptions = Field(default_factory=dict)

    @property
    def dataset(self) -> Dataset:
        return of_topics(self.servers, (self.topic,))[0]

    @model_validator(mode="after")
    def _key_is_there(self) -> Self:
        _require_columns(self.schema_ddl, (self.key,))
        return self


LOOKUPS: Mapping[str, type[TableConfig]] = {
    "files": FilesTable,
    "postgres": PostgresTable,
    "delta": DeltaTable,
    "changes": ChangesTable,
    "kafka": KafkaTable,
}
"""Which connectors a [table.NAME] can name, and what the tables of each take."""
