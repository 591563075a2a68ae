"""Late rows leave by the late output."""

from dataclasses import replace

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import OutputHistory, OutputRow, QueryView
from streamproof.prove.oracle.windows import PlainHopping
from unit.prove.small import DEDUPLICATED, FILE, PLAIN, RECORDS, SECOND, Shape, check, faultless, only_finding, rows_of, with_rows


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
    other = faultless(replace(PLAIN, name="late"), RECORDS).queries[0]
    file = "batch=000000/part-00000-cccc.parquet"

    def making(*traces):
        rows = tuple(OutputRow(0, file, {"_trace": trace}) for trace in traces)
        left = replace(other.left, outputs={"late": OutputHistory("late", "main", rows)})
        view = QueryView(left, other.model, other.arrived)
        return replace(once, queries=[once.queries[0], view])

    assert check("late-routing", making("e-9", "e-10")).verdict is Verdict.PASS
    assert only_finding("late-routing", making("e-9")).event == "e-10"
    assert only_finding("late-routing", making("e-9", "e-10", "e-6")).what == "was delivered in late and is not late"


def test_k7_a_home_made_late_output_is_not_held_against_another_reading_of_itself(once):
    """Its own query, for which nothing is late, does not say what such an output holds; the other one does."""
    other = faultless(replace(DEDUPLICATED, name="late", delay_us=1_000 * SECOND), RECORDS).queries[0]
    rows = tuple(OutputRow(0, FILE, {"_trace": trace}) for trace in ("e-9", "e-10"))
    views = [
        QueryView(replace(other.left, outputs={"late": OutputHistory(name, "main", rows)}), other.model, other.arrived)
        for name in ("late.one", "late.two")
    ]

    held = [against.name for _, against in replace(once, queries=[*views, once.queries[0]]).home_made("late")]

    assert held == ["totals", "totals"]


HOPS = Shape("totals", "ts", 10 * SECOND, PlainHopping(30 * SECOND, 15 * SECOND), ("client",), ("total",))


def late_for(history, *, ends):
    """The history with its late rows naming these windows, in their order."""
    view = history.queries[0]
    rows = [
        replace(row, values={**row.values, "window_end": end}) for row, end in zip(view.sides("late")[0].rows, ends, strict=True)
    ]
    return with_rows(history, "late", rows)


def test_r11_a_late_row_names_the_window_that_it_missed_each_of_them_once():
    history = faultless(HOPS, RECORDS)
    ends = [
        end for outcome in history.queries[0].model.batches for end in (row.values["window_end"] for row in outcome.side("late"))
    ]
    assert len(ends) > 2
    assert ends[0] != ends[1]

    assert check("late-routing", late_for(history, ends=ends)).verdict is Verdict.PASS
    twice = check("late-routing", late_for(history, ends=[ends[0], ends[0], *ends[2:]]))
    assert twice.verdict is Verdict.FAIL
    assert {finding.code for finding in twice.findings} == {"late-for-another-window"}


def test_behind_a_deduplication_an_event_is_late_as_a_whole():
    history = faultless(replace(HOPS, deduplicate=("id",)), RECORDS)

    assert history.queries[0].sides("late")[0].rows
    assert check("late-routing", history).verdict is Verdict.PASS
