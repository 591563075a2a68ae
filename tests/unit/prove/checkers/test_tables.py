"""Tables that rows are looked up in: unmatched rows leave by their output, and each batch has the version that was fixed for it (R32)."""

from dataclasses import replace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import OutputHistory, OutputRow
from streamproof.prove.artifacts.table_versions import UsedTable, copy_of, versions_fixed
from streamproof.prove.oracle.arrived import RowFate
from streamproof.prove.scenario.scenario import Expect
from streamproof.prove.sources.tables import batches_behind
from unit.prove.small import FILE, PLAIN, RECORDS, check, faultless, only_finding, with_left

UNKNOWN = "unknown"
USED = UsedTable(0, "prices", "v1", "v1", number=0, earliest=0, latest=1)


@pytest.fixture
def history():
    """Of the first batch one record has no row in the table."""
    first, *others = RECORDS[0]
    whole = faultless(PLAIN, [[replace(first, fate=RowFate.UNMATCHED), *others], *RECORDS[1:]])
    (view,) = whole.queries
    row = OutputRow(0, FILE, {"_trace": first.trace})
    output = OutputHistory(UNKNOWN, "unmatched", (row,))
    return with_left(whole, replace(view.left, outputs={**view.left.outputs, UNKNOWN: output}))


def with_unmatched(history, *rows):
    (view,) = history.queries
    output = replace(view.left.outputs[UNKNOWN], rows=tuple(rows))
    return with_left(history, replace(view.left, outputs={**view.left.outputs, UNKNOWN: output}))


def using(history, *used):
    (view,) = history.queries
    return replace(history, queries=[replace(view, used=used)])


def test_an_unmatched_record_is_in_its_output_and_in_no_other(history):
    assert history.queries[0].model.account.unmatched == 1
    assert [check(name, history).verdict for name in ("side-routing", "account", "exactly-once")] == [Verdict.PASS] * 3


def test_one_that_was_not_delivered_or_twice_or_by_the_wrong_batch_is_found(history):
    (row,) = history.queries[0].left.outputs[UNKNOWN].rows

    assert only_finding("side-routing", with_unmatched(history)).code == "not-delivered"
    assert only_finding("side-routing", with_unmatched(history, row, row)).code == "delivered-again"
    assert only_finding("side-routing", with_unmatched(history, replace(row, batch=1))).code == "wrong-batch"


def test_a_matched_record_in_it_is_found(history):
    (row,) = history.queries[0].left.outputs[UNKNOWN].rows
    matched = OutputRow(0, FILE, {"_trace": RECORDS[0][1].trace})

    finding = only_finding("side-routing", with_unmatched(history, row, matched))

    assert (finding.code, finding.event) == ("wrongly-delivered", RECORDS[0][1].trace)


def test_r32_a_version_that_was_fixed_and_holds_what_the_table_held_is_right(history):
    assert check("table-versions", using(history, USED, replace(USED, batch=1, number=1, fixed=""))).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"version": "", "fixed": "", "number": None}, "not-fixed"),
        ({"fixed": "v0"}, "fixed-otherwise"),
        ({"number": None}, "no-such-state"),
        ({"number": 2}, "other-state"),
    ],
)
def test_r32_another_version_is_found(history, change, code):
    assert only_finding("table-versions", using(history, replace(USED, **change))).code == code


def test_what_a_crash_of_the_machine_has_taken_is_no_fault_of_the_job(history):
    lost = replace(using(history, replace(USED, version="", fixed="", number=None)), power_failure=True)

    assert check("table-versions", lost).verdict is Verdict.PASS


def test_a_copy_that_is_gone_or_damaged_holds_nothing_and_a_torn_file_fixes_nothing(tmp_path):
    folder = tmp_path / "_streamproof/tables"
    (folder / "prices/v1").mkdir(parents=True)
    (folder / "prices/v1/part-0.parquet").write_bytes(b"PAR1")
    (folder / "_pinned").mkdir()
    (folder / "_pinned/0").write_text('{"format": 1, "tables": {"prices": "v1"}}')
    (folder / "_pinned/1").write_text('{"format": 1, "tab')

    assert copy_of(tmp_path, "prices", "v1") is None
    assert copy_of(tmp_path, "prices", "v2") is None
    assert versions_fixed(tmp_path) == {0: {"prices": "v1"}}


def test_a_table_that_held_something_newer_for_too_long_is_found_where_the_scenario_says_how_long_it_may(history):
    used = using(history, USED, replace(USED, batch=1, behind=1), replace(USED, batch=2, behind=2))

    finding = only_finding("expectations", replace(used, expectations=Expect(tables_behind_at_most=1)))

    assert (finding.code, finding.batch) == ("table-behind", 2)
    assert (finding.expected, finding.found) == ("at most 1 batch behind", "2 batches behind")
    assert check("expectations", used).verdict is Verdict.PASS


@pytest.mark.parametrize(("number", "batch", "behind"), [(0, 1, 0), (0, 2, 1), (0, 5, 4), (1, 2, 0), (1, 4, 1), (2, 9, 0)])
def test_a_state_is_behind_from_the_batch_on_that_finds_the_next_one(number, batch, behind):
    assert batches_behind([(0, "a"), (2, "b"), (4, "c")], number, batch) == behind
