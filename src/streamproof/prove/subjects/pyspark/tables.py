"""Tables that a query of the job fills, a memory sink or `toTable`: what the job reads of them are the rows that the proof keeps."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.core.paths import as_pattern
from streamproof.prove.subjects.pyspark.ending import in_the_job
from streamproof.prove.subjects.pyspark.places import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

_NAMED = re.compile(r"\b(?:from|join|table)\s+((?:`[^`]+`|\w+)(?:\s*\.\s*(?:`[^`]+`|\w+))*)", re.IGNORECASE)


@dataclass
class _Filled:
    """A table that a query fills: where its batches lie for Spark, and on the local disk."""

    folder: str
    local: Path
    schema: "StructType"
    running: "StreamingQuery"
    complete: bool


class Tables:
    """The tables that queries fill, by their names; what batch writers have made is found by its place."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._filled: dict[str, _Filled] = {}

    def fills(
        self, name: str, folder: str, local: Path, schema: "StructType", running: "StreamingQuery", *, complete: bool
    ) -> None:
        """Notes that a query fills a table; its rows lie below a folder, batch by batch."""
        if name:
            self._filled[_plain(name)] = _Filled(folder, local, schema, running, complete)

    def frame(self, spark: "SparkSession", name: str) -> "DataFrame | None":
        """The rows of a table that the job fills, once its query is at its end; None where it fills none of that name."""
        found = self._filled.get(_plain(name)) or self._filled.get(_plain(name).rpartition(".")[2])
        if found is None:
            place = self._places.read_back(name.replace("`", ""))
            return None if place == name.replace("`", "") else spark.read.parquet(as_pattern(place))
        if in_the_job():
            found.running.awaitTermination()
        batches = sorted(int(path.name.partition("=")[2]) for path in found.local.glob("batch=*"))
        places = [as_pattern(f"{found.folder}/batch={number}") for number in batches]
        if not places:
            return spark.createDataFrame([], found.schema)
        return spark.read.schema(found.schema).parquet(*(places[-1:] if found.complete else places))

    def named_in(self, spark: "SparkSession", statement: str) -> str:
        """The statement with such tables as temporary views: Spark's own memory sink makes one too."""
        for written in dict.fromkeys(_NAMED.findall(statement)):
            frame = self.frame(spark, written)
            if frame is not None:
                view = _plain(written).rpartition(".")[2]
                frame.createOrReplaceTempView(view)
                statement = re.sub(rf"(?<![\w.`]){re.escape(written)}(?![\w`])", f"`{view}`", statement)
        return statement


def _plain(name: str) -> str:
    return re.sub(r"[\s`]+", "", name).lower()
