"""A window after a window: what may follow which, and what is refused with its reason."""

import pytest

import streamproof as sp
from streamproof.core.durations import parse_duration
from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates import Declared
from streamproof.stream.node import source
from streamproof.stream.stream import Stream


class Aggregate:
    """Stands for a PySpark column."""

    alias = None


def minutes(window=None, by=("client", "venue"), lateness="0 seconds"):
    first = Stream(source("trades")).window(window or sp.tumbling("1 minute"), by=by, allowed_lateness=lateness)
    return first.aggregate(n=Aggregate())


def test_hours_of_minutes_wait_for_the_longer_lateness_and_the_second_gives_the_rows():
    hours = (
        minutes(lateness="5 minutes")
        .window(sp.tumbling("1 hour"), by="client", allowed_lateness="1 minute")
        .aggregate(most=Aggregate())
    )

    root = hours.node
    assert root.allowed_lateness == parse_duration("5 minutes")
    assert root.last is root.keeping[1]
    assert [str(operator.window) for operator in root.keeping] == ["tumbling 1 minute", "tumbling 1 hour"]
    assert hours.transform(lambda rows: rows).node.last is root.last
    assert minutes(sp.session("1 minute")).window(sp.calendar("day", zone="UTC")).aggregate(n=Aggregate()).node.stateful
    assert minutes().window(sp.shifts("06:00", zone="UTC"), by="client").aggregate(n=Aggregate()).node.stateful


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: minutes().window(sp.hopping("1 hour", every="5 minutes")), "A window that overlaps stands behind another"),
        (lambda: minutes().window(sp.session("1 hour")), "A session stands behind another window"),
        (lambda: minutes().window(sp.tumbling("1 hour"), by="n"), "behind a window that is not by n"),
        (lambda: minutes().transform(lambda rows: rows).window(sp.tumbling("1 hour")), r"transform\(\) stands between two windows"),
        (
            lambda: minutes().window(sp.tumbling("1 hour")).aggregate(n=Aggregate()).window(sp.tumbling("1 day")),
            "A third window stands behind two",
        ),
        (lambda: minutes().deduplicate("client"), r"deduplicate\('client'\) stands behind a window"),
    ],
)
def test_what_could_not_be_accounted_for_is_refused(asked, said):
    with pytest.raises(JobDefinitionError, match=said) as error:
        asked()
    assert error.value.required
    assert error.value.remedy


def test_accumulators_and_sketches_in_either_are_refused():
    class Sketch(Declared):
        alias = None

        def column(self, name, rows):
            raise NotImplementedError

        def __str__(self):
            return "sketch"

    declared = Stream(source("trades")).window(sp.tumbling("1 minute")).aggregate(most=Sketch())
    for call in (
        lambda: declared.window(sp.tumbling("1 hour")).aggregate(n=Aggregate()),
        lambda: minutes().window(sp.tumbling("1 hour")).aggregate(most=Sketch()),
    ):
        with pytest.raises(JobDefinitionError, match=r"aggregate\(most=...\) is declared"):
            call()
