"""Reading a table that rows are looked up in: all its rows as they are now, by the connector that [table.NAME] names."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof import _jvm
from streamproof.config import ChangesTable, DeltaTable, FilesTable, KafkaTable, PostgresTable, TableConfig
from streamproof.connectors.extras import library
from streamproof.connectors.kafka.jars import SPARK_KAFKA
from streamproof.connectors.source import Jars, Looked
from streamproof.core.durations import format_duration
from streamproof.core.paths import display
from streamproof.errors import ConfigurationError, DataError, StreamproofError
from streamproof.stream.looked_up import TableRows
from streamproof.stream.names import CORRUPT as _CORRUPT
from streamproof.stream.names import NUMBER, WHOLE_TEXT, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamproof.config import JobConfig

_CLASS = re.compile(r"(?:[a-z]\w*\.)+([A-Z][\w$]*)(?:: |$)")
_CODE = re.compile(r"(?:(?:[a-z]\w*\.)+[A-Z][\w$]*: )?\[([A-Z][A-Z0-9_.]+)\] ")
_FILE = re.compile(r"\bfile (\w+:\S+?)\.?(?:\s|$)")
_WITHOUT_VALUES = ("CSV header does not conform to the schema", "is not a Parquet file")
"""What Spark's readers say that helps, and holds nothing of a row."""
_NOT_THERE = "A table that is not there would leave every row unmatched."
_DELTA = "io.delta.sql.DeltaSparkSessionExtension"
_DELTA_SETTINGS = (
    f'"spark.sql.extensions" = "{_DELTA}" and "spark.sql.catalog.spark_catalog" = "org.apache.spark.sql.delta.catalog.DeltaCatalog"'
)
_UNSET_DELTA = "DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG"
_DELTA_LOG = "_delta_log"
_LOG_OF_DELTA = f"A table of Delta Lake has a log of its versions, {_DELTA_LOG}."
_COMMIT_OF_DELTA = re.compile(r"(\d{20})\.json")


def read_table(spark: "SparkSession", name: str, table: TableConfig) -> TableRows:
    """The rows of a table as they are now; its paths are whole.

    Raises
    ------
    StreamproofError
        If it is not there, cannot be read, or is of a system that this Spark has no connector for.
    """
    kind = next(kind for kind in type(table).mro() if kind in _READERS)
    read = _READERS[kind](spark, name, table)
    found = read if isinstance(read, TableRows) else TableRows(read)
    for bound in (table.valid_from, table.valid_to):
        if bound is not None and bound not in found.rows.columns:
            raise ConfigurationError(
                f"[table.{name}] names the column {bound} for the validity, which is not there.",
                required=f"The columns are {', '.join(found.rows.columns)}.",
            )
        if bound is not None and (type_ := found.rows.schema[bound].dataType.simpleString()) != "timestamp":
            raise ConfigurationError(
                f"[table.{name}] names the column {bound} for the validity, which is {type_}.",
                required="An instant is a TIMESTAMP: a text and a number say no zone or unit.",
                remedy="Make one in the table, or in a view of it.",
            )
    return replace(found, valid_from=table.valid_from, valid_to=table.valid_to)


def looked(job: "JobConfig", name: str) -> Looked:
    """What `check` says of a table without Spark.

    Raises
    ------
    ConfigurationError
        If its folder is not there.
    """
    table = job.table[name]
    path = getattr(table, "path", None)
    if path is None or job.is_remote(path):
        where = path or getattr(table, "table", getattr(table, "topic", name))
        return Looked.not_from_here(f"{table.connector} {where}")
    folder = Path(job.resolve(path))
    if not folder.is_dir():
        raise ConfigurationError(
            f"{job.where('table', name, 'path')}: [table.{name}] path is {display(folder)}, and there is no such folder.",
            required=_NOT_THERE,
            remedy="Make it, or mend the path.",
        )
    read = f"read again after {format_duration(table.refresh)}" if table.refresh is not None else "read at the start"
    if isinstance(table, DeltaTable):
        commits = [int(found[1]) for each in (folder / _DELTA_LOG).glob("*") if (found := _COMMIT_OF_DELTA.fullmatch(each.name))]
        if not commits:
            raise ConfigurationError(
                f"{job.where('table', name, 'path')}: [table.{name}] path is {display(folder)}, which is no table of Delta Lake.",
                required=_LOG_OF_DELTA,
                remedy='Mend the path; of a folder of Parquet the connector is "files".',
            )
        return Looked(f"{path}, version {max(commits):,}, {read}")
    files = sum(not each.name.startswith(("_", ".")) and each.is_file() for each in folder.rglob("*"))
    return Looked(f"{path}, {files:,} file{'' if files == 1 else 's'}, {read}")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """What Spark and its connectors raise while a table is read, as the error for a table that cannot be read."""
    try:
        yield
    except StreamproofError:
        raise
    except Exception as problem:  # it has no common type
        if _jvm.is_gone(problem):
            raise
        raise unreadable(name, "", problem) from problem


def unreadable(name: str, where: str, problem: BaseException) -> DataError:
    """The error for a table that cannot be read, in one place."""
    return DataError(
        f"[table.{name}] {f'{where} ' if where else ''}cannot be read: {_reason(problem)}.",
        required="All rows of the table are read; a part of them would leave the others unmatched without a word.",
        remedy="Look into the table, or mend its path, format or schema in the configuration. Spark's log says more.",
    )


def _reason(problem: BaseException) -> str:
    """Why, by Spark's codes and the file: its sentences hold values of rows, which are in no error of ours."""
    causes = _jvm.causes_of(problem)
    codes = dict.fromkeys(code[1] for cause in causes if (code := _CODE.match(cause)))
    known = next((said for said in _WITHOUT_VALUES if said in causes[-1]), "")
    class_ = _CLASS.match(causes[-1])
    last = known or (class_[1] if class_ else type(problem).__name__)
    file = next((found[1] for cause in causes if (found := _FILE.search(cause))), "")
    return ", ".join([*codes, *([] if _CODE.match(causes[-1]) else [last])]) + (f", in {file}" if file else "")


def _folder(spark: "SparkSession", name: str, path: str) -> _jvm.Folder:
    """The folder of a table; DataError where there is none."""
    folder = _jvm.folder_at(spark, path)
    if folder is None:
        raise DataError(
            f"[table.{name}] path is {path}, and there is no such folder.",
            required=_NOT_THERE,
            remedy="Make it, or mend the path in the configuration.",
        )
    return folder


def _files(spark: "SparkSession", name: str, table: FilesTable) -> "DataFrame":
    folder = _folder(spark, name, table.path)
    reader = spark.read.format(table.format)
    if table.format == "csv":
        said = table.csv
        reader = reader.options(
            header=str(said.header).lower(),
            sep=said.delimiter,
            quote=said.quote,
            escape=said.escape,
            nullValue=said.null,
            mode="FAILFAST",
            enforceSchema="false",
        )
    try:
        asked = reader if table.schema_ddl is None else reader.schema(table.schema_ddl)
        return asked.load(folder.pattern)
    except Exception as problem:  # what Spark and its readers raise over a file has no common type
        raise unreadable(name, table.path, problem) from problem


def _changes(spark: "SparkSession", name: str, table: ChangesTable) -> TableRows:
    """Records of JSON; what does not fit the schema, or says no key or order, is counted and left out."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    folder = _folder(spark, name, table.path)
    try:
        columns = StructType.fromDDL(table.schema_ddl)
        asked = StructType([*getattr(columns, "fields", ()), StructField(_CORRUPT, StringType())])
        lines = spark.read.text(folder.pattern).where("length(trim(value)) > 0")
        record = F.from_json("value", asked, {"columnNameOfCorruptRecord": _CORRUPT, "mode": "PERMISSIVE"}).alias("record")
        parsed = lines.select(record).select(*[F.col(f"record.{quoted(field.name)}") for field in asked.fields])
        said = F.lit(True)
        for column in (*table.key, table.order_by):
            said = said & F.col(quoted(column)).isNotNull()
        fits = F.col(_CORRUPT).isNull() & said
        unread = parsed.where(~fits).count()
    except Exception as problem:
        raise unreadable(name, table.path, problem) from problem
    return TableRows(parsed.where(fits).drop(_CORRUPT), fold=partial(_newest, table=table), unread=unread)


def _newest(records: "DataFrame", table: ChangesTable) -> "DataFrame":
    """Of each key the newest record, without tombstones; of records of one order that which is greatest as a text."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    text = F.to_json(F.struct(*map(quoted, records.columns)), WHOLE_TEXT)
    order = Window.partitionBy(*map(quoted, table.key)).orderBy(F.col(quoted(table.order_by)).desc(), text.desc())
    newest = records.withColumn(NUMBER, F.row_number().over(order)).where(F.col(NUMBER) == 1).drop(NUMBER)
    return newest if table.deleted is None else newest.where(~F.coalesce(table.deleted, F.lit(False))).drop(table.deleted)


def _kafka(spark: "SparkSession", name: str, table: KafkaTable) -> TableRows:
    from streamproof.connectors.kafka.lookup import records_of_topic

    return records_of_topic(spark, name, table)


def jars(table: TableConfig) -> Sequence[Jars]:
    """What Spark needs to read a table, and PySpark does not bring."""
    return (SPARK_KAFKA,) if isinstance(table, KafkaTable) else ()


def _postgres(spark: "SparkSession", name: str, table: PostgresTable) -> "DataFrame":
    library("psycopg", "postgres", "A postgres table")
    from streamproof.connectors.postgres.lookup import rows_of_table

    return rows_of_table(spark, name, table)


def _delta(spark: "SparkSession", name: str, table: DeltaTable) -> "DataFrame":
    """The newest version of the table: what is committed while it is read is not in it."""
    if not _jvm.has_class(spark, _DELTA):
        raise ConfigurationError(
            f'[table.{name}] connector is "delta", and this Spark {spark.version} has no Delta Lake.',
            required="Its connector is a jar of its own, one for each minor version of Spark; Streamproof does not bring it.",
            remedy='Add the one for this Spark below [spark], "spark.jars.packages" = "io.delta:delta-spark_...", beside '
            f"{_DELTA_SETTINGS}; or bind the table to Parquet files.",
        )
    _folder(spark, name, table.path)
    if not _jvm.Storage(spark).exists(f"{table.path}/{_DELTA_LOG}"):
        raise DataError(
            f"[table.{name}] path is {table.path}, which is no table of Delta Lake.",
            required=_LOG_OF_DELTA,
            remedy='Mend the path in the configuration; of a folder of Parquet the connector is "files".',
        )
    try:
        return spark.read.format("delta").load(table.path)
    except Exception as problem:
        if any(_UNSET_DELTA in cause for cause in _jvm.causes_of(problem)):
            raise ConfigurationError(
                f'[table.{name}] connector is "delta", and this Spark has its jar without its settings.',
                required="Delta Lake reads a table by classes of its own for the session and for the catalog.",
                remedy=f"Add below [spark]: {_DELTA_SETTINGS}. A session that runs already takes neither: give them to it, or to spark-submit.",
            ) from problem
        raise unreadable(name, table.path, problem) from problem


_READERS: Mapping[type[TableConfig], Callable[["SparkSession", str, Any], "DataFrame | TableRows"]] = {
    FilesTable: _files,
    PostgresTable: _postgres,
    DeltaTable: _delta,
    ChangesTable: _changes,
    KafkaTable: _kafka,
}
