"""R28: the oracle starts from the calls of the user's function, written down by a double that has the methods of the stream."""

import inspect
import sys
from datetime import timedelta
from types import SimpleNamespace

import pytest

import streamproof as sp
from streamproof.core.durations import parse_duration
from streamproof.errors import JobDefinitionError
from streamproof.prove.oracle.asked import Asked, AskedTime, Call
from streamproof.prove.oracle.durations import micros
from streamproof.prove.oracle.query import query_asked
from streamproof.prove.oracle.windows import PlainCalendar, PlainGap, PlainHopping, PlainSession, PlainShifts, PlainTumbling
from streamproof.prove.oracle.windows.written import plain_window
from streamproof.prove.subjects.job.calls import KINDS, AskedStream, AskedWindow, calls_of
from streamproof.stream import Stream, windows
from streamproof.stream.stream import WindowedStream

JOB = """
import streamproof as sp
from streamproof import Outputs, tumbling

MINUTE = tumbling("1 minute")

def doubled(rows):
    return rows

@sp.job
def totals(trades: sp.Stream) -> Outputs:
    checked = trades.require(positive="amount > 0").filter("client <> 'x'", name="no x").transform(doubled)
    once = checked.deduplicate("id", "client")
    by_client = once.window(MINUTE, by="client", allowed_lateness="90 s").aggregate(total="sum")
    return sp.Outputs(totals=by_client, plain=checked, late=by_client.late, rejected=checked.rejected)
"""


def config_of(tmp_path, text):
    (tmp_path / "job.py").write_text(text)
    return SimpleNamespace(root=tmp_path, entry="job.py:totals", file=tmp_path / "streamproof.toml")


@pytest.mark.parametrize(("double", "real"), [(AskedStream, Stream), (AskedWindow, WindowedStream)])
def test_the_double_has_the_methods_of_the_stream_and_their_parameters(double, real):
    def public(kind):
        members = (pair for one in kind.__mro__[:-1] for pair in vars(one).items())
        return {
            name: member
            for name, member in members
            if not name.startswith("_") and (callable(member) or isinstance(member, property))
        }

    def parameters(member):
        function = member.fget if isinstance(member, property) else member
        return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]

    assert public(double).keys() == public(real).keys()
    for name, member in public(real).items():
        assert type(public(double)[name]) is type(member)
        assert parameters(public(double)[name]) == parameters(member), name


def test_the_calls_are_written_down_as_they_were_given(tmp_path):
    asked = calls_of(config_of(tmp_path, JOB))

    assert list(asked) == ["totals", "plain"]
    totals = asked["totals"]
    assert [call.method for call in totals.calls] == ["require", "filter", "transform", "deduplicate", "window"]
    assert totals.calls[0] == Call("require", {"conditions": {"positive": "amount > 0"}})
    assert (totals.calls[4].given["allowed_lateness"], totals.calls[4].given["aggregates"]) == ("90 s", {"total": "sum"})
    query = query_asked("totals", totals, AskedTime("ts", "10 seconds"))
    (way,) = query.ways
    assert [type(twin).__name__ for twin in way.steps] == ["Require", "Filter", "Transform"]
    assert query.root.reasons == ("amount > 0",)
    assert query.delay_us == 100_000_000
    assert query.grouped.window == PlainTumbling(60_000_000)
    assert query.decides().once == ("id", "client")
    assert not query_asked("plain", asked["plain"], AskedTime("ts")).stateful
    assert query.root.inputs[0].inputs[0].twin.function is query_asked("plain", asked["plain"], None).root.twin.function


def test_streams_that_share_one_share_its_node(tmp_path):
    text = JOB.replace("late=by_client.late", "both=once, late=by_client.late")
    asked = calls_of(config_of(tmp_path, text))

    assert asked["totals"].inputs == (asked["both"],)
    assert asked["both"].inputs == (asked["plain"],)


def test_the_oracle_asks_nothing_of_what_the_product_makes_of_a_call(tmp_path, monkeypatch):
    monkeypatch.setattr(Stream, "deduplicate", lambda stream, *_: stream)
    monkeypatch.setattr("streamproof.stream.windows.durations.parse_duration", lambda text: 2 * parse_duration(text))
    monkeypatch.setattr("streamproof.stream.stream.parse_duration", lambda _: timedelta(0))

    query = query_asked("totals", calls_of(config_of(tmp_path, JOB))["totals"], None)

    assert (query.decides().once, query.delay_us, query.grouped.window) == (("id", "client"), 90_000_000, PlainTumbling(60_000_000))


def test_r12_the_horizon_of_a_deduplication_is_read_from_the_call():
    asked = Asked("s").then("deduplicate", key=("id",), within="1 minute 30 seconds")

    def horizon_us(asked):
        query = query_asked("q", asked, AskedTime("ts", "10 seconds"))
        return query.root.twin.horizon_us(query.delay_us)

    assert horizon_us(asked) == 90_000_000
    assert horizon_us(Asked("s").then("deduplicate", key=("id",))) == 10_000_000


def test_afterwards_outputs_and_windows_are_the_product_s_own_again(tmp_path):
    calls_of(config_of(tmp_path, JOB))

    assert type(sp.tumbling("1 minute")) is sys.modules["streamproof.stream.windows"].Tumbling
    with pytest.raises(JobDefinitionError):
        sp.Outputs()


def test_a_function_that_needs_more_than_a_stream_is_told_so(tmp_path):
    with pytest.raises(JobDefinitionError, match="AttributeError"):
        calls_of(config_of(tmp_path, JOB.replace("checked = trades", "trades.node; checked = trades")))


def test_every_maker_of_windows_is_written_down():
    assert sorted(KINDS) == sorted(name for name in windows.__all__ if name.islower())


TWINS = {
    'sp.tumbling("1 minute", offset="7 s")': PlainTumbling(60_000_000, 7_000_000),
    'sp.hopping("1 minute", every="20 s")': PlainHopping(60_000_000, 20_000_000),
    'sp.session("1 minute")': PlainSession(60_000_000),
    'sp.session(sp.gap_of("idle", at_most="1 minute"))': PlainSession(60_000_000, None, PlainGap("idle", 60_000_000)),
    'sp.calendar("week", zone="Europe/Berlin")': PlainCalendar("week", "Europe/Berlin"),
    'sp.shifts("06:00", "22:00", zone="Europe/Berlin")': PlainShifts(("06:00", "22:00"), "Europe/Berlin"),
}


@pytest.mark.parametrize(("text", "twin"), TWINS.items(), ids=str)
def test_r28_every_kind_of_window_has_a_twin_as_it_was_written_and_ready_made(text, twin, tmp_path):
    asked = calls_of(config_of(tmp_path, JOB.replace('tumbling("1 minute")', text)))["totals"]

    assert query_asked("totals", asked, None).grouped.window == twin
    assert plain_window(eval(text, {"sp": sp})) == twin


def test_no_kind_of_window_is_left_out():
    assert all(any(f"sp.{kind}(" in text for text in TWINS) for kind in KINDS)


def test_a_window_of_a_module_that_was_imported_before_is_as_long_as_it_says():
    given = {"window": sp.tumbling("30 seconds"), "by": ["a"], "allowed_lateness": "0 seconds", "emit": "final"}
    asked = Asked("s").then("window", **given, aggregates={"n": 1})

    assert query_asked("q", asked, None).grouped.window == PlainTumbling(30_000_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10 seconds", 10_000_000), ("1 minute 30 seconds", 90_000_000), ("1.5 h", 5_400_000_000), ("1 day, 2 us", 86_400_000_002)],
)
def test_durations_are_read_as_people_write_them(text, expected):
    assert micros(text) == expected


@pytest.mark.parametrize("text", ["", "soon", "10", "5 parsecs", "10 seconds or so"])
def test_other_texts_are_no_durations(text):
    with pytest.raises(ValueError, match="is not a duration"):
        micros(text)


def test_r28_the_gap_of_a_column_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr("streamproof.stream.windows.durations.parse_duration", lambda text: 2 * parse_duration(text))
    text = JOB.replace("MINUTE = tumbling", 'GAP = sp.gap_of("idle", at_most="1 minute")\nMINUTE = tumbling').replace(
        "window(MINUTE", "window(sp.session(GAP)"
    )

    totals = calls_of(config_of(tmp_path, text))["totals"]

    query = query_asked("totals", totals, AskedTime("ts"))
    assert query.grouped.window == PlainSession(60_000_000, None, PlainGap("idle", 60_000_000))
    assert query.root.reasons[1:] == PlainGap("idle", 60_000_000).refusals
