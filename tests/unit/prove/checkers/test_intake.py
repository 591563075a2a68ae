"""Every event is offered to the job once."""

from streamproof.prove.oracle.arrived import BatchRead
from unit.prove.small import ONCE, RECORDS, faultless, only_finding


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
