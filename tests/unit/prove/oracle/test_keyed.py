"""The twin of declared state: which row meets which state, when timers fire and a key ends; and the checkers on what it says."""

from dataclasses import dataclass, field
from typing import Any

import pytest

import streamproof as sp
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.prove.checkers import run_checkers
from streamproof.prove.oracle.asked import Asked
from unit.prove.small import SECOND, Shape, at, changed, check, faultless, having, model_of, remembered_in, rows_of, with_rows

COUNTED = {
    "state": {"n": "0L", "total": "0D"},
    "on_row": sp.step(
        set={"n": "n + 1", "total": "total + v"}, emit=sp.emit("client", "n", "total", "before.n AS was", when="n > 1")
    ),
    "ttl": "20 seconds",
}
SILENT = {
    "state": {"n": "0L"},
    "on_row": sp.step(set={"n": "n + 1", "silence": "greatest(silence, ts + INTERVAL 10 SECONDS)"}),
    "on_timer": {"silence": sp.step(set={"n": "0"}, emit=sp.emit("client", "before.n AS n", "timer AS since"))},
    "ttl": "20 seconds",
}


@dataclass(frozen=True)
class OfKeys(Shape):
    """State of each client; the watermark is 10 seconds behind."""

    given: dict[str, Any] = field(default_factory=dict)

    @property
    def stateful(self):
        return True

    @property
    def asked(self):
        checked = Asked("s").then("require", conditions={"positive": "total > 0"}).then("filter", condition="true", name="small")
        return checked.then(
            "keyed",
            key=("client",),
            on_timer=self.given.get("on_timer"),
            **{k: v for k, v in self.given.items() if k != "on_timer"},
        )


def shape(given):
    return OfKeys("totals", "ts", 10 * SECOND, given=given)


def one(trace, second, client="a", v=1.0):
    return having(at(trace, second, client), v=v, ts=int(second * SECOND))


def given_rows(model, batch):
    return [(row.traces[0], dict(row.values)) for row in model.batches[batch].out.rows]


def counts(model):
    return {place: vector.count for place, vector in model.places.items() if vector.count}


def test_rows_of_a_key_change_its_state_in_the_order_of_their_times_however_a_batch_has_them():
    batches = [
        [one("e-3", 103, v=3.0), one("e-1", 101, v=1.0), one("f-1", 102, "f"), one("e-2", 102, v=2.0)],
        [one("e-4", 104, v=4.0)],
    ]
    model = model_of(shape(COUNTED), batches)

    assert given_rows(model, 0) == [
        ("e-2", {"client": "a", "n": 2, "total": 3.0, "was": 1}),
        ("e-3", {"client": "a", "n": 3, "total": 6.0, "was": 2}),
    ]
    assert given_rows(model, 1) == [("e-4", {"client": "a", "n": 4, "total": 10.0, "was": 3})]
    assert counts(model) == {"input": 5, "emitted": 3, "absorbed": 2}
    assert model.fates["e-1"] == ("absorbed", 0)


@pytest.mark.parametrize(("second", "n"), [(119.999999, 2), (120, None), (150, None)])
def test_a_row_a_time_to_live_after_the_latest_begins_anew_whatever_the_watermark(second, n):
    model = model_of(shape(COUNTED), [[one("e-1", 100)], [one("e-2", second)]])

    assert [values["n"] for _, values in given_rows(model, 1)] == ([] if n is None else [n])


def test_a_key_is_forgotten_when_the_watermark_is_at_its_end():
    batches = [[one("e-1", 100), one("f-1", 119, "f")], [one("g-1", 131, "g")]]

    assert set(remembered_in(model_of(shape(COUNTED), batches))) == {("a",), ("f",), ("g",)}
    assert remembered_in(model_of(shape(COUNTED), batches, no_data=1)) == {("f",): 139 * SECOND, ("g",): 151 * SECOND}
    forever = {**COUNTED, "ttl": "never"}
    assert remembered_in(model_of(shape(forever), batches, no_data=1)) == {("a",): 0, ("f",): 0, ("g",): 0}


def test_a_timer_fires_when_the_watermark_is_there_and_names_the_record_that_has_set_it():
    batches = [[one("e-1", 100), one("e-2", 105), one("e-3", 103)], [one("g-1", 125, "g")]]
    model = model_of(shape(SILENT), batches, no_data=1)

    assert given_rows(model, 1) == []
    assert given_rows(model, 2) == [("e-2!silence@115000000", {"client": "a", "n": 3, "since": 115 * SECOND})]
    assert counts(model) == {"input": 4, "absorbed": 4}
    assert remembered_in(model) == {("a",): 125 * SECOND, ("g",): 135 * SECOND}


def test_a_timer_that_is_due_fires_before_a_row_of_a_later_time_and_after_one_of_its_own():
    first = [[one("e-1", 100)], [one("g-1", 125, "g")]]

    late_row = model_of(shape(SILENT), [*first, [one("e-2", 130)]])
    assert [values["n"] for _, values in given_rows(late_row, 2)] == [1]
    assert late_row.held[late_row.query.keeping[0]].keys[("a",)] == 140 * SECOND
    at_its_instant = model_of(shape(SILENT), [[one("e-1", 100)], [one("g-1", 120, "g"), one("e-2", 110)]])
    assert given_rows(at_its_instant, 1) == []
    assert at_its_instant.held[at_its_instant.query.keeping[0]].keys[("a",)] == 120 * SECOND


def test_a_timer_that_is_set_before_the_watermark_is_due_at_once():
    past = {**SILENT, "on_row": sp.step(set={"n": "n + 1", "silence": "ts - INTERVAL 1 HOUR"})}
    model = model_of(shape(past), [[one("e-1", 100)]])

    assert given_rows(model, 0) == [("e-1!silence@-3500000000", {"client": "a", "n": 1, "since": -3500 * SECOND})]


def test_a_timer_that_sets_itself_back_would_never_end():
    back = {**SILENT, "on_timer": {"silence": sp.step(set={"silence": "timer"}, emit=sp.emit("client"))}}

    with pytest.raises(ScenarioError, match="not after its own"):
        model_of(shape(back), [[one("e-1", 100)], [one("g-1", 150, "g")], [one("g-2", 151, "g")]])


def test_what_a_list_and_a_map_cannot_hold_leaves_by_their_sides():
    rules = {
        "state": {"last": sp.list_of("double", at_most=2), "seen": sp.map_of("bigint", "bigint", at_most=2)},
        "on_row": sp.step(
            set={"last[]": "v", "seen[bigint(v)]": "coalesce(seen[bigint(v)], 0) + 1"},
            emit=[sp.emit("last"), sp.emit("each AS v", each="last", to="each"), sp.emit("seen", to="maps", when="v = 2")],
        ),
        "ttl": "1 hour",
    }
    model = model_of(
        shape(rules), [[one("e-1", 100, v=1.0), one("e-2", 101, v=2.0), one("e-3", 102, v=1.0), one("e-4", 103, v=3.0)]]
    )
    sides = {
        side: [(row.traces[0], dict(row.values)) for row in rows]
        for side, rows in model.batches[0].steps[model.query.keeping[0]].made.items()
    }

    assert [values["last"] for _, values in given_rows(model, 0)] == [(1.0,), (1.0, 2.0), (2.0, 1.0), (1.0, 3.0)]
    assert sides["overflow", "last"] == [("e-3", {"value": 1.0}), ("e-4", {"value": 2.0})]
    assert sides["overflow", "seen"] == [("e-4", {"key": 2, "value": 1})]
    assert sides["tag", "each"][:3] == [("e-1", {"v": 1.0}), ("e-2", {"v": 1.0}), ("e-2#1", {"v": 2.0})]
    assert [values["seen"] for _, values in sides["tag", "maps"]] == [{1: 1, 2: 1}]
    assert counts(model) == {"input": 4, "emitted": 4}


def test_a_record_that_is_in_rows_of_a_side_only_is_tagged():
    rules = {
        **COUNTED,
        "on_row": sp.step(
            emit=[sp.emit("n", when="v > 5"), sp.emit("n", when="v > 3", to="big"), sp.emit("n", to="big", when="v > 4")]
        ),
    }
    model = model_of(shape(rules), [[one("e-1", 100, v=1.0), one("e-2", 101, v=4.5), one("e-3", 102, v=6.0)]])

    assert counts(model) == {"input": 3, "emitted": 1, "tagged": 1, "absorbed": 1}


def test_of_different_events_of_one_time_nothing_is_promised():
    assert model_of(shape(COUNTED), [[one("e-1", 100), one("e-2", 100)]]).ambiguous == (("a",),)
    assert model_of(shape(COUNTED), [[one("e-1", 100), one("e-1+1", 100)]]).ambiguous == ()
    assert model_of(shape(COUNTED), [[one("e-1", 100)], [one("e-2", 100)]]).ambiguous == ()


def test_a_column_can_decide_between_events_of_one_time():
    ordered = {**COUNTED, "order_by": "v"}
    model = model_of(
        shape(ordered), [[one("e-1", 100, v=3.0), one("e-2", 100, v=2.0), one("e-3", 100, v=None), one("e-4", 99, v=9.0)]]
    )

    assert [trace for trace, _ in given_rows(model, 0)] == ["e-3", "e-2", "e-1"]
    assert model.ambiguous == ()
    assert model_of(shape(ordered), [[one("e-1", 100), one("e-2", 100)]]).ambiguous == (("a",),)


def test_an_expression_that_plain_python_does_not_work_out_is_refused_by_name():
    with pytest.raises(ScenarioError, match=r"the plain model has no levenshtein\(\)|LEVENSHTEIN"):
        shape({**COUNTED, "on_row": sp.step(emit=sp.emit("levenshtein(client, 'a') AS far"))}).query  # noqa: B018


BATCHES = [
    [one("e-1", 100), one("e-2", 101), one("f-1", 103, "f"), at("e-9", 104, fate="rejected")],
    [one("e-3", 104), one("e-4", 90)],
    [one("e-5", 135), one("e-6", 95)],
]


@pytest.mark.parametrize("rules", [COUNTED, SILENT])
def test_a_faultless_history_passes_every_checker(rules):
    results = run_checkers(faultless(shape(rules), BATCHES, no_data=1))

    assert [(result.name, result.verdict, result.findings) for result in results if result.verdict is not Verdict.PASS] == []


def test_a_row_of_another_value_is_found():
    history = faultless(shape(COUNTED), BATCHES)
    rows = [changed(row, n=7) if row.trace == "e-2" else row for row in rows_of(history, "totals")]

    result = check("row-contents", with_rows(history, "totals", rows))

    assert [(finding.code, finding.event) for finding in result.findings] == [("other-value", "e-2")]


def test_a_timer_that_has_not_fired_is_found():
    history = faultless(shape(SILENT), BATCHES, no_data=1)
    rows = [row for row in rows_of(history, "totals") if "!" not in row.trace]

    result = check("exactly-once", with_rows(history, "totals", rows))

    assert [(finding.code, finding.event) for finding in result.findings] == [("lost", "f-1!silence@113000000")]
