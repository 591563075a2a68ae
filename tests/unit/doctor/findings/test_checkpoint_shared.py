"""Two queries on one checkpoint, and two ways to start one query."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import plain, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE


TWO = """
rows = spark.readStream.json("/in")
if ever:
    rows.writeStream.option("checkpointLocation", "/c/1").start()
{otherwise}
    rows.writeStream.option("checkpointLocation", "{second}").start()
"""


@pytest.mark.parametrize(
    ("otherwise", "second", "severity"), [("if True:", "/c/1", [STOP]), ("if True:", "/c/2", []), ("else:", "/c/1", [])]
)
def test_a_checkpoint_is_shared_or_not(tmp_path, otherwise, second, severity):
    assert severities(plain(tmp_path, TWO.format(otherwise=otherwise, second=second)), Code.CHECKPOINT_SHARED) == severity
