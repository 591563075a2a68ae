"""A batch that is written twice: foreachBatch that appends, inserts or adds, and its sound twins."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import of_batch, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE


@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ('rows.write.mode("append").parquet("/out")', [STOP]),
        ('rows.write.mode("append").format("delta").save("/out")', [STOP]),
        ('rows.write.insertInto("out")', [STOP]),
        ('db.execute("INSERT INTO out VALUES (?)", rows)', [WARN]),
        ('db.execute("INSERT INTO o VALUES (?) ON CONFLICT (k) DO UPDATE SET n = n + excluded.n")', [STOP]),
        ('db.execute("UPDATE o SET n = o.n + ? WHERE k = ?")', [STOP]),
        ('rows.write.mode("overwrite").parquet(f"/out/batch={batch}")', []),
        ('rows.write.option("txnAppId", "a").option("txnVersion", batch).mode("append").save("/out")', []),
        ('db.execute("INSERT INTO o VALUES (?) ON CONFLICT (k) DO UPDATE SET n = excluded.n")', []),
        ('rows.write.mode("append").options(txnAppId="a", txnVersion=batch).save("/out")', []),
        ('rows.write.mode("append").option(key="txnAppId", value="a").option("txnVersion", batch).save("/out")', []),
        ('rows.write.mode("append").options(**dict(txnAppId="a", txnVersion=batch)).save("/out")', []),
        ('o = {"txnAppId": "a", "txnVersion": batch}\nrows.write.mode("append").options(**o).save("/out")', []),
        ('rows.write.format("delta").save("/out", mode="append", txnAppId="a", txnVersion=batch)', []),
        ('rows.write.mode("append").options(**once(batch)).save("/out")', [WARN]),
        ('rows.write.mode("append").option(APPLICATION, "a").option("txnVersion", batch).save("/out")', [WARN]),
        ('rows.write.mode(saveMode="append").parquet("/out")', [STOP]),
        ('rows.write.parquet("/out", mode="append")', [STOP]),
        ('rows.write.jdbc(url, "t", "append")', [STOP]),
        ('rows.write.saveAsTable("t", mode="append")', [STOP]),
        ('rows.writeTo("t").append()', [STOP]),
        ('rows.write.insertInto("out", overwrite=True)', []),
        ('rows.write.mode("overwrite").insertInto("out")', []),
        ('rows.write.mode("append").insertInto("out")', [STOP]),
        ('rows.write.mode("append" if batch in written() else "overwrite").save("/out")', []),
        ('if batch not in written():\n    rows.write.mode("append").parquet("/out")', []),
    ],
)
def test_foreach_batch_is_idempotent_or_not(tmp_path, does, severity):
    assert severities(of_batch(tmp_path, does), Code.NOT_IDEMPOTENT) == severity
