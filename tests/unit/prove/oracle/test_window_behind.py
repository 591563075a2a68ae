"""A window after a window in the plain model: hours of half minutes are here minutes of half minutes; the watermark delay is 10 seconds."""

import json
from dataclasses import replace

from streamproof.core.account import Account
from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.reading import read_state
from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.operators.twin import Grouped
from streamproof.prove.oracle.query import query_asked
from streamproof.prove.oracle.trace import Vector
from streamproof.prove.oracle.windows import PlainHopping, PlainTumbling
from unit.prove.small import (
    SECOND,
    WINDOW,
    Level,
    at,
    check,
    faultless,
    having,
    held_by,
    model_of,
    only_finding,
    open_in,
    with_held,
    with_left,
)

HALVES = Level(PlainTumbling(30 * SECOND), ("client",), ("total",))
MINUTES = replace(WINDOW, window=PlainTumbling(60 * SECOND), before=HALVES, aggregates=("most",))
BATCHES = [
    [at("e-1", 1), at("e-2", 31), at("e-3", 32), at("e-4", 59, "b")],
    [at("e-5", 75)],  # the watermark of the next batch is 65: both halves of the first minute are over, and the minute with them
    [at("e-6", 29), at("e-7", 61)],  # 29 is late for its half, and so for the minute
]


def test_a_row_of_the_first_goes_into_the_second_in_the_batch_in_which_it_is_due():
    model = model_of(MINUTES, BATCHES, no_data=1)

    (batch,) = [outcome for outcome in model.batches if outcome.emitted]
    assert batch.batch == 2
    assert {key: contents.traces for key, contents in batch.emitted.items()} == {
        (("a",), 0): ("e-1", "e-2", "e-3"),
        (("b",), 0): ("e-4",),
    }
    assert [(key, part.traces) for key, part in batch.emitted[("a",), 0].parts] == [
        ((("a",), 0), ("e-1",)),
        ((("a",), 30 * SECOND), ("e-2", "e-3")),
    ]


def test_r10_late_is_decided_by_the_first_alone():
    model = model_of(MINUTES, BATCHES, no_data=1)

    assert [outcome.left_by("late") for outcome in model.batches] == [(), (), ("e-6",), ()]


def test_what_is_open_in_either_is_open_state_and_the_account_adds_up():
    model = model_of(MINUTES, [[at("e-1", 1), at("e-2", 31)], [at("e-3", 45)], [at("e-4", 46)]])

    assert {key: contents.traces for key, contents in open_in(model).items()} == {(("a",), 0): ("e-1",)}
    assert {key: contents.traces for key, contents in open_in(model, 1).items()} == {(("a",), 30 * SECOND): ("e-2", "e-3", "e-4")}
    assert model.account == Account(open_state=4)
    assert model.fates["e-1"][0] == "open_state"
    assert model.places["open_state"] == Vector.of(["e-1", "e-2", "e-3", "e-4"])


def test_a_first_window_that_overlaps_counts_a_record_once_for_each_and_the_second_keeps_that():
    shape = replace(MINUTES, before=replace(HALVES, window=PlainHopping(60 * SECOND, 30 * SECOND)))
    model = model_of(shape, [[at("e-1", 31)], [at("e-2", 200)]], no_data=1)

    assert model.places["expanded"].count == 2
    assert model.account.emitted == 2
    assert model.account.total == model.places["input"].count + model.places["expanded"].count
    assert {key: contents.traces for key, contents in model.emitted.items()} == {
        (("a",), 0): ("e-1",),
        (("a",), 60 * SECOND): ("e-1",),
    }


def test_the_second_key_is_found_in_the_first():
    by_two = replace(HALVES, by=("venue", "client"))
    shape = replace(MINUTES, before=by_two, by=("client",))
    records = [having(at("e-1", 1), venue="x"), having(at("e-2", 2), venue="y")]

    model = model_of(shape, [records, [having(at("e-3", 100, "a"), venue="a")]], no_data=1)

    assert [(key, contents.count) for key, contents in model.emitted.items()] == [((("a",), 0), 2)]


def test_the_shape_is_that_of_the_calls():
    minutes = {"window": PlainKind("1 minute"), "by": ("client", "venue"), "allowed_lateness": "5 s", "emit": "final"}
    hours = {"window": PlainKind("1 hour"), "by": "client", "allowed_lateness": "0 s", "emit": "final"}
    asked = Asked("trades").then("window", **minutes, aggregates={"n": 1}).then("window", **hours, aggregates={"most": 1})
    query = query_asked("hours", asked, AskedTime("ts", "10 s"))

    assert query.groupings == (
        Grouped(PlainTumbling(60 * SECOND), ("client", "venue"), {"n": 1}),
        Grouped(PlainTumbling(3_600 * SECOND), ("client",), {"most": 1}),
    )
    assert (query.grouped, query.delay_us) == (query.groupings[1], 15 * SECOND)
    assert query.decides().grouped == query.groupings[0]


class PlainKind:
    """A window as it was written."""

    def __init__(self, size):
        from streamproof.prove.oracle.windows.written import WrittenWindow

        self.written = WrittenWindow("tumbling", {"size": size})


def test_the_state_of_each_window_is_held_against_its_own():
    history = faultless(MINUTES, BATCHES, no_data=1)
    assert check("state-contents", history).verdict is Verdict.PASS
    state = history.queries[0].left.state
    before = held_by(state, 1).groups
    ((key, vector), *_) = before.items()

    changed = with_held(state, 1, groups={**before, key: vector.plus(Vector(1, 1))})
    finding = only_finding("state-contents", with_left(history, replace(history.queries[0].left, state=changed)))
    assert finding.code == "other-events"
    assert check("account", with_left(history, replace(history.queries[0].left, state=changed))).verdict is Verdict.FAIL

    stays = with_held(state, 1, groups={**before, (("a",), 30 * SECOND): Vector(1, 1)})
    finding = only_finding("state-contents", with_left(history, replace(history.queries[0].left, state=stays)))
    assert finding.code == "still-in-state"


def test_two_windows_in_a_state_file_are_told_apart_by_their_numbers(tmp_path):
    row = {"by": ["a"], "end_us": 60, "records": 2, "hash": 5}
    operators = [
        {"operator": 1, "holds": "window", "rows": [row]},
        {"operator": 0, "holds": "window", "rows": [{**row, "records": 3}]},
    ]
    (tmp_path / "state.json").write_text(json.dumps({"operators": operators}))

    state = read_state(tmp_path / "state.json")

    assert (held_by(state).groups, held_by(state, 1).groups) == ({(("a",), 60): Vector(3, 5)}, {(("a",), 60): Vector(2, 5)})
    assert not state.repeated
