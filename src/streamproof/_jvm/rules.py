"""Conditions that come as data: which of them hold for a row, and which are none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof._jvm.java import java_call, java_class

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType


def rules_holding(spark: "SparkSession", columns: "StructType", row: "Column", rules: "Column") -> "Column":
    """Of rules (array of a name and a condition) over a row (struct): `holds` and `fails`, the names (arrays) of those that do."""
    return java_call(java_class(spark, "RulesHolding").function(columns.json()), row, rules)


def problems_of_rules(spark: "SparkSession", columns: str, conditions: Sequence[str]) -> list[str]:
    """Why each condition is none over columns (the JSON of their type); empty where it is one."""
    return list(java_class(spark, "RulesHolding").problems(spark._jsparkSession, columns, list(conditions)))
