"""Logs without the values of rows: of an error the class, the condition and the places stay; the JVM goes by the same patterns."""

import json
import re
from pathlib import Path

import pytest

import streamproof
from streamproof.core.masking import unquoted
from streamproof.core.trace_texts import KEPT, OTHER_LINES, SAID, without_values

HOME = Path(streamproof.__file__).parent
CAST = """09:08:11 ERROR Executor: Exception in task 0.0 in stage 0.0 (TID 0)
org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'ann@example.org
at home' of the type "STRING" cannot be cast to "INT". SQLSTATE: 22018
== DataFrame ==
"cast" was called from
/jobs/job.py:12

\tat org.apache.spark.sql.errors.QueryExecutionErrors$.invalid(QueryExecutionErrors.scala:132)
\tat java.base/java.lang.Thread.run(Thread.java:840)
\t... 12 more
Caused by: java.lang.NumberFormatException: For input string: ann@example.org"""
PYTHON = """2026-11-29 09:08:11,881 ERROR py4j.clientserver: There was an exception while executing the Python Proxy.
Traceback (most recent call last):
  File "/jobs/job.py", line 7, in to_int
    return int(text)
ValueError: invalid literal for int() with base 10: 'ann@example.org'"""
LOST = "09:08:11 WARN TaskSetManager: Lost task 0.0 (TID 0): a.B$CException: [UNDER_SCORE] ann@example.org"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            CAST,
            """09:08:11 ERROR Executor: Exception in task 0.0 in stage 0.0 (TID 0)
org.apache.spark.SparkNumberFormatException [CAST_INVALID_INPUT]
"cast" was called from
/jobs/job.py:12
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.invalid(QueryExecutionErrors.scala:132)
\tat java.base/java.lang.Thread.run(Thread.java:840)
\t... 12 more
Caused by: java.lang.NumberFormatException """,
        ),
        (
            PYTHON,
            """2026-11-29 09:08:11,881 ERROR py4j.clientserver: There was an exception while executing the Python Proxy.
Traceback (most recent call last):
  File "/jobs/job.py", line 7, in to_int
ValueError """,
        ),
        (LOST, "09:08:11 WARN TaskSetManager: Lost task 0.0 (TID 0): a.B$CException [UNDER_SCORE]"),
        ("[CAST_INVALID_INPUT] The value 'ann@example.org'", "[CAST_INVALID_INPUT] "),
        ("INFO A: [queryId = 5b] [batchId = 0] aborting\n", "INFO A: [queryId = 5b] [batchId = 0] aborting"),
    ],
    ids=["cast", "python", "lost task", "condition", "no error"],
)
def test_of_an_error_only_class_condition_and_places_stay(said, left):
    assert without_values(said) == left


def test_what_the_jvm_logs_goes_by_the_same_patterns():
    text = _pattern_of((HOME / "log4j2.properties").read_text())
    record = json.loads((HOME / "log4j2-record.json").read_text())
    of_json = record["message"]

    for pattern in (text, of_json["pattern"]):
        assert f"}}{{{SAID}}}{{{KEPT}}}}}{{{OTHER_LINES}}}{{}}" in pattern
        assert pattern.count("%m%n%ex}") == 1, "frames without the jars that they are from"
    patterns = [one for one in record.values() if one is not None and one["$resolver"] == "pattern"]
    assert [one["stackTraceEnabled"] for one in patterns] == [False, False], "else the whole trace stands behind"
    assert "alwaysWriteExceptions = false" in (HOME / "log4j2.properties").read_text()


@pytest.mark.parametrize("pattern", [SAID, OTHER_LINES])
def test_log4j_takes_the_patterns_for_one_option(pattern):
    assert not set("{}") & set(pattern), "it counts braces"
    re.compile(pattern)


def _pattern_of(properties: str) -> str:
    line = next(line for line in properties.splitlines() if "layout.pattern" in line)
    return line.partition(" = ")[2].replace("\\\\", "\\")


def test_what_stands_in_quotes_is_said_by_its_shape():
    said = unquoted("Fail to parse 'ann@example.org' of bob@example.org in column `who`")
    assert said == "Fail to parse (text of 15 characters) of (text of 15 characters) in column `who`"
    assert unquoted("No module named 'psycopg'") == "No module named 'psycopg'"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The value 'Jane O'Neil, 4111' of the type", "The value (text of 17 characters) of the type"),
        ("The value 'O'Brien' is bad", "The value (text of 7 characters) is bad"),
        ("The value '4111-1111\nJane' of the type", "The value (text of 9 characters)\nJane' of the type"),
        ("can't read 'Jane's card' in", "can't read (text of 11 characters) in"),
    ],
)
def test_an_apostrophe_ends_no_quoted_value(text, said):
    assert unquoted(text) == said
