"""Rejected rows leave by the rejected output."""

import json
from dataclasses import replace

import pytest

from streamproof.core.file_formats import FILE_FORMATS
from streamproof.prove.artifacts.history import OutputRow
from streamproof.prove.scenario.generate import Kind
from unit.prove.small import FILE, changed, check, only_finding, rows_of, with_left_by, with_rows


def test_a_rejected_row_that_was_not_delivered_is_found(once):
    finding = only_finding("rejected-routing", with_rows(once, "rejected", []))

    assert (finding.event, finding.what) == ("e-4", "is rejected and was not delivered in rejected")
    assert finding.how.endswith("it was made invalid; rejected because: total > 0")


def test_rejected_rows_keep_reason_and_original_bytes(once):
    row = rows_of(once, "rejected")[0]
    cut = json.dumps({"_trace": "e-4"})

    assert "original bytes" in only_finding("rejected-routing", with_rows(once, "rejected", [changed(row, original=cut)])).what
    assert "another reason" in only_finding("rejected-routing", with_rows(once, "rejected", [changed(row, reason="other")])).what


@pytest.mark.parametrize("form", FILE_FORMATS)
def test_only_a_record_in_a_line_has_bytes_that_must_be_kept(once, form):
    """A file that says its types holds no record as text: what is kept of it is the row as JSON."""
    files = {f"{name.rpartition('.')[0]}.{form}": traces for name, traces in once.offered.traces_of_file.items()}
    row = changed(rows_of(once, "rejected")[0], original=json.dumps({"_trace": "e-4"}))
    read = replace(with_rows(once, "rejected", [row]), offered=replace(once.offered, traces_of_file=files))

    assert all("original bytes" in one.what for one in check("rejected-routing", read).findings)
    assert bool(check("rejected-routing", read).findings) is not FILE_FORMATS[form].typed


def test_a_rejected_row_that_nobody_can_trace_is_found(once):
    rows = [*rows_of(once, "rejected"), OutputRow(0, FILE, {"reason": "x", "original": "???"})]

    assert "cannot be traced" in only_finding("rejected-routing", with_rows(once, "rejected", rows)).what


def test_a_malformed_record_that_was_let_through_is_found(once):
    events = {**once.events, "e-6": replace(once.events["e-6"], kind=Kind.MALFORMED)}

    finding = only_finding("rejected-routing", replace(once, offered=replace(once.offered, events=events)))

    assert (finding.event, finding.what) == ("e-6", "was made malformed and was not rejected by totals")


def test_r13_an_event_that_only_the_clock_of_its_batch_takes_for_a_future_one_must_be_rejected(once):
    (view,) = once.queries
    first, *others = view.model.batches
    planned_early = with_left_by(first, "rejected", "e-1")

    moved = replace(once, queries=[replace(view, model=replace(view.model, batches=(planned_early, *others)))])
    finding = only_finding("rejected-routing", moved)

    assert (finding.event, finding.what) == ("e-1", "is rejected and was not delivered in rejected")
    assert finding.how.endswith("it was made ok; by the clock that its batch was planned by it lies too far in the future")
