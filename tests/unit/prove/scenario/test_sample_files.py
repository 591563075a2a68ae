"""The files of a sample hold its events, in its own format and in the order in which Spark takes them."""

from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.errors import ScenarioError
from streamproof.prove.scenario.perturb import Perturbation, perturb
from streamproof.prove.scenario.sample import read_sample
from streamproof.prove.scenario.sample_files import write_sample_files

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
ROWS = [
    {
        "id": f"t{number}",
        "at": NINE.replace(second=number),
        "price": Decimal(number) / 4 if number else None,
        "address": {"city": "Ulm"},
    }
    for number in range(50)
]
AVRO = {
    "type": "record",
    "name": "Trade",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {"name": "address", "type": {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]}},
    ],
}


@pytest.fixture(params=["json", "csv", "parquet", "avro"])
def sample(request, tmp_path):
    path = tmp_path / f"trades.{request.param}"
    match request.param:
        case "json":
            path.write_text("".join(f'{{"id": "{row["id"]}", "at": "{row["at"].isoformat()}"}}\n' for row in ROWS))
        case "csv":
            path.write_text("id,at\n" + "".join(f"{row['id']},{row['at'].isoformat()}\n" for row in ROWS))
        case "parquet":
            schema = pa.schema(
                {
                    "id": pa.string(),
                    "at": pa.timestamp("us", tz="UTC"),
                    "price": pa.decimal128(10, 2),
                    "address": pa.struct({"city": pa.string()}),
                }
            )
            pq.write_table(pa.Table.from_pylist(ROWS, schema=schema), path)
        case _:
            with path.open("wb") as file:
                fastavro.writer(file, AVRO, ROWS)
    return read_sample("trades", path)


def test_what_is_written_is_what_was_read(sample, tmp_path):
    events = perturb(sample, Perturbation(malformed=0), 7)

    traces = write_sample_files(events, sample, tmp_path / "events", files=4)

    assert [trace for content in traces.values() for trace in content] == [event.trace for event in events]
    assert list(traces) == [f"trades-{number:05d}.{sample.format}" for number in range(4)]
    assert {len(content) for content in traces.values()} <= {12, 13}
    written = [record for name in traces for record in read_sample("trades", tmp_path / "events" / name).records]
    assert written == [event.record for event in events]


def test_files_have_an_order_and_the_same_bytes_again(sample, tmp_path):
    events = perturb(sample, Perturbation(), 7)
    for folder in ("one", "two"):
        write_sample_files(events, sample, tmp_path / folder, files=3)
    one, two = (sorted((tmp_path / folder).iterdir()) for folder in ("one", "two"))

    assert all(later.stat().st_mtime - earlier.stat().st_mtime == 1 for earlier, later in pairwise(one))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_the_age_is_left_alone_if_so_wished(sample, tmp_path):
    before = sample.path.stat().st_mtime
    write_sample_files([], sample, tmp_path / "events", files=2, modified=False)

    assert all(path.stat().st_mtime >= before for path in (tmp_path / "events").iterdir())


def test_an_empty_file_is_one_of_the_format(sample, tmp_path):
    traces = write_sample_files(perturb(sample, Perturbation(), 7)[:1], sample, tmp_path / "events", files=3)

    assert [len(content) for content in traces.values()] == [0, 0, 1]
    empty = tmp_path / "events" / f"trades-00000.{sample.format}"
    match sample.format:
        case "json":
            assert empty.read_bytes() == b""
        case "csv":
            assert empty.read_bytes() == b"id,at\n"
        case "parquet":
            assert pq.read_table(empty).num_rows == 0
            assert pq.read_schema(empty).names == list(ROWS[0])
        case _:
            with empty.open("rb") as file:
                assert list(fastavro.reader(file)) == []


def test_a_cut_line_is_written_as_it_is(tmp_path):
    path = tmp_path / "trades.json"
    path.write_text('{"id": "größer"}\n' * 5)
    sample = read_sample("trades", path)
    events = perturb(sample, Perturbation(malformed=1, duplicates=0), 7)

    write_sample_files(events, sample, tmp_path / "events", files=1)

    assert (tmp_path / "events" / "trades-00000.json").read_bytes().splitlines() == [event.record.raw for event in events]


def test_no_file_is_no_way_to_write(sample, tmp_path):
    with pytest.raises(ScenarioError, match="to 0 files"):
        write_sample_files([], sample, tmp_path, files=0)
