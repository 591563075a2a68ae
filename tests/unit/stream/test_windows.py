"""Kinds of windows: what is refused, and how a checkpoint calls each."""

import pytest

import streamproof as sp
from streamproof.errors import JobDefinitionError
from streamproof.stream import Stream
from streamproof.stream.recipe import Recipe


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
        (lambda: sp.calendar("year", zone="UTC"), "no such unit"),
        (lambda: sp.calendar("day", zone="Europe/Berln"), 'no such time zone. Did you mean "Europe/Berlin"?'),
        (lambda: sp.calendar("day", zone=""), "no such time zone"),
        (lambda: sp.calendar("day", zone="../etc/passwd"), "no such time zone"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused_with_its_call(make, said):
    with pytest.raises(JobDefinitionError) as refused:
        make()

    assert said in refused.value.message
    assert refused.value.message.startswith(("tumbling(", "hopping(", "session(", "calendar("))


def test_sessions_are_those_of_a_key():
    stream = Stream(Recipe("visits"))

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
            sp.calendar("day", zone="Europe/Berlin"),
        )
    ]

    assert names == [
        "tumbling 30 seconds",
        "tumbling 30 seconds offset 7 seconds",
        "hopping 10 minutes every 1 minute",
        "hopping 10 minutes every 1 minute offset 7 seconds",
        "session 30 minutes",
        "session 30 minutes cut every 8 hours",
        "calendar day Europe/Berlin",
    ]
