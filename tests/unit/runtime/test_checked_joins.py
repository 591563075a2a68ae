"""What `check` finds in a join before Spark runs: the columns of both sides, and what comes out of it."""

import pytest

from streamproof.config import FilesSource
from streamproof.connectors.files.source import FolderSource
from streamproof.errors import JobDefinitionError
from streamproof.runtime.checks.recorded_rows import Reader
from streamproof.runtime.checks.rehearse_main import look_along
from streamproof.stream.node import source as leaf
from streamproof.stream.stream import Stream


def source(schema, column="ts"):
    time = {} if column is None else {"event_time": {"column": column}}
    return FolderSource("one", FilesSource(connector="files", path="data", format="json", schema=schema, **time))


ORDERS = source("id string, ts long, total double")


def checked(payments, *, on="id", behind=None):
    joined = Stream(leaf("orders")).join(Stream(leaf("payments")), on=on, between=("0 seconds", "1 hour"))
    root = (joined if behind is None else joined.transform(behind)).node
    reader = Reader()
    try:
        look_along(root, {"orders": ORDERS, "payments": payments}, reader)
    except JobDefinitionError as problem:
        reader.wrong(problem)
    if reader.problems:
        raise reader.problems[0]


def test_streams_with_other_columns_and_other_event_times_pass():
    checked(source("id string, at long, method string", "at"))


@pytest.mark.parametrize(
    ("payments", "said"),
    [
        (source("ts long, method string"), 'join\\(on=...\\) needs the column "id"'),
        (source("id string, ts long", None), "the source payments, which declares no event time"),
        (source("id string, ts long, ts_right long"), "gives two columns ts_right"),
    ],
)
def test_what_is_wrong_is_named(payments, said):
    with pytest.raises(JobDefinitionError, match=said):
        checked(payments)


def test_a_key_that_only_the_right_stream_has_is_named():
    with pytest.raises(JobDefinitionError, match='needs the column "method"'):
        checked(source("id string, ts long, method string"), on="method")


def test_behind_it_the_columns_of_both_are_known():
    payments = source("id string, ts long, method string")
    checked(payments, behind=lambda rows: rows.select("id", "ts", "ts_right", "method", "total"))

    with pytest.raises(JobDefinitionError, match="id_right"):
        checked(payments, behind=lambda rows: rows.selectExpr("id_right"))
