"""Keys of sinks: one text for each key, and never one for two."""

from pyspark.sql import functions as F

from streamproof.connectors.keys import key_bytes, key_text, null_key

VALUES = [None, "", "a", "|", "a|", "|a", "\\", "\\N", "\\\\N", "N", "\\|", "a\\", "\\a"]


def test_no_two_keys_of_several_columns_become_one_text(spark):
    rows = [(one, other) for one in VALUES for other in VALUES]
    found = spark.createDataFrame(rows, "a string, b string")

    texts = [row[0] for row in found.select(key_text(found, ["a", "b"])).collect()]

    assert len(set(texts)) == len(rows)
    by_key = dict(zip(rows, texts, strict=True))
    assert by_key["a", ""] == "a|"
    assert (by_key[None, "a"], by_key["a", None]) == (r"\N|a", r"a|\N")
    assert (by_key["a|", "a"], by_key["a", "|a"]) == (r"a\||a", r"a|\|a")


def test_a_key_of_one_column_is_the_value_itself_and_no_value_is_a_null(spark):
    found = spark.createDataFrame([(value,) for value in VALUES], "a string")

    texts = dict(zip(VALUES, [row[0] for row in found.select(key_text(found, ["a"])).collect()], strict=True))

    assert len(set(texts.values())) == len(VALUES)
    assert texts[None] == r"\N" == null_key(["x"])
    assert texts["\\N"] == r"\\N"
    assert all(texts[value] == value for value in VALUES if value is not None and not value.endswith("\\N"))
    assert [row[0] for row in found.select(key_bytes(found, ["a"])).collect()] == [
        None if value is None else bytearray(value.encode()) for value in VALUES
    ]


def test_arrays_structs_and_bytes_stay_apart_in_keys(spark):
    found = spark.createDataFrame(
        [(["a, b"], b"\xff", None), (["a", "b"], b"\xfe", None)], "a array<string>, b binary, c struct<x:int>"
    )

    texts = [row[0] for row in found.select(key_text(found, ["a", "b", "c"])).collect()]

    assert texts == [r'["a, b"]|/w==|\N', r'["a","b"]|/g==|\N']
    assert [bytes(row[0]) for row in found.select(key_bytes(found, ["b"])).collect()] == [b"\xff", b"\xfe"]
    assert found.select(key_bytes(found, []).alias("key")).filter(F.col("key").isNotNull()).count() == 0
