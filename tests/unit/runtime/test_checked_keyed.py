"""What `check` finds in declared state before Spark runs."""

import pytest

import streamproof as sp
from streamproof.config import FilesSource
from streamproof.connectors.files.source import FolderSource
from streamproof.runtime.checks.recorded_rows import Reader
from streamproof.runtime.checks.rehearse_main import look_along
from streamproof.stream.node import source
from streamproof.stream.stream import Stream


def problems(schema, starts="0L"):
    event_time = {"column": "ts"}
    given = FolderSource("rows", FilesSource(connector="files", path="data", format="json", schema=schema, event_time=event_time))
    set_ = {"total": "total + v"}
    kept = Stream(source("rows")).keyed(
        "k", state={"total": starts}, on_row=sp.step(set=set_, emit=sp.emit("k", "total")), ttl="1 day"
    )
    reader = Reader()
    look_along(kept.node, {"rows": given}, reader)
    return [one.message for one in reader.problems]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("k string, v bigint, ts timestamp", None),
        ("k string, v bigint, ts timestamp, Total bigint", "keyed() has a field total, and the rows have a column of that name"),
        ("k string, v bigint, ts timestamp, each bigint", "keyed() calls something of its own each"),
        ("k string, v double, ts timestamp", "is double, and the field is bigint"),
        ("k string, ts timestamp", '"v"'),
    ],
)
def test_names_and_types_that_do_not_fit_are_said(schema, said):
    found = problems(schema)
    assert found == [] if said is None else [said in one for one in found] == [True]
