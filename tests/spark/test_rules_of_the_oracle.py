"""R28, R32: which rules hold for a row, and which fail on it, as the oracle asks Spark; the function of the product gives the same."""

from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import functions as F

from streamproof._jvm import rules_holding
from streamproof.prove.oracle.operators.rules import Rules
from streamproof.prove.scenario.generate import TRACE
from streamproof.prove.subjects.job.table_states import TableState

CONDITIONS = {
    "alternative": "amount / fee > 400 or country = 'US'",
    "asked": "amount / fee is null",
    "cast": "cast(country as int) > 0",
    "fallback": "coalesce(amount / fee, 500) > 400",
    "first": "country = 'US' or amount / fee > 400",
    "since": "ts > timestamp '2026-01-05 09:00:00'",
    "wide": "small * 2000000000 > 0",
}
EXPECTED = {
    "1": (["alternative", "fallback", "first", "since", "wide"], ["cast"]),
    "2": (["first"], ["alternative", "asked", "cast", "fallback", "wide"]),
    "3": (["asked", "cast", "fallback"], []),
    "4": (["alternative", "fallback", "first", "wide"], ["cast"]),
    "5": (["wide"], ["alternative", "asked", "cast", "fallback", "first"]),
}


def of_oracle(rows):
    table = pa.table({"rule": list(CONDITIONS), "condition": list(CONDITIONS.values())})
    found = TableState.of(table, None, None).ruled(rows, Rules("limits", "rule", "condition", "hits"))
    return {row[TRACE]: (row["hits"], row["hits_failed"]) for row in found.collect()}


def of_product(rows):
    rules = F.array(*[F.struct(F.lit(name).alias("name"), F.lit(text).alias("condition")) for name, text in CONDITIONS.items()])
    found = rules_holding(rows.sparkSession, rows.schema, F.struct(*rows.columns), rules)
    return {row[0]: (row[1]["holds"], row[1]["fails"]) for row in rows.select(TRACE, found).collect()}


def test_r32_what_fails_on_a_row_is_told_from_what_does_not_hold(spark):
    nine, ten = datetime(2026, 1, 5, 9, tzinfo=UTC), datetime(2026, 1, 5, 10, tzinfo=UTC)
    rows = spark.createDataFrame(
        [
            ("1", 900.0, 2, "DE", 1, ten),
            ("2", 900.0, 0, "US", 2, nine),
            ("3", 100.0, None, "7", None, None),
            ("4", 500.0, 1, "US", 1, None),
            ("5", 1.0, 0, "FR", 1, None),
        ],
        f"{TRACE} string, amount double, fee int, country string, small int, ts timestamp",
    )

    assert of_oracle(rows) == EXPECTED
    assert of_product(rows) == EXPECTED
