"""Every event counts once; the one that does not is named."""

from dataclasses import replace

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import OutputRow
from streamproof.prove.checkers.exactly_once import Code
from streamproof.prove.oracle.trace import hash_of
from unit.prove.small import (
    DEDUPLICATED,
    FILE,
    ONCE,
    RECORDS,
    WINDOW,
    at,
    changed,
    check,
    faultless,
    only_finding,
    rows_of,
    with_rows,
    with_two_sinks,
)


def test_an_event_that_is_missing_in_a_window_is_named(once):
    rows = rows_of(once, "totals")
    row = next(row for row in rows if row.values["client"] == "a")
    rows[rows.index(row)] = changed(row, _records=2, _trace_hash=row.values["_trace_hash"] - hash_of("e-6"), total=3.0)

    finding = only_finding("exactly-once", with_rows(once, "totals", rows))

    assert (finding.event, finding.code, finding.what) == ("e-6", Code.LOST, "is lost")
    assert finding.expected == "client a  00:01:00-00:01:30  total 4.50"
    assert finding.found == "client a  00:01:00-00:01:30  total 3.00"
    assert finding.how == "the event arrived as row 2 of part-1-0.json in batch 1"


def test_an_event_that_is_counted_twice_in_a_window_is_named(once):
    rows = rows_of(once, "totals")
    row = next(row for row in rows if row.values["client"] == "a")
    rows[rows.index(row)] = changed(row, _records=4, _trace_hash=row.values["_trace_hash"] + hash_of("e-2"))

    finding = only_finding("exactly-once", with_rows(once, "totals", rows))

    assert (finding.event, finding.code, finding.what) == ("e-2", Code.COUNTED_AGAIN, "is counted twice")


def test_a_late_event_that_got_into_a_window_is_named(once):
    rows = rows_of(once, "totals")
    rows[0] = changed(rows[0], _records=rows[0].values["_records"] + 1, _trace_hash=rows[0].values["_trace_hash"] + hash_of("e-9"))

    assert only_finding("exactly-once", with_rows(once, "totals", rows)).code is Code.COUNTED_WRONGLY


def test_r15_one_lost_and_one_doubled_do_not_cancel(once):
    rows = rows_of(once, "totals")
    row = next(row for row in rows if row.values["client"] == "a")
    rows[rows.index(row)] = changed(row, _trace_hash=row.values["_trace_hash"] - hash_of("e-1") + hash_of("e-2"))

    found = check("exactly-once", with_rows(once, "totals", rows)).findings

    assert [(finding.event, finding.code) for finding in found] == [("e-1", Code.LOST), ("e-2", Code.COUNTED_AGAIN)]


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
    assert (result.findings[0].event, result.findings[0].code) == ("e-1", Code.PUBLISHED_AGAIN)
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

    assert (finding.event, finding.code) == ("e-5", Code.NOT_DUE)


def test_rows_without_windows_are_compared_by_trace(plain):
    rows = rows_of(plain, "rows")

    lost = only_finding("exactly-once", with_rows(plain, "rows", rows[1:]))
    doubled = only_finding("exactly-once", with_rows(plain, "rows", [*rows, replace(rows[0], file=FILE)]))
    rejected = only_finding("exactly-once", with_rows(plain, "rows", [*rows, changed(rows[0], _trace="e-4")]))

    assert (lost.event, lost.code) == ("e-1", Code.LOST)
    assert (doubled.event, doubled.what) == ("e-1", "is in rows twice")
    assert (rejected.event, rejected.code) == ("e-4", Code.UNEXPECTED)


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


def test_k7_each_of_several_sinks_is_held_to_the_model(plain):
    """What one sink has lost is lost, whatever the other has; it is named by the sink."""
    history = with_two_sinks(plain, "rows", rows_of(plain, "rows")[1:])

    finding = only_finding("exactly-once", history)

    assert (finding.event, finding.what) == ("e-1", "is lost: it is in no row of rows.two")
    assert check("exactly-once", with_two_sinks(plain, "rows", rows_of(plain, "rows"))).verdict is Verdict.PASS
