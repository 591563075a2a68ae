"""What `aggregate(spread=...)` takes, and what it refuses when the job function calls it (S13)."""

import pytest

import streamproof as sp
from streamproof.errors import JobDefinitionError
from streamproof.prove.oracle.operators.window import Window
from streamproof.prove.subjects.job.calls import stream_of
from streamproof.stream.node import source
from streamproof.stream.operators.spread import DEALS_ALIKE
from streamproof.stream.stream import Stream


class Column:
    """Stands for an aggregate of PySpark."""

    def alias(self, name):
        return self


def windowed(window=None):
    return Stream(source("trades")).window(window or sp.tumbling("30 seconds"), by="client")


def test_a_number_is_over_how_many_tasks_rows_are_dealt():
    made = windowed().aggregate(total=Column(), spread=8).node.operator

    assert (made.spread, list(made.aggregates)) == (8, ["total"])


def test_an_aggregate_may_be_called_so_and_keeps_its_place():
    made = windowed().aggregate(low=Column(), spread=Column(), high=Column()).node.operator

    assert (made.spread, list(made.aggregates)) == (None, ["low", "spread", "high"])


@pytest.mark.parametrize("given", [0, 1, -3, 1_001, True, 2.5, "8"])
def test_what_is_no_number_of_tasks_is_refused(given):
    with pytest.raises(JobDefinitionError, match=r"aggregate\(spread=.*\) is no number of tasks") as refused:
        windowed().aggregate(total=Column(), spread=given)

    assert "from 2 to 1,000" in str(refused.value)


def test_behind_a_window_there_is_nothing_to_deal():
    first = windowed().aggregate(total=Column(), spread=8)

    with pytest.raises(JobDefinitionError, match="stands behind another window"):
        first.window(sp.tumbling("1 hour"), by="client").aggregate(total=Column(), spread=8)


def test_only_a_session_has_to_be_told_that_tasks_aggregate_first():
    of_session = windowed(sp.session("30 seconds")).aggregate(total=Column(), spread=8).node

    assert of_session.settings == {**DEALS_ALIKE, "spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition": "true"}
    assert windowed(sp.session("30 seconds")).aggregate(total=Column()).node.settings == {}
    assert (
        windowed().aggregate(total=Column(), spread=8).node.settings
        == DEALS_ALIKE
        == {"spark.sql.execution.sortBeforeRepartition": "true"}
    )


def test_keys_are_watched_where_all_rows_of_one_come_to_a_task():
    def watched(window, **given):
        return windowed(window).aggregate(total=Column(), **given).node.operator.grouped_by

    assert watched(sp.session("30 seconds")) == ("client",)
    assert watched(sp.session("30 seconds"), spread=8) == watched(sp.tumbling("30 seconds")) == ()


def test_to_the_twin_it_is_no_aggregate():
    asked = stream_of("trades").window(sp.tumbling("30 seconds"), by="client").aggregate(total=Column(), spread=8).asked.call

    assert list(Window.of(asked.given).aggregates) == ["total"]
