"""Unions: what is put together, in which order, and what is refused."""

import pytest

import streamproof as sp
from streamproof.core.sides import REJECTED
from streamproof.errors import JobDefinitionError
from streamproof.stream.node import source
from streamproof.stream.stream import Stream
from streamproof.stream.together import require_alike, require_one_event_time


def stream(name):
    return Stream(source(name))


def test_each_source_has_its_own_steps_and_those_behind_the_union():
    a, b, c = stream("a").require(one="x > 1"), stream("b"), stream("c").filter("x > 2", name="small")
    root = a.union(b).require(two="x < 9").union(c).filter("x <> 5", name="five").node

    named = {branch.source: [type(step).__name__ for step in branch.steps] for branch in root.branches}

    assert named == {"a": ["Require", "Require", "Filter"], "b": ["Require", "Filter"], "c": ["Filter", "Filter"]}
    assert root.sources == ("a", "b", "c")
    kinds = [type(one).__name__ for one in root.operators]
    assert kinds == ["Source", "Require", "Source", "Union", "Require", "Source", "Filter", "Union", "Filter"]


def test_what_is_put_together_is_aggregated_like_one_stream():
    root = stream("a").union(stream("b")).deduplicate("id").node

    assert (root.stateful, root.sources) == (True, ("a", "b"))


def test_a_stream_behind_state_is_refused():
    once = stream("a").deduplicate("id")
    for call in (lambda: once.union(stream("b")), lambda: stream("b").union(once)):
        with pytest.raises(JobDefinitionError, match=r"after deduplicate\(\)") as error:
            call()
        assert "Put the streams together first" in error.value.remedy


def test_two_streams_of_one_source_are_refused():
    a = stream("a")
    with pytest.raises(JobDefinitionError, match="two streams of the source a together") as error:
        a.filter("x > 1", name="one").union(stream("b").union(a))
    assert "count twice" in error.value.required


def test_what_is_no_stream_is_refused():
    with pytest.raises(JobDefinitionError, match="got a SideOutput"):
        stream("a").union(stream("b").rejected)


def test_other_columns_are_named_with_their_sources():
    with pytest.raises(JobDefinitionError) as error:
        require_alike({"a": {"x": "int", "y": "string"}, "b": {"z": "string", "x": "bigint"}})

    assert error.value.message == ("union() of streams with other columns: b has no y; a has no z; x is a int in a, a bigint in b.")
    require_alike({"a": {"x": "int", "y": "string"}, "b": {"y": "string", "x": "int"}})


def test_event_times_of_other_names_are_refused():
    with pytest.raises(JobDefinitionError, match="called differently: ts in a, at in b"):
        require_one_event_time({"a": "ts", "b": "at"})
    require_one_event_time({"a": "ts", "b": "ts"})


def test_rejected_rows_of_all_sources_leave_by_one_output_whichever_stream_it_is_taken_from():
    a, b = stream("a").require(one="x > 1"), stream("b").require(one="x > 2")
    both = a.union(b)
    for taken in (a, b, both):
        assert sp.Outputs(rows=both, bad=taken.rejected).sides_of("rows") == {REJECTED: "bad"}
    with pytest.raises(JobDefinitionError, match="no main output"):
        sp.Outputs(rows=both, bad=stream("c").rejected)
