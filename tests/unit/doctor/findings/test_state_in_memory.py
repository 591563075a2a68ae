"""A state store in memory, as the text of a job shows it: only where something keeps state."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import plain, severities

JOIN = """
clicks = spark.readStream.json("/in").withWatermark("at", "1 minute")
other = spark.{other}
{joined}.writeStream.option("checkpointLocation", "/c").start("/out")
"""
TABLE, STREAM = 'read.parquet("/users")', 'readStream.json("/users").withWatermark("at", "1 minute")'


@pytest.mark.parametrize(
    ("other", "joined", "severity"),
    [
        (TABLE, 'clicks.join(other, "user")', []),
        (TABLE, 'clicks.join(other=other, on="user")', []),
        (TABLE, 'other.join(clicks, "user")', []),
        (TABLE, 'clicks.join(other.dropDuplicates(["user"]).groupBy("user").count(), "user")', []),
        (TABLE, 'clicks.join(other, "user").dropDuplicates(["id", "at"])', [Severity.NOTE]),
        (STREAM, 'clicks.join(other, "user")', [Severity.NOTE]),
        (STREAM, 'clicks.join(other=other, on="user")', [Severity.NOTE]),
    ],
)
def test_a_join_keeps_state_where_both_sides_are_streams(tmp_path, other, joined, severity):
    assert severities(plain(tmp_path, JOIN.format(other=other, joined=joined)), Code.STATE_IN_MEMORY) == severity
