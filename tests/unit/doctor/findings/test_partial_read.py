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
        ('table = DeltaTable.forPath(rows.sparkSession, "/t")\nsend(rows.take(100))', [STOP]),
        ('sample = rows.take(5)\nrows.write.mode("overwrite").parquet("/out")', []),
        ('sample = rows.take(5)\nprint(sample)\nlog.info("%s", sample)\nsave(rows)', []),
        ('rows.write.mode("overwrite").parquet("/out")\nalert(rows.limit(5).toPandas())', []),
        ('rows.write.mode("overwrite").parquet("/out")\nrows.limit(5).write.parquet("/sample")', [WARN]),
        ("if len(rows.take(10)) > 5:\n    send(rows.collect())", []),
        ("n = rows.limit(100).count()\nsend(rows.collect())", []),
        ('print(f"of these: {rows.take(3)}")\nrows.write.parquet("/out")', []),
        ("for row in rows.take(3):\n    print(row)\nsend(rows.collect())", []),
        ("for row in rows.take(3):\n    send(row)", [STOP]),
        ('few = rows.limit(5)\nfew.write.parquet("/out")', [STOP]),
        ('rows = rows.limit(5)\nrows.write.parquet("/out")', [STOP]),
        ("few = [row.asDict() for row in rows.take(5)]\nsend(few)", [STOP]),
        ("first = rows.head(5)[0]\nsend(first)", [STOP]),
    ],
)
def test_a_batch_is_read_to_its_end_or_not(tmp_path, does, severity):
    assert severities(of_batch(tmp_path, does), Code.PARTIAL_READ) == severity
    assert severities(of_sink(tmp_path, does), Code.PARTIAL_READ) == severity
