"""`init --from`: a folder that fits records of the user's own, and that `check` finds nothing wrong with."""

import json
import tomllib
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.config import load
from streamproof.prove.scenario.generate import Kind, generate
from streamproof.prove.scenario.scenario import load_scenario
from streamproof.prove.scenario.schedule import write_events
from streamproof.prove.scenario.written_time import shape_of_source

SECOND = 1_767_603_600
NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
ORDERS = [
    {
        "order_id": f"o-{number:04d}",
        "customer": ("anna", "bert", "carl")[number % 3],
        "price": number * 1.25,
        "items": number % 7,
        "created_at": NINE + timedelta(seconds=7 * number),
    }
    for number in range(200)
]
AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": "string"},
        {"name": "customer", "type": "string"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "items", "type": "int"},
        {"name": "created_at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    ],
}


def orders(ending: str) -> Path:
    path = Path(f"orders.{ending}")
    match ending:
        case "parquet":
            pq.write_table(pa.Table.from_pylist(ORDERS), path)
        case "avro":
            with path.open("wb") as file:
                fastavro.writer(file, AVRO, [order | {"price": Decimal(order["price"])} for order in ORDERS])
        case "csv":
            lines = [",".join(map(str, (*list(order.values())[:4], order["created_at"].isoformat()))) for order in ORDERS]
            path.write_text("\n".join([",".join(ORDERS[0]), *lines]) + "\n")
        case _:
            more = {"tags": ["a"], "address": {"city": "Köln", "floor": None}}
            lines = [json.dumps(order | more | {"created_at": int(order["created_at"].timestamp() * 1_000)}) for order in ORDERS]
            path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(params=["jsonl", "csv", "parquet", "avro"])
def made(streamproof, request):
    """The folder made from a sample, and what was printed."""
    result = streamproof("init", "my_job", "--from", str(orders(request.param)))
    assert result.code == 0, result.err
    return Path("my_job"), result.out, request.param


def test_check_finds_nothing_wrong(streamproof, made):
    result = streamproof("check", "my_job")

    assert result.code == 0, result.out
    assert "job.py:orders_totals(orders) -> totals, late, rejected" in result.out
    assert "scenario.toml, 1,000 events" in result.out


def test_the_job_fits_the_columns(made):
    folder, out, ending = made
    text = (folder / "job.py").read_text()
    source = load(folder).source["orders"]

    for step in (
        'require(order_id="order_id is not null")',
        'deduplicate("order_id")',
        'window(sp.tumbling("1 minute"), by="customer", allowed_lateness="1 minute", emit="final")',
        'aggregate(price=F.sum("price"), records=F.count("*"))',
    ):
        assert step in text
    assert (source.event_time.column, source.event_time.unit) == ("created_at", "milliseconds" if ending == "jsonl" else None)
    assert source.format == ("parquet" if ending == "parquet" else "json")
    assert ("records lie in data/ as JSON" in out) == (ending in ("csv", "avro")), "what is converted is said"
    assert not (folder / "model.py").exists()
    assert {path.name for path in folder.iterdir()} == {
        "README.md",
        "data",
        "job.py",
        "scenario.toml",
        "streamproof.toml",
        "test_job.py",
    }
    for file in ("job.py", "test_job.py"):
        compile((folder / file).read_text(), file, "exec")


def test_the_records_lie_in_data_in_their_order(made):
    folder, _, ending = made
    files = sorted((folder / "data/orders").iterdir())

    assert len(files) == 4
    assert all(later.stat().st_mtime > earlier.stat().st_mtime for earlier, later in pairwise(files))
    if ending == "parquet":
        assert [row for file in files for row in pq.read_table(file).to_pylist()] == ORDERS
    else:
        lines = [line for file in files for line in file.read_text().splitlines()]
        assert [json.loads(line)["order_id"] for line in lines] == [order["order_id"] for order in ORDERS]
        assert [json.loads(line)["price"] for line in lines] == [order["price"] for order in ORDERS]
    if ending == "jsonl":
        assert lines == Path("orders.jsonl").read_text().splitlines(), "as they stand"


def test_the_generator_makes_events_like_those_of_the_sample(made, tmp_path):
    folder, _, _ = made
    scenario, source = load_scenario(folder), load(folder).source["orders"]

    events = generate(scenario, "orders", shape_of_source(source))

    sound = [event.values for event in events if event.kind is Kind.OK]
    assert list(sound[0]) == list(tomllib.loads((folder / "scenario.toml").read_text())["source"]["orders"]["columns"])
    assert {values["customer"] for values in sound} == {"anna", "bert", "carl"}
    assert all(values["order_id"].startswith("o-") for values in sound)
    assert len({values["order_id"] for values in sound}) == len(sound)
    assert all(0 <= values["price"] <= 248.75 and 0 <= values["items"] <= 6 for values in sound)
    assert {Kind.DUPLICATE, Kind.MISSING_TIME, Kind.FUTURE_TIME} <= {event.kind for event in events}
    if source.format == "parquet":
        columns = dict(part.split(" ") for part in source.schema_ddl.split(", "))
        assert write_events(events, tmp_path / "events", "parquet", schema_columns=columns)


def sample_of(rows: list[dict], name: str = "rows.jsonl") -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


SHAPES = {
    "no time": ([{"name": f"n{n}"} for n in range(9)], "accepted=checked, rejected=checked.rejected", "window("),
    "no text": ([{"n": 1.5}, {"n": 2.5}], "checked = rows", ".require(n="),
    "time alone": ([{"ts": SECOND + n} for n in range(9)], 'aggregate(records=F.count("*"))', "by="),
    "a number": ([{"ts": SECOND + n, "v": 1} for n in range(9)], 'v=F.sum("v")', 'deduplicate("v")\n'),
    "a taken name": ([{"ts": SECOND + n, "records": "ab"[n % 2]} for n in range(9)], 'records_total=F.count("*")', " records="),
    "a time with a space": ([{"event time": SECOND + n, "a": n} for n in range(9)], "accepted=checked", "window("),
    "whole ids": ([{"id": n, "ts": SECOND + n} for n in range(9)], 'deduplicate("id")', "F.sum"),
    "a keyword": ([{"class": "ab"[n % 2], "ts": SECOND + n} for n in range(9)], "window(", "class"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_other_columns_make_other_jobs(streamproof, shape):
    rows, inside, not_inside = SHAPES[shape]
    assert streamproof("init", "my_job", "--from", sample_of(rows)).code == 0
    text = Path("my_job/job.py").read_text()

    assert inside in text
    assert not_inside not in text
    assert load(Path("my_job")).source.keys() == load_scenario(Path("my_job")).source.keys()


@pytest.mark.parametrize("shape", ["no time", "no text", "time alone", "a taken name"])
def test_check_finds_nothing_wrong_with_other_jobs(streamproof, shape):
    assert streamproof("init", "my_job", "--from", sample_of(SHAPES[shape][0])).code == 0

    result = streamproof("check", "my_job")
    assert result.code == 0, result.out


def test_odd_names_and_values_are_written_as_they_are(streamproof):
    odd = [
        {
            'a "b"\n`c`': 'x\\"\n\x7f',
            "ünïcode": f"Straße {n}",
            "half": "\ud800",
            "deep": {"a b": [{"c": None, "d": 1.5}]},
            "nothing": None,
            "huge": 1e300 * n,
            "ts": f"2026-01-05T09:00:0{n}Z",
            "told": f"2026-01-06 09:00:0{n}",
        }
        for n in range(9)
    ]
    assert streamproof("init", "my_job", "--from", sample_of(odd)).code == 0

    result = streamproof("check", "my_job")
    assert result.code == 0, result.out
    columns = load_scenario(Path("my_job")).source["rows"].columns
    assert columns['a "b"\n`c`'].values == ('x\\"\n\x7f',)
    assert columns["deep"].values == ({"a b": [{"d": 1.5}]},)
    assert "nothing" not in columns
    assert "half" not in columns
    events = generate(load_scenario(Path("my_job")), "rows", shape_of_source(load(Path("my_job")).source["rows"]))
    assert len(events) == 1_000


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("trades.sample.jsonl", "trades"),
        ("2026-01 orders.jsonl", "events_2026_01_orders"),
        ("class.jsonl", "class_events"),
        ("late.jsonl", "late_events"),
    ],
)
def test_the_source_is_named_after_the_file(streamproof, file, source):
    assert streamproof("init", "my_job", "--from", sample_of([{"a": 1}, {"a": 2}], file)).code == 0

    assert list(load(Path("my_job")).source) == [source]
    assert f"({source}: sp.Stream)" in Path("my_job/job.py").read_text()


def test_parquet_that_the_generator_cannot_write_becomes_json_and_that_is_said(streamproof):
    rows = pa.table(
        {
            "id": ["a", "b"],
            "at": pa.array([NINE, NINE]),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
            "sizes": pa.array([[("s", 1)], []], pa.map_(pa.string(), pa.int32())),
            "raw": [b"\x00", None],
            "rate": [float("nan"), 1.0],
        }
    )
    pq.write_table(rows, "orders.parquet")

    result = streamproof("init", "my_job", "--from", "orders.parquet")

    assert "The generator of proofs does not write all of its columns to Parquet" in result.out
    lines = [line for file in sorted(Path("my_job/data/orders").iterdir()) for line in file.read_text().splitlines()]
    assert (
        load(Path("my_job"))
        .source["orders"]
        .schema_ddl.startswith("id string, at timestamp, price decimal(10,2), sizes map<string, int>")
    )
    assert lines == [
        '{"id": "a", "at": "2026-01-05T09:00:00Z", "price": 1.50, "sizes": {"s": 1}, "raw": "AA==", "rate": "NaN"}',
        '{"id": "b", "at": "2026-01-05T09:00:00Z", "price": null, "sizes": {}, "raw": null, "rate": 1.0}',
    ]


def test_a_map_without_texts_as_keys_is_refused(streamproof):
    pq.write_table(pa.table({"m": pa.array([[(1, 1)], []], pa.map_(pa.int32(), pa.int32()))}), "odd.parquet")

    result = streamproof("init", "my_job", "--from", "odd.parquet")

    assert (result.code, Path("my_job").exists()) == (2, False)
    assert "which JSON cannot hold" in result.err


def test_a_bad_sample_leaves_nothing_behind(streamproof):
    Path("bad.csv").write_text("a,b\n1,2\n3\n")

    result = streamproof("init", "my_job", "--from", "bad.csv")

    assert result.code == 2
    assert result.err.startswith("error  bad.csv line 3 has one field.\n")
    assert not Path("my_job").exists()


def test_a_folder_that_holds_something_is_left_alone(streamproof):
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")

    result = streamproof("init", "full", "--from", str(orders("csv")))

    assert result.code == 2
    assert result.err.startswith("error  full is not empty.")
    assert [path.name for path in Path("full").iterdir()] == ["mine.txt"]
