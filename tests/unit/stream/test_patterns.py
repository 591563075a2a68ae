"""The patterns on declared state without Spark: what each gives, held against a plain loop over the same rows; and what is refused."""

import itertools
import random
from datetime import UTC, datetime, timedelta

import pytest

import streamproof as sp
from streamproof.errors import JobDefinitionError, StreamproofError
from streamproof.stream import patterns
from streamproof.stream.keyed.types import problems
from streamproof.stream.node import source
from streamproof.stream.stream import Stream

TEN = timedelta(minutes=10)
AD, BUY = patterns.event("kind = 'ad'", id="string"), patterns.event("kind = 'buy'", id="string")
STEPS = {
    "velocity": lambda rows: patterns.velocity(
        rows, "card", time="ts", at_least=3, within="10 minutes", at_most=100, columns=["id"]
    ),
    "sliding": lambda rows: patterns.sliding(rows, "card", "v", time="ts", over="10 minutes", at_most=100, columns=["id"]),
    "sliding complete": lambda rows: patterns.sliding_complete(
        rows, "card", "v", time="ts", over="10 minutes", at_most=100, columns={"id": "string"}
    ),
    "running": lambda rows: patterns.running(rows, "card", ttl="never", columns=["id"], balance=("100L", "v"), n=("0L", "1")),
    "changes": lambda rows: patterns.changes(
        rows, "card", "kind", time="ts", starts="CAST(NULL AS STRING)", ttl="1 day", columns=["id"]
    ),
    "inactivity": lambda rows: patterns.inactivity(rows, "card", time="ts", after="10 minutes"),
    "sequence": lambda rows: patterns.sequence(rows, "card", time="ts", first=AD, then=BUY, within="10 minutes", at_most=100),
    "last touch": lambda rows: patterns.attribution(
        rows, "card", time="ts", touch=AD, conversion=BUY, within="10 minutes", at_most=100
    ),
    "first touch": lambda rows: patterns.attribution(
        rows, "card", time="ts", touch=AD, conversion=BUY, within="10 minutes", at_most=100, credit="first"
    ),
    "reorder": lambda rows: patterns.reorder(
        rows, "card", time="ts", columns={"id": "string"}, number="seq", begins=1, ttl="never", at_most=100
    ),
    "reorder anew": lambda rows: patterns.reorder(
        rows, "card", time="ts", columns={"id": "string"}, number="seq", begins=1, ttl="10 minutes", at_most=100
    ),
}


def row(minute, second=0, **values):
    given = {"id": f"r-{minute}-{second}", "card": "a", "kind": "ad", "v": 1, "seq": minute, **values}
    return {**given, "ts": f"2026-01-05T09:{minute:02d}:{second:02d}Z"}


def at(minute, second=0):
    return datetime(2026, 1, 5, 9, minute, second, tzinfo=UTC)


def trial(name, lag="1 hour"):
    return sp.OperatorTest(STEPS[name] if isinstance(name, str) else name, event_time="ts", lag=lag)


# -- each against a plain loop


def arrivals(seed, many=45, within=7_200, late=300, at_once=9):
    """Batches of rows that come up to five minutes late, and the rows by key in the order of their times; `came` says which came before which."""
    drawn = random.Random(seed)
    rows = []
    for card, seconds in itertools.product("ab", drawn.sample(range(within), many)):
        kind, moment = drawn.choice(("ad", "ad", "buy", "view")), datetime(2026, 1, 5, 9, tzinfo=UTC) + timedelta(seconds=seconds)
        rows.append({"id": f"{card}{seconds}", "card": card, "kind": kind, "v": drawn.choice((None, 1, 2, 5)), "at": moment})
    for card in "ab":
        numbers = iter(sorted(drawn.sample(range(1, 60), many)))
        for one in sorted((one for one in rows if one["card"] == card), key=lambda one: one["at"]):
            one["seq"] = next(numbers)
    rows.sort(key=lambda one: one["at"] + timedelta(seconds=drawn.randrange(late)))
    batches = [rows[begin : begin + at_once] for begin in range(0, len(rows), at_once)]
    came = sorted((number, one["at"], one["id"], one) for number, batch in enumerate(batches) for one in batch)
    by_key = {card: [one for *_, one in came if one["card"] == card] for card in "ab"}
    return batches, by_key


def before(rows, number):
    """A row and those of its key that came before it, and happened within ten minutes up to it."""
    this = rows[number]
    return [one for one in rows[: number + 1] if this["at"] - TEN < one["at"] <= this["at"]]


def velocity(rows):
    counted = [(one["id"], len(before(rows, number))) for number, one in enumerate(rows)]
    return {"": {(identity, n) for identity, n in counted if n >= 3}}


def sliding(rows, before=before):
    found = set()
    for number, one in enumerate(rows):
        values = [other["v"] for other in before(rows, number)]
        there = [value for value in values if value is not None]
        found.add((one["id"], len(values), float(sum(there)), min(there, default=None), max(there, default=None)))
    return {"": found}


def all_before(rows, number):
    """A row and those of its key that happened within ten minutes up to it, whenever they came."""
    return [one for one in rows if rows[number]["at"] - TEN < one["at"] <= rows[number]["at"]]


def running(rows):
    return {"": {(one["id"], 100 + sum(other["v"] or 0 for other in rows[: n + 1]), n + 1) for n, one in enumerate(rows)}}


def changes(rows):
    newest = [one for number, one in enumerate(rows) if one["at"] >= max(other["at"] for other in rows[: number + 1])]
    pairs = itertools.pairwise([{"kind": None}, *newest])
    return {"": {(one["id"], was["kind"], one["kind"]) for was, one in pairs if was["kind"] != one["kind"]}}


def inactivity(rows):
    found, times = set(), sorted(one["at"] for one in rows)
    begun = times[0]
    for one, other in itertools.pairwise([*times, None]):
        if other is None or other - one > TEN:
            found.add((begun, one, one + TEN))
            begun = other
    return {"": found}


def sequence(rows):
    followed, missing = set(), set()
    for one in (one for one in rows if one["kind"] == "ad"):
        then = [other for other in rows if other["kind"] == "buy" and one["at"] < other["at"] <= one["at"] + TEN]
        if then:
            second = min(then, key=lambda other: other["at"])
            followed.add((one["at"], second["at"], one["id"], second["id"]))
        else:
            missing.add((one["at"], one["at"] + TEN, one["id"]))
    return {"": followed, "tag:missing": missing}


def attributed(rows, pick):
    found, alone = set(), set()
    for one in (one for one in rows if one["kind"] == "buy"):
        touches = [other for other in rows if other["kind"] == "ad" and one["at"] - TEN <= other["at"] <= one["at"]]
        if touches:
            touch = pick(touches, key=lambda other: other["at"])
            found.add((one["at"], touch["at"], len(touches), one["id"], touch["id"]))
        else:
            alone.add((one["at"], one["id"]))
    return {"": found, "tag:unattributed": alone}


def reordered(rows, ttl=timedelta.max):
    gaps, found, known, place, latest = set(), set(), 0, 0, None
    for one in sorted(rows, key=lambda one: one["at"]):
        if latest is not None and one["at"] - latest >= ttl:
            known = place = 0
        place, latest = place + 1, one["at"]
        if one["seq"] > known + 1:
            gaps.add((known + 1, one["seq"] - 1, one["at"]))
        known = max(known, one["seq"])
        found.add((one["at"], one["seq"], one["id"], place))
    return {"": found, "tag:gaps": gaps}


SAYS = {
    "velocity": (velocity, ("id", "n")),
    "sliding": (sliding, ("id", "n", "total", "least", "most")),
    "sliding complete": (lambda rows: sliding(rows, all_before), ("id", "n", "total", "least", "most")),
    "running": (running, ("id", "balance", "n")),
    "changes": (changes, ("id", "was", "now")),
    "inactivity": (inactivity, ("first_at", "last_at", "silent_at")),
    "sequence": (sequence, ("first_at", "then_at", "first_id", "then_id")),
    "tag:missing": ((), ("first_at", "missing_at", "first_id")),
    "last touch": (lambda rows: attributed(rows, max), ("conversion_at", "touch_at", "touches", "conversion_id", "touch_id")),
    "first touch": (lambda rows: attributed(rows, min), ("conversion_at", "touch_at", "touches", "conversion_id", "touch_id")),
    "tag:unattributed": ((), ("conversion_at", "conversion_id")),
    "reorder": (reordered, ("ts", "seq", "id", "position")),
    "reorder anew": (lambda rows: reordered(rows, TEN), ("ts", "seq", "id", "position")),
    "tag:gaps": ((), ("missing_from", "missing_to", "noticed_at")),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("seed", range(8))
def test_rows_are_those_of_a_plain_loop_whatever_comes_late(name, seed):
    expected = _held_against_a_plain_loop(name, arrivals(seed), lag="6 minutes")
    assert all(rows for side, rows in expected.items()), "a side without a row shows nothing"


@pytest.mark.parametrize("name", STEPS)
def test_rows_are_those_of_a_plain_loop_also_where_a_key_is_silent_and_the_watermark_is_far_behind(name):
    for seed in range(12):
        _held_against_a_plain_loop(name, arrivals(seed, many=20, within=14_400, late=3_300, at_once=1), lag="1 hour")


def _held_against_a_plain_loop(name, arrived, lag):
    batches, by_key = arrived
    test, (says, _) = trial(name, lag=lag), SAYS[name]
    found = {}
    for pushed in [
        *(test.push(*({**one, "ts": one["at"]} for one in batch)) for batch in batches),
        test.advance_to("2026-01-06T00:00:00Z"),
    ]:
        for side, rows in {"": pushed.rows, **pushed.sides}.items():
            columns = SAYS[side or name][1] if (side or name) in SAYS else ("id",)
            found.setdefault(side, []).extend((one["card"], *(one[column] for column in columns)) for one in rows)

    expected = {}
    for card, rows in by_key.items():
        for side, there in says(rows).items():
            expected.setdefault(side, []).extend((card, *one) for one in there)
    found.pop("absorbed", None)
    assert {side: sorted(rows, key=str) for side, rows in found.items() if rows} == {
        side: sorted(rows, key=str) for side, rows in expected.items() if rows
    }
    return expected


@pytest.mark.parametrize("name", [name for name in STEPS if name not in ("running", "reorder")])
def test_a_key_is_forgotten_when_nothing_can_come_of_it(name):
    test = trial(name)
    test.push(row(0), row(5, kind="buy"), row(7))
    test.advance_to("2026-01-06T09:08:00Z")  # of "changes" the ttl is a day

    assert test.state == {}


# -- what a plain loop does not say


def test_what_the_watermark_has_left_behind_is_no_longer_held():
    for name in ("velocity", "sliding", "sliding complete", "last touch"):
        test, held = trial(name, lag="0 seconds"), []
        for minute in range(60):
            test.push(row(minute, kind="ad"))
            held.append(len(test.state["a",]["touches" if name == "last touch" else "recent"]))
        assert max(held) <= 22, name


@pytest.mark.parametrize("order", [(30, 15), (15, 30)])
def test_what_a_record_finds_at_once_does_not_depend_on_what_came_before_it(order):
    quick = trial(lambda rows: patterns.velocity(rows, "card", time="ts", at_least=1, within="10 minutes", at_most=9))
    quick.push(row(0), row(9, 59))
    quick.push({**row(0, card="b"), "ts": at(59) + timedelta(minutes=11)})
    assert {minute: quick.push(row(minute)).rows[0]["n"] for minute in order} == {30: 1, 15: 2}


@pytest.mark.parametrize("order", [(30, 15), (15, 30)])
def test_what_a_record_finds_when_the_watermark_is_there_does_not_depend_on_what_came_before_it(order):
    steps = {"time": "ts", "over": "1 hour", "at_most": 9, "columns": {"id": "string"}}
    whole = trial(lambda rows: patterns.sliding_complete(rows, "card", "v", **steps), lag="2 hours")
    whole.push(row(0))
    whole.push({**row(0, card="b"), "ts": at(0) + timedelta(hours=2)})
    pushed = [whole.push({**row(minute), "ts": at(minute) + timedelta(hours=minute == 30)}) for minute in order]
    rows = [one for part in (*pushed, whole.advance_to(at(59) + timedelta(hours=9))) for one in part.rows if one["card"] == "a"]
    assert [(one["id"], one["n"]) for one in rows] == [("r-0-0", 1), ("r-15-0", 2), ("r-30-0", 1)]


def test_records_that_a_full_list_has_lost_leave_by_its_overflow():
    test = trial(lambda rows: patterns.sliding(rows, "card", "v", time="ts", over="10 minutes", at_most=2))

    found = test.push(row(0, v=1), row(1, v=2), row(2, v=3))
    assert [one["n"] for one in found.rows] == [1, 2, 2]
    assert [one["value"]["v"] for one in found.sides["overflow:recent"]] == [1.0]


def test_a_running_sum_of_decimals_keeps_its_type():
    asked = patterns.running(Stream(source("s")), "card", ttl="never", balance=("CAST(0 AS DECIMAL(18, 2))", "amount"))

    assert asked.node.operator.rules.on_row.set == {"balance": "CAST(coalesce(balance + (amount), balance) AS DECIMAL(18, 2))"}


def test_a_running_sum_of_whole_numbers_cuts_no_fraction():
    def steps(rows):
        return patterns.running(rows, "card", ttl="never", balance=("0L", "v"))

    for type_ in ("double", "float"):
        found = [one.message for one in problems(steps(Stream(source("s"))).node.operator.rules, {"v": type_})]
        assert len(found) == 1, type_
        assert "the field is bigint" in found[0]
    assert list(problems(steps(Stream(source("s"))).node.operator.rules, {"v": "int"})) == []
    with pytest.raises(StreamproofError, match="a fraction does not fit"):
        trial(steps).push(row(0, v=1.9))
    assert trial(steps).push(row(0, v=2), row(1, v=None), row(2, v=-1)).rows[-1]["balance"] == 1


def test_an_older_record_does_not_change_what_is_known_last():
    test = trial("changes")

    assert [(one["was"], one["now"]) for one in test.push(row(5, kind="x")).rows] == [(None, "x")]
    assert test.push(row(3, kind="y")).rows == []
    assert [(one["was"], one["now"]) for one in test.push(row(6, kind=None), row(7, kind=None)).rows] == [("x", None)]


def test_a_silence_is_reported_also_where_records_after_it_came_before_the_watermark():
    test = trial("inactivity")

    assert test.push(row(0), row(5), row(30)).rows == []
    assert test.push(row(15, 1)).rows == []
    assert test.push(row(15)).rows == []  # ten minutes after 09:05: nobody missed it
    assert [(one["first_at"], one["last_at"]) for one in test.advance_to(at(59)).rows] == [(at(0), at(15, 1)), (at(30), at(30))]


def test_a_second_thing_can_come_before_the_first_and_too_late_is_missing():
    test = trial("sequence")

    test.push(row(5, kind="buy"), row(41, kind="buy"))
    found = test.push(row(0), row(30))
    assert (found.rows, len(found.sides["absorbed"])) == ([], 2)
    fired = test.advance_to(at(59))
    assert [(one["first_at"], one["then_at"]) for one in fired.rows] == [(at(0), at(5))]
    assert [(one["first_at"], one["missing_at"]) for one in fired.sides["tag:missing"]] == [(at(30), at(40))]


def test_the_ends_of_a_duration():
    test = trial("sequence")
    test.push(row(0), row(10, kind="buy"))
    assert [one["then_at"] for one in test.advance_to(at(59)).rows] == [at(10)]
    test = trial("last touch")
    test.push(row(0), row(10, kind="buy"), row(20), row(20, kind="buy"))
    assert [(one["conversion_at"], one["touch_at"]) for one in test.advance_to(at(59)).rows] == [(at(10), at(0)), (at(20), at(20))]
    test = trial("last touch")
    test.push(row(30), row(35))
    test.advance_to(at(40))  # the touch of 09:30 is forgotten here
    test.push(row(45, kind="buy"))
    assert [(one["conversion_at"], one["touch_at"]) for one in test.advance_to(at(59)).rows] == [(at(45), at(35))]
    test = trial("velocity")
    assert test.push(row(0), row(1), row(10)).rows == []


def test_rows_leave_in_order_and_what_exceeds_the_bound_by_a_side():
    steps = {"time": "ts", "columns": {"id": "string"}, "number": "seq", "ttl": "never"}
    test = trial(lambda rows: patterns.reorder(rows, "card", at_most=2, **steps), lag="2 minutes")

    assert test.push(row(8, seq=4), row(5, seq=1), row(7, seq=3)).sides["overflow:waiting"] == [
        {"value": {"at": at(5), "seq": 1, "id": "r-5-0"}}
    ]
    assert [one["id"] for one in test.push().rows] == []
    fired = test.advance_to(at(8))
    assert [(one["id"], one["seq"], one["position"]) for one in fired.rows] == [("r-7-0", 3, 1), ("r-8-0", 4, 2)]
    assert "tag:gaps" not in fired.sides
    assert [one["id"] for one in test.push(row(8, seq=9)).sides["late"]] == ["r-8-0"]
    after = test.push(row(9, seq=7), row(9, seq=6)), test.advance_to(at(9))
    assert [(one["seq"], one["position"]) for one in after[1].rows] == [(6, 3), (7, 4)]
    assert after[1].sides["tag:gaps"] == [{"card": "a", "missing_from": 5, "missing_to": 5, "noticed_at": at(9)}]


@pytest.mark.parametrize("order", [(50, 30), (30, 50)])
def test_rows_leave_with_the_same_position_in_whatever_order_they_come(order):
    steps = {"time": "ts", "columns": {"id": "string"}, "number": "seq", "ttl": "20 minutes", "at_most": 9}
    test = trial(lambda rows: patterns.reorder(rows, "card", **steps))
    test.push(row(11), row(12, card="b"))
    test.advance_to(at(12))
    pushed = [*(test.push(row(minute)) for minute in order), test.advance_to(at(59) + timedelta(minutes=11))]

    assert [(one["seq"], one["position"]) for part in pushed for one in part.rows] == [(30, 2), (50, 1)]
    assert [(gap["missing_from"], gap["missing_to"]) for part in pushed for gap in part.sides.get("tag:gaps", ())] == [(12, 29)]
    assert test.state == {}


def test_no_column_is_called_as_what_a_pattern_keeps_and_no_row_of_a_test_either():
    asked = STEPS["reorder anew"](Stream(source("s")))
    assert [name for name in asked.node.operator.rules.state if not name.startswith("pattern_")] == ["waiting"]

    with pytest.raises(JobDefinitionError, match="has a field waiting, and the rows have a column of that name") as found:
        trial("reorder").push(row(0, Waiting=1))
    assert "the column another name by transform()" in found.value.remedy
    with pytest.raises(JobDefinitionError, match="calls something of its own timer"):
        trial("reorder").push(row(0, timer=1))
    trial("reorder").push(row(0, due=1, known=1, position=1, forget=1))


def test_a_key_that_is_null_is_rejected_by_each():
    for name in STEPS:
        assert [one["reason"] for one in trial(name).push(row(0, card=None)).sides["rejected"]] == ["key card (is null)"], name


@pytest.mark.parametrize("name", STEPS)
def test_types_fit_where_they_are_known(name):
    asked = STEPS[name](Stream(source("s")))
    types = {"id": "string", "card": "string", "kind": "string", "v": "bigint", "seq": "bigint", "ts": "timestamp"}

    assert [one.message for one in problems(asked.node.operator.rules, types)] == []


# -- what is refused


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda rows: patterns.velocity(rows, "card", time="ts", at_least=0, within="1 minute", at_most=9),
            r"velocity\(at_least=...\): 0 is no number of records",
        ),
        (lambda rows: patterns.velocity(rows, "card", time="ts", at_least=2, within="soon", at_most=9), "is not a duration"),
        (lambda rows: patterns.velocity(rows, "card", time="ts", at_least=2, within="1 minute", at_most=0), "is no bound"),
        (lambda rows: patterns.velocity(rows, "card", time="ts", at_least=2, within="1 minute", at_most=None), "is no bound"),
        (lambda rows: patterns.inactivity(rows, "card", time="ts", after="0 seconds"), "greater than zero"),
        (lambda rows: patterns.running(rows, "card", ttl="1 day"), "adds nothing up"),
        (lambda rows: patterns.running(rows, "card", ttl="1 day", n="1"), r"running\(n=...\) is no pair"),
        (lambda rows: patterns.running(rows, "card", ttl=None, n=("0L", "1")), "how long a key is remembered"),
        (
            lambda rows: patterns.sequence(rows, "card", time="ts", first=AD, then=None, within="1 minute", at_most=9),
            r"sequence\(then=...\) is a NoneType",
        ),
        (lambda rows: patterns.event(""), "is no condition"),
        (lambda rows: patterns.event("true", id=None), "is no mapping of names to types"),
        (lambda rows: patterns.event("true", at="timestamp"), "has a column at, and the pattern has one of that name itself"),
        (
            lambda rows: patterns.attribution(
                rows, "card", time="ts", touch=AD, conversion=BUY, within="1 minute", at_most=9, credit="all"
            ),
            r"credit='all'\) is not known",
        ),
        (
            lambda rows: patterns.reorder(rows, "card", time="ts", columns=["id"], ttl="never", at_most=9),
            r"reorder\(columns=...\) is no mapping",
        ),
        (
            lambda rows: patterns.reorder(rows, "card", time="ts", columns={"ts": "timestamp"}, ttl="never", at_most=9),
            "has a column ts",
        ),
        (
            lambda rows: patterns.reorder(rows, "card", time="ts", columns={}, ttl="never", at_most=9, begins=1),
            r"begins=1\) is not the first of any numbers",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(JobDefinitionError, match=said):
        call(Stream(source("s")))
