"""A batch that is cut before it is written, and one of which a part is only looked at."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import of_batch, of_sink, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE


@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ('rows.limit(5).write.mode("overwrite").parquet("/out")', [STOP]),
        ("send(rows.take(100))", [STOP]),
        ("rows.limit(20).show()", []),
        ("if rows.head(1):\n    send(rows.collect())", []),
        ("send(rows.collect())", []),
    ],
)
def test_a_batch_is_read_to_its_end_or_not(tmp_path, does, severity):
    assert severities(of_batch(tmp_path, does), Code.PARTIAL_READ) == severity
    assert severities(of_sink(tmp_path, does), Code.PARTIAL_READ) == severity
