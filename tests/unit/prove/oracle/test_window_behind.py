"""A window after a window in the plain model: hours of half minutes are here minutes of half minutes; the watermark delay is 10 seconds."""

import json
from dataclasses import replace

from streamproof.core.account import Account
from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.reading import read_state
from streamproof.prove.oracle.asked import Asked, AskedTime, shape_asked
from streamproof.prove.oracle.shape import Level
from streamproof.prove.oracle.trace import Vector
from streamproof.prove.oracle.windows import PlainHopping, PlainTumbling
from unit.prove.small import SECOND, WINDOW, at, check, faultless, model_of, only_finding, with_left

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

    assert [outcome.late for outcome in model.batches] == [(), (), ("e-6",), ()]


def test_what_is_open_in_either_is_open_state_and_the_account_adds_up():
    model = model_of(MINUTES, [[at("e-1", 1), at("e-2", 31)], [at("e-3", 45)], [at("e-4", 46)]])

    assert {key: contents.traces for key, contents in model.open.items()} == {(("a",), 0): ("e-1",)}
    assert {key: contents.traces for key, contents in model.open_before.items()} == {(("a",), 30 * SECOND): ("e-2", "e-3", "e-4")}
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
    records = [replace(at("e-1", 1), by=("x", "a")), replace(at("e-2", 2), by=("y", "a"))]

    model = model_of(shape, [records, [at("e-3", 100, "a")]], no_data=1)

    assert [(key, contents.count) for key, contents in model.emitted.items()] == [((("a",), 0), 2)]


def test_the_shape_is_that_of_the_calls():
    asked = Asked("trades").then("window", window=PlainKind("1 minute"), by=("client", "venue"), allowed_lateness="5 s")
    asked = asked.then("aggregate", aggregates={"n": 1}).then(
        "window", window=PlainKind("1 hour"), by="client", allowed_lateness="0 s"
    )
    shape = shape_asked("hours", asked.then("aggregate", aggregates={"most": 1}), AskedTime("ts", "10 s"))

    assert (shape.before, shape.window) == (
        Level(PlainTumbling(60 * SECOND), ("client", "venue"), ("n",)),
        PlainTumbling(3_600 * SECOND),
    )
    assert (shape.by, shape.aggregates, shape.delay_us) == (("client",), ("most",), 15 * SECOND)
    assert shape.entered == shape.before


class PlainKind:
    """A window as it was written."""

    def __init__(self, size):
        from streamproof.prove.oracle.asked import WrittenWindow

        self.written = WrittenWindow("tumbling", {"size": size})


def test_the_state_of_each_window_is_held_against_its_own():
    history = faultless(MINUTES, BATCHES, no_data=1)
    assert check("state-contents", history).verdict is Verdict.PASS
    state = history.queries[0].left.state
    ((key, vector), *_) = state.windows_before.items()

    changed = replace(state, windows_before={**state.windows_before, key: vector.plus(Vector(1, 1))})
    finding = only_finding("state-contents", with_left(history, replace(history.queries[0].left, state=changed)))
    assert finding.code == "other-events"
    assert check("account", with_left(history, replace(history.queries[0].left, state=changed))).verdict is Verdict.FAIL

    stays = replace(state, windows_before={**state.windows_before, (("a",), 30 * SECOND): Vector(1, 1)})
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

    assert (state.windows, state.windows_before) == ({(("a",), 60): Vector(3, 5)}, {(("a",), 60): Vector(2, 5)})
    assert not state.repeated
