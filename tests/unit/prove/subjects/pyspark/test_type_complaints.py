"""A complaint of Spark's about a column that the sample gives as a text names the option and that very column."""

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException

from streamproof.prove.subjects.pyspark.child import _stopped
from streamproof.prove.subjects.pyspark.told import Told, ToldInput
from streamproof.prove.subjects.pyspark.type_complaints import typed_by_schema

CLICKS = ToldInput("clicks", "json", "id string, user string, at string, n long")
ORDERS = ToldInput("orders", "csv", "ref string, `placed at` string", kept=("ref", "placed at"))
EVENT_TIME = '[EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE] The event time `at` has the invalid type "STRING", but expected "TIMESTAMP". SQLSTATE: 42K09;'
MISMATCH = (
    '[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] Cannot resolve "{}" due to data type mismatch: The first parameter requires the {} type, '
    'however "{}" has the type "STRING". SQLSTATE: 42K09;\n\'Project [user]\n+- StreamingRelation [id, user, at]'
)


@pytest.mark.parametrize(
    ("said", "inputs", "option"),
    [
        (EVENT_TIME, [CLICKS], "--schema 'clicks=id string, user string, at timestamp, n long'"),
        (EVENT_TIME, [ORDERS, CLICKS], "--schema 'clicks=id string, user string, at timestamp, n long'"),
        (
            EVENT_TIME.replace("`at`", "`placed at`"),
            [CLICKS, ORDERS],
            "--schema 'orders=ref string, `placed at` timestamp'",
        ),
        (EVENT_TIME.replace("`at`", "`c`.`at`"), [CLICKS], "at timestamp"),
        (MISMATCH.format("bround(user, 2)", '"DOUBLE"', "user"), [CLICKS], "user double"),
        (
            MISMATCH.format("bround(user, 2)", '"DOUBLE"', "user"),
            [ToldInput("clicks", "json", "data string, type string, user string")],
            "user double",
        ),
        (
            MISMATCH.format("(at - type)", '"INTERVAL"', "at"),
            [ToldInput("clicks", "json", "type string, at string")],
            "at timestamp",
        ),
        (MISMATCH.format("window(at)", '("TIMESTAMP" or "TIMESTAMP_NTZ")', "at"), [CLICKS], "at timestamp"),
        (MISMATCH.format("sum(user)", '("NUMERIC" or "ANSI INTERVAL")', "user"), [CLICKS], "user double"),
    ],
)
def test_the_option_has_the_column_with_its_type(said, inputs, option):
    assert option in typed_by_schema(said, inputs)


def test_a_value_without_a_column_names_the_texts_and_not_the_value():
    said = '[CAST_INVALID_INPUT] The value \'u17\' of the type "STRING" cannot be cast to "BIGINT" because it is malformed. Correct the value.'

    remedy = typed_by_schema(f"Query terminated with exception: {said}\n== SQL ==", [CLICKS])

    assert "gives id, user, at as texts" in remedy
    assert "u17" not in remedy
    assert "long" in remedy


@pytest.mark.parametrize(
    ("said", "inputs"),
    [
        ("[UNRESOLVED_COLUMN] A column `at` cannot be resolved.", [CLICKS]),
        (EVENT_TIME, [ToldInput("clicks", "json", "at string", kafka=True)]),
        (EVENT_TIME.replace("`at`", "`n`"), [ToldInput("clicks", "json", "n long")]),
    ],
)
def test_other_complaints_are_left_alone(said, inputs):
    assert typed_by_schema(said, inputs) == ""


def test_it_is_the_remedy_of_the_job_that_stopped():
    told = Told("job.py", "job", [CLICKS])

    assert "at timestamp" in (_stopped(AnalysisException(EVENT_TIME), [], told).remedy or "")
    assert "at timestamp" in (_stopped(StreamingQueryException(EVENT_TIME), [], told).remedy or "")
    assert not _stopped(AnalysisException("[NOT_SO] x"), [], told).remedy
