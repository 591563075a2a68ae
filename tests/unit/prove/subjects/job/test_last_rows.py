"""Of which sinks a proof holds one row of each key against the model."""

from types import SimpleNamespace

import pytest

from streamproof.config import FilesSink, HttpSink, PostgresSink, RedisSink
from streamproof.prove.oracle.facts import Facts, LastRows
from streamproof.prove.subjects.job.last_rows import one_of_key


def arrivals(*, grouped=None, traced=True):
    holding = {"gone": frozenset({"e-1"})}.__getitem__
    return SimpleNamespace(query=SimpleNamespace(grouped=grouped), traced=traced, holding=holding)


def table(**more):
    return PostgresSink(connector="postgres", url="postgresql://x", table="t", **more)


UPSERT = {"mode": "upsert", "key": ("id",)}


@pytest.mark.parametrize(
    ("sink", "found"),
    [
        (table(**UPSERT), LastRows(("id",))),
        (table(**UPSERT, order_by="v", delete="gone"), LastRows(("id",), "v", frozenset({"e-1"}))),
        (table(**UPSERT, version="v", deleted="d"), Facts(("id",), "v", "d")),
        (table(), None),
        (
            RedisSink(connector="redis", url="redis://x", key=("id",), prefix="k:", delete="gone"),
            LastRows(("id",), None, frozenset({"e-1"})),
        ),
        (HttpSink(connector="http", url="http://x", key=("id",)), None),
        (FilesSink(connector="files", path="out"), None),
    ],
)
def test_a_table_whose_rows_take_the_place_of_others_has_one_of_each_key(sink, found):
    assert one_of_key(SimpleNamespace(sink={"newest": sink}), "newest", arrivals()) == found


def test_windows_have_revisions_and_rows_without_a_trace_are_no_rows_of_the_model():
    config = SimpleNamespace(sink={"newest": table(**UPSERT)})

    assert one_of_key(config, "newest", arrivals(grouped=object())) is None
    assert one_of_key(config, "newest", arrivals(traced=False)) is None
    assert one_of_key(config, "others", arrivals()) is None
