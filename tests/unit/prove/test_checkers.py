"""Every checker passes a faultless history, and fails a broken one for its own reason, naming the event."""

import json
from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.checkers import KEPT, CannotTell, Finding, registry, run_checker, run_checkers
from streamproof.prove.generate import Kind
from streamproof.prove.history import OutputHistory, OutputRow, QueryView
from streamproof.prove.oracle.arrived import BatchRead
from streamproof.prove.oracle.trace import Vector, hash_of
from streamproof.prove.scenario import Expect
from unit.prove.small import DEDUPLICATED, ONCE, PLAIN, SECOND, WINDOW, at, changed, faultless, rows_of, with_left, with_rows

RECORDS = [
    [at("e-1", 61), at("e-2", 62), at("e-1+1", 61), at("e-3", 63, "b"), at("e-4", 64, fate="rejected")],
    [at("e-5", 130), at("e-6", 65), at("e-7", 66, fate="filtered")],
    [at("e-8", 131), at("e-9", 7), at("e-10", 8)],
]
FILE = "batch=000003/part-00000-bbbb.parquet"


@pytest.fixture
def once():
    """Deduplication and windows: the windows 60-90 of clients a and b are emitted by batch 2, the window 120-150 stays open."""
    return faultless(ONCE, RECORDS, no_data=1)


@pytest.fixture
def plain():
    return faultless(PLAIN, RECORDS)


def check(name, history):
    return run_checker(name, registry()[name], history)


def only_finding(name, history):
    result = check(name, history)
    assert result.verdict is Verdict.FAIL
    assert result.total == 1, result.findings
    return result.findings[0]


@pytest.mark.parametrize("shape", [ONCE, WINDOW, DEDUPLICATED, PLAIN])
def test_a_faultless_history_passes_every_checker(shape):
    results = run_checkers(faultless(shape, RECORDS, no_data=1, expect=Expect(late_at_most=0.5, results_by="event time")))

    assert [(result.name, result.verdict) for result in results if result.verdict is not Verdict.PASS] == []
    assert [result.name for result in results] == [
        "intake",
        "exactly-once",
        "account",
        "publication",
        "window-contents",
        "row-contents",
        "late-routing",
        "rejected-routing",
        "watermark",
        "state-contents",
        "liveness",
        "expectations",
    ]


def test_a_crashed_checker_is_unknown_and_says_why(once):
    def crashes(history):
        yield from ()
        raise KeyError("gone")

    result = run_checker("broken", crashes, once)

    assert (result.verdict, result.problem) == (Verdict.UNKNOWN, "the checker crashed: KeyError: 'gone'")
    assert result.as_dict()["findings"][0]["what"] == result.problem


def test_a_checker_that_found_something_fails_even_if_it_cannot_finish(once):
    def finds_and_gives_up(history):
        yield Finding("e-1", "is wrong")
        raise CannotTell("the rest is not there")

    assert run_checker("half", finds_and_gives_up, once).verdict is Verdict.FAIL


def test_the_first_findings_are_kept_and_all_are_counted(once):
    result = run_checker("many", lambda history: (Finding(None, "wrong") for _ in range(50)), once)

    assert (len(result.findings), result.total) == (KEPT, 50)


# intake


def test_r22_a_file_that_no_batch_has_read_is_found():
    reads = [BatchRead(0, 0, 0, ("part-0-0.json",)), BatchRead(1, 53_000, 0, ("part-2-0.json",))]

    finding = only_finding("intake", faultless(ONCE, RECORDS, reads=reads))

    assert (finding.event, finding.how) == ("e-5", "no batch has read part-1-0.json")
    assert finding.what == "was never offered to totals and 2 more"


def test_r22_a_file_that_two_batches_have_read_is_found():
    reads = [BatchRead(0, 0, 0, ("part-0-0.json",)), BatchRead(1, 53_000, 0, ("part-1-0.json", "part-2-0.json", "part-0-0.json"))]

    finding = only_finding("intake", faultless(ONCE, RECORDS, reads=reads))

    assert (finding.event, finding.found) == ("e-1", "2 times")
    assert finding.how == "part-0-0.json was read by batch 0 and by batch 1"


def test_r22_a_file_of_a_batch_that_was_never_completed_is_found():
    reads = [BatchRead(0, 0, 0, ("part-0-0.json", "part-1-0.json")), BatchRead(1, 120_000, 0, ("part-2-0.json",), committed=False)]

    assert only_finding("intake", faultless(ONCE, RECORDS, reads=reads)).how.endswith("and was never completed")


# exactly once


def test_an_event_that_is_missing_in_a_window_is_named(once):
    rows = rows_of(once, "totals")
    row = next(row for row in rows if row.values["client"] == "a")
    rows[rows.index(row)] = changed(row, _records=2, _trace_hash=row.values["_trace_hash"] - hash_of("e-6"), total=3.0)

    finding = only_finding("exactly-once", with_rows(once, "totals", rows))

    assert (finding.event, finding.what) == ("e-6", "is lost")
    assert finding.expected == "client a  00:01:00-00:01:30  total 4.50"
    assert finding.found == "client a  00:01:00-00:01:30  total 3.00"
    assert finding.how == "the event arrived as row 2 of part-1-0.json in batch 1"


def test_an_event_that_is_counted_twice_in_a_window_is_named(once):
    rows = rows_of(once, "totals")
    row = next(row for row in rows if row.values["client"] == "a")
    rows[rows.index(row)] = changed(row, _records=4, _trace_hash=row.values["_trace_hash"] + hash_of("e-2"))

    finding = only_finding("exactly-once", with_rows(once, "totals", rows))

    assert (finding.event, finding.what) == ("e-2", "is counted twice")


def test_a_late_event_that_got_into_a_window_is_named(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], _records=rows[0].values["_records"] + 1, _trace_hash=rows[0].values["_trace_hash"] + hash_of("e-9"))

    assert only_finding("exactly-once", with_rows(once, "totals", rows)).what == "is counted though it is late"


def test_r15_one_lost_and_one_doubled_do_not_cancel(once):
    rows = rows_of(once, "totals")
    row = next(row for row in rows if row.values["client"] == "a")
    rows[rows.index(row)] = changed(row, _trace_hash=row.values["_trace_hash"] - hash_of("e-1") + hash_of("e-2"))

    found = check("exactly-once", with_rows(once, "totals", rows)).findings

    assert [(finding.event, finding.what) for finding in found] == [("e-1", "is lost"), ("e-2", "is counted twice")]


def test_all_events_of_one_batch_that_are_lost_together_are_found():
    records = [[at(f"e-{number}", 60 + number / 10) for number in range(9)], [at("e-20", 62)], [at("e-21", 130)]]
    history = faultless(WINDOW, records, no_data=1)
    row = rows_of(history, "totals")[0]
    lost = changed(row, _records=1, _trace_hash=hash_of("e-20"))

    finding = only_finding("exactly-once", with_rows(history, "totals", [lost]))

    assert (finding.event, finding.what) == ("e-0", "is lost and 8 more")
    assert finding.how.endswith("all 9 events of batch 0")


def test_rows_that_were_published_again_are_found_with_both_files(once):
    rows = rows_of(once, "totals")
    again = [replace(row, file=row.file.replace("aaaa", "bbbb")) for row in rows]

    result = check("exactly-once", with_rows(once, "totals", rows + again))

    assert result.total == 2
    assert (result.findings[0].event, result.findings[0].what) == ("e-1", "is counted twice and 2 more")
    assert result.findings[0].how.startswith(
        "batch 2 was published 2 times: batch 2 in batch=000002/part-00000-aaaa.parquet, "
        "and again batch 2 in batch=000002/part-00000-bbbb.parquet; the event arrived as row 1"
    )


def test_rows_that_a_sink_without_batches_appended_again_are_found(once):
    rows = [replace(row, batch=None, file="rows.json") for row in rows_of(once, "totals")]

    result = check("exactly-once", with_rows(once, "totals", [*rows, rows[0]]))

    assert (result.total, result.findings[0].how.partition(";")[0]) == (1, "2 rows in rows.json")


def test_a_window_that_is_missing_is_lost_with_its_events(once):
    rows = [row for row in rows_of(once, "totals") if row.values["client"] != "b"]

    finding = only_finding("exactly-once", with_rows(once, "totals", rows))

    assert (finding.event, finding.found) == ("e-3", "no row of this window")
    assert "published 1 rows without it" in finding.how


def test_a_window_that_was_emitted_while_it_is_open_is_found(once):
    key, contents = next(iter(once.queries[0].model.open.items()))
    values = {"client": key[0][0], "window_start": key[1], "_records": contents.count, "_trace_hash": contents.hash}

    finding = only_finding("exactly-once", with_rows(once, "totals", [*rows_of(once, "totals"), OutputRow(3, FILE, values)]))

    assert (finding.event, finding.what) == ("e-5", "is in a final row and 1 more though its window is still open")


def test_rows_without_windows_are_compared_by_trace(plain):
    rows = rows_of(plain, "rows")

    lost = only_finding("exactly-once", with_rows(plain, "rows", rows[1:]))
    doubled = only_finding("exactly-once", with_rows(plain, "rows", [*rows, replace(rows[0], file=FILE)]))
    rejected = only_finding("exactly-once", with_rows(plain, "rows", [*rows, changed(rows[0], _trace="e-4")]))

    assert (lost.event, lost.what) == ("e-1", "is lost: it is in no row of rows")
    assert (doubled.event, doubled.what) == ("e-1", "is in rows twice")
    assert (rejected.event, rejected.what) == ("e-4", "is in rows though it is rejected")


def test_which_copy_a_deduplication_keeps_is_not_a_finding_but_both_are():
    history = faultless(DEDUPLICATED, RECORDS)
    rows = rows_of(history, "totals")
    other = [changed(row, _trace="e-1+1") if row.trace == "e-1" else row for row in rows]

    assert check("exactly-once", with_rows(history, "totals", other)).verdict is Verdict.PASS
    both = only_finding("exactly-once", with_rows(history, "totals", [*rows, changed(rows[0], _trace="e-1+1")]))
    assert (both.event, both.what) == ("e-1", "is in totals twice")


def test_different_events_with_one_key_are_unknown_and_not_red():
    history = faultless(ONCE, [[at("e-1", 60, key="x"), at("e-2", 60, key="x")]])

    assert check("exactly-once", history).verdict is Verdict.UNKNOWN


# account


def test_r15_an_event_in_no_place_is_named(once):
    finding = only_finding("account", with_rows(once, "late", rows_of(once, "late")[1:]))

    assert (finding.event, finding.what) == ("e-9", "is in no place of the account of totals")
    assert finding.expected == "input 11"
    assert finding.found == "emitted 4 + open_state 2 + late 1 + rejected 1 + duplicate 1 + filtered 1 = 10"


def test_r15_an_event_in_two_places_is_named(once):
    finding = only_finding("account", with_rows(once, "late", [*rows_of(once, "late"), OutputRow(2, FILE, {"_trace": "e-8"})]))

    assert (finding.event, finding.what) == ("e-8", "is in two places of the account of totals")


def test_r15_numbers_that_add_up_by_chance_do_not_pass(once):
    rows = rows_of(once, "late")
    rows[0] = changed(rows[0], _trace="e-1")

    assert "adds up in number" in only_finding("account", with_rows(once, "late", rows)).what


def test_an_account_without_state_is_unknown(once):
    assert check("account", with_left(once, replace(once.queries[0].left, state=None))).verdict is Verdict.UNKNOWN


def test_what_a_transform_lost_makes_the_account_unknown(once):
    view = once.queries[0]
    outcome = replace(view.model.batches[0], unknown=("e-2",))
    model = replace(view.model, batches=(outcome, *view.model.batches[1:]))

    result = check("account", replace(once, queries=[replace(view, model=model)]))

    assert (result.verdict, result.problem) == (Verdict.UNKNOWN, "e-2 left totals by a plain transform, which nothing counts.")


# window contents


def test_a_window_emitted_by_the_wrong_batch_is_found(once):
    rows = rows_of(once, "totals")
    rows[0] = replace(rows[0], batch=3, file=FILE)

    finding = only_finding("window-contents", with_rows(once, "totals", rows))

    assert (finding.what, finding.expected, finding.found) == (
        "a window was emitted by the wrong batch",
        "by batch 2",
        "by batch 3",
    )


def test_r23_a_value_that_is_not_the_batch_querys_is_found(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], total=rows[0].values["total"] + 0.01)
    history = with_rows(once, "totals", rows)

    both = check("window-contents", history)

    assert [finding.what for finding in both.findings] == [
        "total is not what the batch query gives",
        "total is not what the hand-written model gives",
    ]


def test_sums_within_the_tolerance_are_equal(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], total=rows[0].values["total"] * (1 + 1e-12))
    history = with_rows(once, "totals", rows)

    assert check("window-contents", history).verdict is Verdict.PASS
    exact = replace(history, expectations=Expect(compare={"total": "exact"}))
    assert check("window-contents", exact).verdict is Verdict.FAIL


def test_lists_are_compared_as_sets_where_the_scenario_says_so(once):
    view, rows = once.queries[0], [changed(row, total=(2, 1)) for row in rows_of(once, "totals")]
    values = {key: {"total": [1, 2]} for key in view.model.emitted}
    history = with_rows(replace(once, queries=[replace(view, equivalence=values, handwritten=None)]), "totals", rows)

    assert check("window-contents", history).verdict is Verdict.FAIL
    assert check("window-contents", replace(history, expectations=Expect(compare={"total": "set"}))).verdict is Verdict.PASS


def test_a_window_that_the_hand_written_model_does_not_have_is_found(once):
    view = once.queries[0]
    fewer = dict(list(view.handwritten.items())[1:])

    finding = only_finding("window-contents", replace(once, queries=[replace(view, handwritten=fewer)]))

    assert finding.what == "the hand-written model has no such window"


def test_values_that_nothing_was_compared_with_are_unknown(once):
    view = replace(once.queries[0], equivalence=None, handwritten=None)

    assert check("window-contents", replace(once, queries=[view])).verdict is Verdict.UNKNOWN


def test_a_window_with_other_events_is_found(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], _records=9)

    assert only_finding("window-contents", with_rows(once, "totals", rows)).what == "a window holds other events than it must"


# late routing


def test_r10_a_late_row_that_was_not_delivered_is_found_with_its_bound(once):
    finding = only_finding("late-routing", with_rows(once, "late", rows_of(once, "late")[1:]))

    assert (finding.event, finding.what, finding.batch) == ("e-9", "is late and was not delivered in late", 2)
    assert "its event time is 1970-01-01 00:00:07Z, the bound of batch 2 is 1970-01-01 00:00:53Z" in finding.how


def test_r10_a_row_that_is_not_late_and_was_delivered_is_found(once):
    rows = [*rows_of(once, "late"), OutputRow(2, FILE, {"_trace": "e-8"})]

    finding = only_finding("late-routing", with_rows(once, "late", rows))

    assert (finding.event, finding.what) == ("e-8", "was delivered in late and is not late")


def test_r5_a_late_row_that_was_delivered_twice_or_by_another_batch_is_found(once):
    rows = rows_of(once, "late")

    twice = only_finding("late-routing", with_rows(once, "late", [*rows, replace(rows[0], file=FILE)]))
    elsewhere = only_finding("late-routing", with_rows(once, "late", [replace(rows[0], batch=3), rows[1]]))

    assert (twice.event, twice.what) == ("e-9", "was delivered twice in late")
    assert elsewhere.what == "was delivered in late by the wrong batch"


def test_a_home_made_late_output_is_held_to_its_name(once):
    other = faultless(replace(PLAIN, query="late"), RECORDS).queries[0]
    file = "batch=000000/part-00000-cccc.parquet"

    def making(*traces):
        rows = tuple(OutputRow(0, file, {"_trace": trace}) for trace in traces)
        left = replace(other.left, outputs={"late": OutputHistory("late", "main", rows)})
        view = QueryView(left, other.model, other.arrived)
        return replace(once, queries=[once.queries[0], view])

    assert check("late-routing", making("e-9", "e-10")).verdict is Verdict.PASS
    assert only_finding("late-routing", making("e-9")).event == "e-10"
    assert only_finding("late-routing", making("e-9", "e-10", "e-6")).what == "was delivered in late and is not late"


# rejected routing


def test_a_rejected_row_that_was_not_delivered_is_found(once):
    finding = only_finding("rejected-routing", with_rows(once, "rejected", []))

    assert (finding.event, finding.what) == ("e-4", "is rejected and was not delivered in rejected")
    assert finding.how.endswith("it was made invalid; rejected because: total > 0")


def test_rejected_rows_keep_reason_and_original_bytes(once):
    row = rows_of(once, "rejected")[0]
    cut = json.dumps({"_trace": "e-4"})

    assert "original bytes" in only_finding("rejected-routing", with_rows(once, "rejected", [changed(row, original=cut)])).what
    assert "another reason" in only_finding("rejected-routing", with_rows(once, "rejected", [changed(row, reason="other")])).what


def test_a_rejected_row_that_nobody_can_trace_is_found(once):
    rows = [*rows_of(once, "rejected"), OutputRow(0, FILE, {"reason": "x", "original": "???"})]

    assert "cannot be traced" in only_finding("rejected-routing", with_rows(once, "rejected", rows)).what


def test_a_malformed_record_that_was_let_through_is_found(once):
    events = {**once.events, "e-6": replace(once.events["e-6"], kind=Kind.MALFORMED)}

    finding = only_finding("rejected-routing", replace(once, events=events))

    assert (finding.event, finding.what) == ("e-6", "was made malformed and was not rejected by totals")


# watermark


@pytest.mark.parametrize(
    ("logged_ms", "what"),
    [(53_001, "is not what the events before it lead to"), (-1, "went back in batch 1")],
)
def test_r13_a_watermark_that_is_not_predicted_or_goes_back_is_found(logged_ms, what):
    reads = [
        BatchRead(0, 0, 0, ("part-0-0.json",)),
        BatchRead(1, logged_ms, 0, ("part-1-0.json",)),
        BatchRead(2, 120_000, 0, ("part-2-0.json",)),
    ]

    finding = only_finding("watermark", faultless(WINDOW, RECORDS, reads=reads))

    assert what in finding.what


def test_r13_a_zero_watermark_delay_is_found():
    reads = [
        BatchRead(0, 0, 0, ("part-0-0.json",)),
        BatchRead(1, 63_000, 0, ("part-1-0.json",)),
        BatchRead(2, 130_000, 0, ("part-2-0.json",)),
    ]

    assert check("watermark", faultless(WINDOW, RECORDS, reads=reads)).total == 2


# state contents


def with_state(history, **changes):
    left = history.queries[0].left
    return with_left(history, replace(left, state=replace(left.state, **changes)))


def test_an_event_that_state_has_lost_is_named(once):
    windows = dict(once.queries[0].left.state.windows)
    key = (("a",), 120 * SECOND)
    windows[key] = windows[key].minus(Vector(1, hash_of("e-8")))

    finding = only_finding("state-contents", with_state(once, windows=windows))

    assert (finding.event, finding.what) == ("e-8", "is missing in state")


def test_a_window_that_is_missing_in_state_or_should_have_gone_is_found(once):
    state = once.queries[0].left.state

    assert only_finding("state-contents", with_state(once, windows={})).what == "is missing in state and 1 more"
    left_over = with_state(once, windows={**state.windows, (("a",), 60 * SECOND): Vector(1, 1)})
    assert only_finding("state-contents", left_over).what == "a window is still in state though it was due"


def test_r12_a_key_that_is_forgotten_too_early_kept_too_long_or_for_another_time_is_found(once):
    remembered = dict(once.queries[0].left.state.remembered)
    assert remembered == {("e-5",): 140 * SECOND, ("e-8",): 141 * SECOND}

    def finding(**changes):
        return only_finding("state-contents", with_state(once, **changes)).what

    assert "has forgotten e-8 too early" in finding(remembered={("e-5",): 140 * SECOND})
    assert "remembers e-1, which it should not" in finding(remembered={**remembered, ("e-1",): 71 * SECOND})
    assert "remembers e-8 for another time" in finding(remembered={**remembered, ("e-8",): 1})
    assert "holds the key e-8 twice" in finding(repeated=("key e-8",))


def test_state_that_was_not_read_is_unknown(once):
    assert check("state-contents", with_left(once, replace(once.queries[0].left, state=None))).verdict is Verdict.UNKNOWN


# liveness


def test_a_window_that_was_due_and_did_not_come_is_found(once):
    rows = [row for row in rows_of(once, "totals") if row.values["client"] != "b"]

    finding = only_finding("liveness", with_rows(once, "totals", rows))

    assert (finding.key, finding.found) == ("client b  00:01:00-00:01:30", "neither emitted nor in state")


def test_a_batch_that_was_planned_and_never_completed_is_found():
    reads = [BatchRead(0, 0, 0, ("part-0-0.json",)), BatchRead(1, 53_000, 0, ("part-1-0.json", "part-2-0.json"), committed=False)]

    finding = only_finding("liveness", faultless(WINDOW, RECORDS, reads=reads))

    assert finding.what == "batch 1 of totals was planned and never completed"


# expectations


@pytest.mark.parametrize(
    ("expect", "what"),
    [
        (Expect(late_at_most=0.1), "18.18% of the input of totals is late; the scenario allows 10.00%"),
        (Expect(rejected_at_most=0.01), "9.09% of the input of totals is rejected"),
        (Expect(open_at_most=0.1), "18.18% of the input of totals is open at the end"),
    ],
)
def test_more_than_the_scenario_allows_is_found(expect, what):
    assert what in only_finding("expectations", faultless(ONCE, RECORDS, no_data=1, expect=expect)).what


def test_a_job_that_goes_by_another_time_is_found(once):
    events = {**once.events, "e-2": replace(once.events["e-2"], time_us=5 * SECOND)}
    history = replace(once, events=events, expectations=Expect(results_by="event time"))

    finding = only_finding("expectations", history)

    assert (finding.event, finding.what) == ("e-2", "is placed by another time than it happened")
    assert (finding.expected, finding.found) == ("1970-01-01 00:00:05Z", "1970-01-01 00:01:02Z")
