"""The formats of files that sources read: of each what the rest of the product asks about it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FileFormat:
    """One format of files.

    Parameters
    ----------
    name
        As the configuration has it, and as the generator's files end.
    title
        As people write it.
    spark
        The name of Spark's reader.
    typed
        Whether its files say their columns and types: nothing in them is parsed, spoilt or kept as bytes.
    """

    name: str
    title: str
    spark: str
    typed: bool = False

    @property
    def ending(self) -> str:
        return f".{self.name}"


FILE_FORMATS: Mapping[str, FileFormat] = {
    each.name: each
    for each in (
        FileFormat("json", "JSON", "text"),
        FileFormat("csv", "CSV", "io.streamproof.CsvFiles"),
        FileFormat("text", "text", "text"),
        FileFormat("parquet", "Parquet", "parquet", typed=True),
        FileFormat("orc", "ORC", "orc", typed=True),
        FileFormat("avro", "Avro", "org.apache.spark.sql.avro.AvroFileFormat", typed=True),
    )
}
TYPED = tuple(each.name for each in FILE_FORMATS.values() if each.typed)
