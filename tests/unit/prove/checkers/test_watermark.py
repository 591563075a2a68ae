"""The watermark is the one that the events lead to."""

import pytest

from streamproof.prove.oracle.arrived import BatchRead
from unit.prove.small import RECORDS, WINDOW, check, faultless, only_finding


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
