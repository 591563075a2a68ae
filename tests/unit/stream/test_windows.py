"""Kinds of windows: what is refused, and how a checkpoint calls each."""

import pytest

import streamproof as sp
from streamproof.errors import JobDefinitionError
from streamproof.stream import Stream
from streamproof.stream.node import source
from streamproof.stream.operators import RequireGap


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: sp.tumbling("0 seconds"), "a window needs a size greater than zero"),
        (lambda: sp.tumbling("soon"), '"soon" is not a duration'),
        (lambda: sp.tumbling(30), "a duration is a text"),
        (lambda: sp.tumbling("1500 us"), "is not a whole number of milliseconds"),
        (lambda: sp.tumbling("1 minute", offset="1 minute"), "the offset is not shorter than the size"),
        (lambda: sp.hopping("1 minute", every="2 minutes"), "every is longer than the size"),
        (lambda: sp.hopping("1 minute", every="0 s"), "windows need a hop greater than zero"),
        (lambda: sp.hopping("1 day", every="1 second"), "an event would be in 86,400 windows"),
        (lambda: sp.hopping("10 minutes", every="1 minute", offset="2 minutes"), "is not shorter than every"),
        (lambda: sp.session("0 seconds"), "a session needs a gap greater than zero"),
        (lambda: sp.session("1 minute", longest="soon"), '"soon" is not a duration'),
        (lambda: sp.session("1 minute", longest="1 minute"), "the longest session is not longer than the gap"),
        (lambda: sp.session(30), "got a int"),
        (
            lambda: sp.session(sp.gap_of("idle", at_most="1 hour"), longest="1 hour"),
            "the longest session is not longer than the gap",
        ),
        (lambda: sp.gap_of("idle"), "has no at_most"),
        (lambda: sp.gap_of("idle", at_most="0 seconds"), "the longest gap is greater than zero"),
        (lambda: sp.gap_of("idle", at_most="-1 hour"), "is not a duration"),
        (lambda: sp.gap_of("idle", at_most="soon"), '"soon" is not a duration'),
        (lambda: sp.gap_of(""), "got an empty name"),
        (lambda: sp.gap_of(30, at_most="1 hour"), "got a int"),
        (lambda: sp.calendar("year", zone="UTC"), "no such unit"),
        (lambda: sp.calendar("day", zone="Europe/Berln"), 'no such time zone. Did you mean "Europe/Berlin"?'),
        (lambda: sp.calendar("day", zone=""), "no such time zone"),
        (lambda: sp.calendar("day", zone="../etc/passwd"), "no such time zone"),
        (lambda: sp.shifts(zone="Europe/Berlin"), "no time is given"),
        (lambda: sp.shifts("06:00", "14:00", "06:00", zone="UTC"), '"06:00" stands there twice'),
        (lambda: sp.shifts("22:00", "06:00", zone="UTC"), '"06:00" stands behind "22:00"'),
        (lambda: sp.shifts("early", zone="UTC"), '"early" is no time of day'),
        (lambda: sp.shifts("6:00", zone="UTC"), '"6:00" is no time of day'),
        (lambda: sp.shifts("00:00", "24:00", zone="UTC"), '"24:00" is no time of day'),
        (lambda: sp.shifts("12:60", zone="UTC"), '"12:60" is no time of day'),
        (lambda: sp.shifts("06:00\n", zone="UTC"), "is no time of day"),
        (lambda: sp.shifts("٠٦:٠٠", zone="UTC"), "is no time of day"),
        (lambda: sp.shifts(6, zone="UTC"), "a int is no time of day"),
        (lambda: sp.shifts(("06:00", "14:00"), zone="UTC"), "a tuple is no time of day"),
        (lambda: sp.shifts("06:00", "Europe/Berlin"), '"Europe/Berlin" is no time of day'),
        (lambda: sp.shifts("06:00"), "has no zone"),
        (lambda: sp.shifts("06:00", zone="Europe/Berln"), 'no such time zone. Did you mean "Europe/Berlin"?'),
    ],
)
def test_a_window_that_makes_no_sense_is_refused_with_its_call(make, said):
    with pytest.raises(JobDefinitionError) as refused:
        make()

    assert said in refused.value.message
    assert refused.value.message.startswith(("tumbling(", "hopping(", "session(", "calendar(", "shifts(", "gap_of("))


def test_sessions_are_those_of_a_key():
    stream = Stream(source("visits"))

    with pytest.raises(JobDefinitionError, match="session 5 minutes"):
        stream.window(sp.session("5 minutes"))

    stream.window(sp.session("5 minutes"), by="user")
    stream.window(sp.tumbling("5 minutes"))


def test_r25_a_checkpoint_is_bound_to_every_part_of_a_window():
    names = [
        str(window)
        for window in (
            sp.tumbling("30 seconds"),
            sp.tumbling("30 seconds", offset="7 seconds"),
            sp.hopping("10 minutes", every="1 minute"),
            sp.hopping("10 minutes", every="1 minute", offset="7 seconds"),
            sp.session("30 minutes"),
            sp.session("30 minutes", longest="8 hours"),
            sp.session(sp.gap_of("idle", at_most="2 hours")),
            sp.session(sp.gap_of("idle", at_most="120 minutes"), longest="8 hours"),
            sp.calendar("day", zone="Europe/Berlin"),
            sp.shifts("06:00", "22:00", zone="Europe/Berlin"),
        )
    ]

    assert names == [
        "tumbling 30 seconds",
        "tumbling 30 seconds offset 7 seconds",
        "hopping 10 minutes every 1 minute",
        "hopping 10 minutes every 1 minute offset 7 seconds",
        "session 30 minutes",
        "session 30 minutes cut every 8 hours",
        "session gap of idle at most 2 hours",
        "session gap of idle at most 2 hours cut every 8 hours",
        "calendar day Europe/Berlin",
        "shifts 06:00 22:00 Europe/Berlin",
    ]


GAP = sp.gap_of("idle", at_most="2 hours")


def test_what_a_gap_by_a_column_requires_stands_before_any_state_and_leaves_the_steps_as_they_are():
    once = Stream(source("visits")).deduplicate("id")
    visits = once.window(sp.session(GAP), by="user").aggregate(n=sp.sketch.distinct("id"))

    (way,) = visits.node.branches
    assert way.steps == (RequireGap(GAP),)
    assert [operator.name for operator in way.behind] == ["deduplicate", "window"]
    assert sp.Outputs(visits=visits, rejected=once.rejected).sides_of("visits")  # what stands before the window rejects it too


@pytest.mark.parametrize("emit", ["early", "corrections"])
def test_sessions_with_gaps_of_their_own_are_final_and_not_behind_a_window(emit):
    stream = Stream(source("visits"))

    with pytest.raises(JobDefinitionError, match="sessions have no rows before they are final"):
        stream.window(sp.session(GAP), by="user", emit=emit)
    with pytest.raises(JobDefinitionError, match="A session stands behind another window"):
        stream.window(sp.tumbling("1 minute"), by="user").aggregate(n=sp.sketch.distinct("id")).window(sp.session(GAP), by="user")
    with pytest.raises(JobDefinitionError, match="without a key"):
        stream.window(sp.session(GAP))
