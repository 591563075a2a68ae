"""What has come out of an operator that holds rows, told by what is left in its state."""

from types import SimpleNamespace

import pytest

from streamproof.runtime.batch.held import HELD, GoneOn, gone_in, gone_on, since

COUNTS = {"input": 20, "late": 2, "rejected": 1, "filtered": 1, "unmatched": 3, "emitted": 99}
MEASURED = {"held": 6, "met": 10, "dropped": 0}


def emitted(measured=MEASURED, *, rows=7, before=4):
    counts = {**COUNTS, **gone_in(COUNTS, measured, rows=rows, alone=3)}
    return since(counts, SimpleNamespace(counts={HELD: before}))["emitted"]


def test_what_has_gone_in_and_is_no_longer_there_has_come_out():
    assert emitted() == 20 - (2 + 1 + 1 + 3) - 6 + 4
    assert gone_in(COUNTS, MEASURED, rows=7, alone=3)[HELD] == 6


def test_the_first_batch_has_begun_with_nothing():
    assert since({"emitted": -2, HELD: 6}, None) == {"emitted": -2, HELD: 6}
    assert since({"emitted": 5}, SimpleNamespace(counts={HELD: 4})) == {"emitted": 5}, "of other operators it is counted"


@pytest.mark.parametrize(("rows", "off"), [(6, -1), (8, 1)], ids=["one is dropped behind it", "one is doubled"])
def test_a_transform_behind_it_that_drops_or_doubles_rows_shows(rows, off):
    assert emitted(rows=rows) == emitted() + off


def test_what_spark_drops_shows():
    assert emitted({**MEASURED, "dropped": 1}) == emitted() - 1


def gone(measured=MEASURED, *, rows=7, records=12, once=None):
    return gone_on({**COUNTS, "duplicate": 2}, measured, joined=GoneOn(rows, records), once=once, out=9, alone=3)


def expanded(**given):
    return since({**COUNTS, **gone(**given)}, SimpleNamespace(counts={HELD: 4}), goes_on=True)["expanded"]


def test_where_rows_go_on_each_record_counts_in_each_of_them_and_no_more_where_it_has_waited():
    left = 20 - (2 + 1 + 1 + 3) - 6 + 4
    assert expanded() == 12 - left
    assert (gone()[HELD], gone()["emitted"]) == (6, 9)


@pytest.mark.parametrize(
    ("given", "off"),
    [({"measured": {**MEASURED, "dropped": 1}}, 1), ({"rows": 6, "records": 10}, -1)],
    ids=["Spark drops one in the join", "a row is lost on the way"],
)
def test_what_does_not_come_on_makes_the_account_wrong(given, off):
    """Of a row that is lost on the way its two records are missing in what follows, which the account then has too few of."""
    assert expanded(**given) == expanded() + off


def test_a_deduplication_after_it_drops_records_of_both_sides():
    """Of seven rows five stay, of eight records: Spark says that it has dropped two."""
    assert gone({**MEASURED, "duplicate": 2}, once=GoneOn(5, 8))["duplicate"] == 12 - 8
    assert gone({**MEASURED, "duplicate": 1}, once=GoneOn(5, 8))["duplicate"] == 12 - 8 - 1, (
        "the other was late to it, and is in no place"
    )
