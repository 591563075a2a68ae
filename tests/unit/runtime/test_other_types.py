"""A file whose columns have other types than the schema: which column, what it is in the file, what to declare."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.connectors.files.parquet_types import readable_as, without_schema
from streamproof.errors import DataError
from streamproof.runtime.spark.failures import translated


def refused(file, column, declared, actual):
    """As Spark says it."""
    return translated(
        RuntimeError(
            f"org.apache.spark.SparkException: [FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Encountered error while reading file "
            f"file://{file}. Data type mismatches when reading Parquet column [{column}]. Expected Spark type {declared}, actual Parquet type "
            f"{actual}. SQLSTATE: KD001"
        )
    )


def written(folder, **columns):
    pq.write_table(pa.table(columns), folder / "x.parquet")
    return folder / "x.parquet"


def test_an_int_for_a_double_is_named_with_both_types_and_the_line_to_write(tmp_path):
    error = refused(written(tmp_path, v=pa.array([1.5])), "v", "int", "DOUBLE")

    assert type(error) is DataError
    assert str(tmp_path / "x.parquet") in error.message
    assert "the column v is double there, and the schema says int" in error.message
    assert '"v double"' in error.remedy
    assert "whole file" not in error.remedy


def test_nanoseconds_are_declared_as_a_number_with_its_unit(tmp_path):
    error = refused(written(tmp_path, ts=pa.array([1], pa.timestamp("ns"))), "ts", "timestamp", "INT64")

    assert "timestamp[ns]" in error.message
    assert '"ts long"' in error.remedy
    assert 'unit = "nanoseconds"' in error.remedy


def test_a_file_that_is_not_on_this_machine_is_told_by_what_spark_knows():
    error = refused("/nowhere/x.parquet", "v", "int", "DOUBLE")

    assert "the column v is DOUBLE there, and the schema says int" in error.message
    assert '"v double"' in error.remedy


def test_a_field_within_a_column_and_a_column_of_another_shape(tmp_path):
    file = written(tmp_path, v=pa.array([{"a": 1.5}]))

    assert '"v struct<a: double>"' in refused(file, "v, a", "int", "DOUBLE").remedy
    shape = translated(
        RuntimeError(
            f"org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file://{file}.  SQLSTATE: KD001\n"
            "java.lang.ClassCastException: class org.apache.spark.sql.types.StringType$ cannot be cast to class "
            "org.apache.spark.sql.types.StructType"
        )
    )
    assert '"v struct<a: double>"' in shape.remedy
    assert "whole file" not in shape.remedy


def test_avro_of_another_type_names_the_column_and_both_types():
    error = translated(
        RuntimeError(
            "org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///d/x.avro. SQLSTATE: KD001\n"
            "org.apache.spark.sql.avro.IncompatibleSchemaException: Cannot convert Avro field 'v' to SQL field 'v' because schema is incompatible "
            '(avroType = "double", sqlType = "INT")'
        )
    )

    assert "the column v is double there, and the schema says int" in error.message
    assert '"v double"' in error.remedy


@pytest.mark.parametrize(
    ("type_", "ddl"),
    [
        (pa.timestamp("ns", "UTC"), "long"),
        (pa.timestamp("us", "UTC"), "timestamp"),
        (pa.timestamp("ms"), "timestamp_ntz"),
        (pa.uint32(), "long"),
        (pa.uint64(), "decimal(20,0)"),
        (pa.decimal128(10, 2), "decimal(10,2)"),
        (pa.dictionary(pa.int32(), pa.string()), "string"),
        (pa.list_(pa.float32()), "array<float>"),
        (pa.map_(pa.string(), pa.int64()), "map<string, long>"),
        (pa.time64("ns"), "long"),
        (pa.float16(), ""),
    ],
)
def test_the_type_that_spark_reads_a_column_of_parquet_as(type_, ddl):
    assert readable_as(type_) == ddl


def test_without_a_schema_the_whole_line_to_write_is_given(tmp_path):
    written(tmp_path, id=pa.array(["a"]), ts=pa.array([1], pa.timestamp("ns")))

    said = without_schema(str(tmp_path))

    assert 'schema = "id string, ts long"' in said
    assert 'unit = "nanoseconds"' in said
    assert without_schema(str(tmp_path / "none")) == ""
