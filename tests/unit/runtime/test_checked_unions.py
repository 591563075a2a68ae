"""What `check` finds in a union before Spark runs, and how the doors that each of its sources has are added up."""

import pytest

from streamproof.config import FilesSource
from streamproof.connectors.files.source import FolderSource
from streamproof.errors import JobDefinitionError
from streamproof.runtime.checks.recorded_rows import Reader
from streamproof.runtime.checks.rehearse_main import look_along
from streamproof.runtime.rows.reports import sums_by_output
from streamproof.stream.node import source as leaf
from streamproof.stream.stream import Stream


def source(schema, column="ts"):
    time = {} if column is None else {"event_time": {"column": column}}
    return FolderSource("one", FilesSource(connector="files", path="data", format="json", schema=schema, **time))


def checked(orders, refunds, change=None):
    one, other = Stream(leaf("orders")), Stream(leaf("refunds"))
    root = one.union(other if change is None else other.transform(change)).deduplicate("id").node
    reader = Reader()
    try:
        look_along(root, {"orders": orders, "refunds": refunds}, reader)
    except JobDefinitionError as problem:
        reader.wrong(problem)
    if reader.problems:
        raise reader.problems[0]


def test_sources_with_the_same_columns_in_any_order_pass():
    checked(source("id string, ts long"), source("ts long, id string"))


@pytest.mark.parametrize(
    ("refunds", "said"),
    [
        (source("id string, ts long, amount double"), "orders has no amount"),
        (source("id string, at long", "at"), "called differently: ts in orders, at in refunds"),
        (source("id string, ts long", None), "the source refunds, which declares no event time"),
        (source("ts long"), 'needs the column "id"'),
    ],
)
def test_what_differs_is_named(refunds, said):
    with pytest.raises(JobDefinitionError, match=said):
        checked(source("id string, ts long"), refunds)


def test_behind_a_transform_columns_are_left_to_spark():
    checked(source("id string, ts long"), source("id string, ts long, amount double"), lambda rows: rows.drop("amount"))


def report(door, partition, rows):
    told = {"floats": [], "absolutes": [], "file": None, "reasons": {}, "records": 0, "hash": rows}
    return {"door": door, "partition": partition, "attempt": partition, "batch": 0, "rows": rows, **told}


def test_a_door_that_every_source_has_is_added_up_under_its_name():
    sums = sums_by_output(
        [report("filtered.small", 0, 2), report("filtered.small\t2", 3, 5), report("expanded", 0, 1), report("late.1", 0, 4)]
    )

    assert {name: found.rows for name, found in sums.items()} == {"filtered.small": 7, "expanded": 1, "late": 4}
