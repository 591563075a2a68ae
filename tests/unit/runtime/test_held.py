"""What has come out of an operator that holds rows, told by what is left in its state."""

from types import SimpleNamespace

import pytest

from streamproof.runtime.batch.held import HELD, gone_in, since

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
