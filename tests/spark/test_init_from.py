"""What `init --from` makes of a sample runs as it stands: every record is in one place."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest

from streamproof.cli.init import write_from_sample
from streamproof.config import load
from streamproof.runtime.run import run_job

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.mark.full
def test_the_job_of_a_sample_in_json_runs(spark, tmp_path):
    sample = tmp_path / "orders.jsonl"
    orders = [
        {
            "order_id": number,
            "customer": "ab"[number % 2],
            "price": 1.5,
            "address": {"city": "Ulm", "tags": ["x"]},
            "created_at": (NINE + timedelta(seconds=6 * number)).isoformat(),
        }
        for number in range(240)
    ]
    sample.write_text("".join(json.dumps(order) + "\n" for order in orders))
    write_from_sample(tmp_path / "my_job", sample)

    result = run_job(load(tmp_path / "my_job"), spark=spark)

    assert (result.rows_in, result.account_input) == (240, 240)
    assert (result.account.late, result.account.rejected, result.account.duplicate) == (0, 0, 0)
    assert result.account.emitted + result.account.open_state == 240
    rows = [
        row
        for file in sorted((tmp_path / "my_job/out/totals").glob("batch=*/*.parquet"))
        for row in pq.ParquetFile(file).read().to_pylist()
    ]
    assert sum(row["records"] for row in rows) == result.account.emitted > 100
    assert all((row["customer"] in "ab", row["price"], row["records"]) == (True, 7.5, 5) for row in rows), "five in each minute"
