"""Folders of files: which columns their paths name, and the rows of exactly the files that a batch has."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from streamproof._jvm.java import java_class, whole_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FROM_PATH = "_path."
"""What the hidden column begins with that holds the text that a file's path gives a column; null of a file whose path does not."""
_SOURCE = "io.streamproof.FolderSource"
_FORMAT, _COLUMNS, _PATH = "streamproofFormat", "streamproofColumns", "streamproofPath"


@dataclass(frozen=True)
class Folder:
    """A folder that is there, or a pattern of such.

    Parameters
    ----------
    path
        As it is configured.
    pattern
        The same, with a backslash before each character that stands for itself.
    named
        The columns that folders below it name, as in "date=2026-03-02"; None where nothing lies in it yet.
    """

    path: str
    pattern: str
    named: frozenset[str] | None


@dataclass(frozen=True)
class Reader:
    """How Spark reads the files of a folder: its name of their format, the columns of their rows, its options."""

    format: str
    columns: "StructType"
    options: Mapping[str, Any]


@dataclass(frozen=True)
class SeenBelow:
    """What this Spark has met below a configured path.

    Parameters
    ----------
    left_out
        The folders whose files were not read, relative to it.
    asked
        The columns that the source reads (JSON), `FROM_PATH` before those that folders name; None where it has not begun to read.
    schemas
        Of files that say their columns the schemas (JSON), each with the URI of a file that has it.
    """

    left_out: Sequence[str]
    asked: str | None
    schemas: Mapping[str, str]


_asked: "WeakKeyDictionary[SparkSession, dict[str, str]]" = WeakKeyDictionary()
"""By session and source the columns that are read: each query has a session of its own, and two sources may have one path."""


def seen_below(spark: "SparkSession", source: str, path: str) -> SeenBelow:
    """What this Spark has met below a path since it started, for a source that reads it in this session."""
    met = json.loads(whole_text(java_class(spark, "Folder").met(spark._jsparkSession, path)))
    return SeenBelow(met["leftOut"], _asked.get(spark, {}).get(source), met["schemas"])


def folder_at(spark: "SparkSession", path: str) -> Folder | None:
    """What lies at a path; None where there is nothing. Spark lists it once, as for each batch."""
    folder = java_class(spark, "Folder")
    pattern = folder.found(spark._jsparkSession, path)
    if pattern is None:
        return None
    named = folder.named(spark._jsparkSession, pattern, path)
    return Folder(path, pattern, None if named is None else frozenset(named))


def rows_of_named(
    spark: "SparkSession",
    form: str,
    paths: Sequence[str],
    *,
    columns: "StructType | str | None" = None,
    options: Mapping[str, Any] | None = None,
) -> "DataFrame":
    """The rows of just these files, or of these folders as Spark reads them; no character of a path is a pattern.

    Parameters
    ----------
    form
        Spark's name of the format.
    columns
        Those that are read, a text as Spark's DDL; None for those that the files say.
    """
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    asked = StructType.fromDDL(columns) if isinstance(columns, str) else columns
    schema = None if asked is None else asked.json()
    made = java_class(spark, "NamedFiles").rows(spark._jsparkSession, form, dict(options or {}), schema, json.dumps(list(paths)))
    return DataFrame(made, spark)


def rows_of_files(
    spark: "SparkSession",
    folder: Folder,
    reader: Reader,
    *,
    source: str,
    of_paths: Sequence[str],
    may_be_named: Sequence[str],
    stream: bool,
) -> "DataFrame":
    """The rows of a folder's files, each file read once, with `FROM_PATH` and the name (string) for each column of `of_paths`.

    Parameters
    ----------
    source
        The name of the source that they are for.
    may_be_named
        The columns that no folder may name unless they are among `of_paths`: the batch stops.
    """
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([*reader.columns.fields, *(StructField(f"{FROM_PATH}{name}", StringType()) for name in of_paths)])
    _asked.setdefault(spark, {})[source] = schema.json()
    asked = {**reader.options, _FORMAT: reader.format, _COLUMNS: json.dumps(list(may_be_named)), _PATH: folder.path}
    if stream:
        return spark.readStream.format(_SOURCE).schema(schema).options(**asked).load(folder.pattern)
    made = java_class(spark, "Folder").rows(spark._jsparkSession, {**asked, "path": folder.pattern}, schema.json())
    return DataFrame(made, spark)
