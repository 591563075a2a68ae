"""State outside the checkpoint: in the driver's memory, in a store, in a file of a sink's own."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import of_batch, of_sink, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE


@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ("TOTALS[1] = 2", [STOP]),
        ("TOTALS.update(rows.collect())", [STOP]),
        ("global COUNT\nCOUNT += rows.count()", [STOP]),
        ('store.hincrby("k", "f", 1)', [STOP]),
        ("totals = {}\ntotals[1] = 2", []),
        ("found = []\nfound.append(rows.count())", []),
        ('store.hset("k", "f", 1)', []),
    ],
)
def test_what_is_added_up_is_in_the_checkpoint_or_not(tmp_path, does, severity):
    assert severities(of_batch(tmp_path, does), Code.STATE_OUTSIDE) == severity


@pytest.mark.parametrize(
    ("read", "severity"), [('s.read(f"{p}/_totals.json")', [STOP]), ('s.read(f"{p}/_other.json")', []), ("{}", [])]
)
def test_a_sink_that_adds_to_a_file_of_its_own(tmp_path, read, severity):
    does = f'totals = {read}\ns.write(f"{{p}}/_totals.json", totals)'

    assert severities(of_sink(tmp_path, does), Code.STATE_OUTSIDE) == severity
