"""What was due came."""

from dataclasses import replace

from streamproof.prove.oracle.arrived import BatchRead
from unit.prove.small import RECORDS, WINDOW, faultless, held_by, only_finding, rows_of, with_held, with_left, with_rows


def test_a_window_that_was_due_and_did_not_come_is_found(once):
    rows = [row for row in rows_of(once, "totals") if row.values["client"] != "b"]

    finding = only_finding("liveness", with_rows(once, "totals", rows))

    assert (finding.key, finding.found) == ("client b  00:01:00-00:01:30", "neither emitted nor in state")


def test_a_window_that_was_due_and_is_still_in_state_is_said_to_be_there(once):
    view = once.queries[0]
    key, contents = next(iter(view.model.emitted.items()))
    history = with_rows(once, "totals", [row for row in rows_of(once, "totals") if view.key_of(row) != key])
    left = history.queries[0].left
    windows = {**held_by(left.state).groups, (key[0], contents.end_us): contents.vector}

    finding = only_finding("liveness", with_left(history, replace(left, state=with_held(left.state, groups=windows))))

    assert finding.found == "in state"


def test_a_batch_that_was_planned_and_never_completed_is_found():
    reads = [BatchRead(0, 0, 0, ("part-0-0.json",)), BatchRead(1, 53_000, 0, ("part-1-0.json", "part-2-0.json"), committed=False)]

    finding = only_finding("liveness", faultless(WINDOW, RECORDS, reads=reads))

    assert finding.what == "batch 1 of totals was planned and never completed"
