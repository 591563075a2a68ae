"""Reading what a run has left on disk."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamproof.core.manifest import Fingerprint, LedgerEntry, Manifest
from streamproof.errors import ScenarioError
from streamproof.prove.scenario.generate import SourceShape, generate
from streamproof.prove.subjects.job.handwritten import handwritten_fates, handwritten_rows
from streamproof.prove.artifacts.reading import (
    OperatorState,
    OutputLayout,
    OutputRow,
    QueryLayout,
    StateContents,
    read_history,
    read_state,
    readings,
)
from streamproof.prove.artifacts.state_file import _keys, _windows, write_unread
from streamproof.prove.oracle.arrived import Arrived
from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.expectation import WindowContents
from streamproof.prove.oracle.operators.twin import Rank
from streamproof.prove.oracle.trace import Vector
from streamproof.prove.oracle.windows import PlainTumbling
from streamproof.prove.scenario.scenario import Expect, load_scenario
from unit.prove.small import Shape, held_by

EXAMPLE = Path(__file__).parents[4] / "examples" / "risk_exposure"
NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
NINE_US = 1_767_603_600_000_000


def offsets(watermark_ms, log_offset):
    metadata = {"batchWatermarkMs": watermark_ms, "batchTimestampMs": 7, "conf": {}}
    return f'v1\n{json.dumps(metadata)}\n{{"logOffset":{log_offset}}}'


def source(number, *names):
    lines = [json.dumps({"path": f"file:///in/{name}", "timestamp": 1, "batchId": number}) for name in names]
    return "\n".join(["v1", *lines])


@pytest.fixture
def layout(tmp_path):
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    for folder in ("offsets", "commits", "sources/0"):
        (checkpoint / folder).mkdir(parents=True)
    for batch in range(2):
        (checkpoint / f"offsets/{batch}").write_text(offsets(batch * 1_000, batch))
        (checkpoint / f"sources/0/{batch}").write_text(source(batch, f"part-{batch}-0.json", f"part-{batch}-1.json"))
        (checkpoint / f"commits/{batch}").write_text('v2\n{"nextBatchWatermarkMs":0}')
    (checkpoint / "offsets/.1.crc").write_bytes(b"\x00")
    table = pa.table({"client": ["a"], "window_start": pa.array([NINE], pa.timestamp("us", tz="UTC")), "total": [1.5]})
    for folder in ("exposure/batch=000001", "exposure/_staging/000002-abcd"):
        (out / folder).mkdir(parents=True)
        pq.write_table(table, out / folder / "part-00000-aaaa.parquet")
    entry = LedgerEntry("job", "exposure", "i", 1, 0, "m", "f", 1, 7)
    (out / "exposure/batch=000001/_ledger.json").write_text(entry.to_json())
    (out / "late/batch=000001").mkdir(parents=True)
    row = {"_trace": "e-1", "ts": "2026-01-05T09:00:00.000001Z", "reason": "late"}
    (out / "late/batch=000001/part.json").write_text(json.dumps(row) + "\n")
    outputs = (OutputLayout("exposure", "main", out / "exposure"), OutputLayout("late", "late", out / "late", ("ts",)))
    return QueryLayout("exposure", checkpoint, outputs, tmp_path / "state.json")


def test_batches_come_from_spark_s_logs(layout):
    history = read_history(layout)

    assert [(read.batch, read.watermark_ms, read.files, read.committed) for read in history.batches] == [
        (0, 0, ("part-0-0.json", "part-0-1.json"), True),
        (1, 1_000, ("part-1-0.json", "part-1-1.json"), True),
    ]
    assert [read.published for read in history.batches] == [False, True]


def test_a_batch_without_a_commit_is_not_committed(layout):
    (layout.checkpoint / "commits/1").unlink()

    assert [read.committed for read in read_history(layout).batches] == [True, False]


def test_r2_logs_that_spark_has_cleaned_up_come_from_the_manifests(layout):
    manifest = Manifest(
        "m", "job", "exposure", "i", 0, "a", Fingerprint(0, (), {}), offsets(0, 0), {"0": {"0": source(0, "part-0-0.json")}}, (), {}
    )
    (layout.checkpoint / "_streamproof/manifests").mkdir(parents=True)
    (layout.checkpoint / "_streamproof/manifests/0").write_text(manifest.to_json())
    (layout.checkpoint / "_streamproof/manifests/1").write_text('{"format": 1, "id"')
    (layout.checkpoint / "offsets/0").unlink()
    (layout.checkpoint / "sources/0/0").unlink()

    history = read_history(layout)

    assert history.batches[0].files == ("part-0-0.json",)
    assert history.batches[1].files == ("part-1-0.json", "part-1-1.json")
    assert list(history.manifests) == [0]


def test_rows_are_what_a_reader_sees_with_instants_in_microseconds(layout):
    history = read_history(layout)

    exposure, late = history.outputs["exposure"], history.outputs["late"]
    assert [(row.batch, dict(row.values)) for row in exposure.rows] == [(1, {"client": "a", "window_start": NINE_US, "total": 1.5})]
    assert exposure.ledgers[1].rows == 1
    assert [(row.batch, row.trace, row.values["ts"]) for row in late.rows] == [(1, "e-1", NINE_US + 1)]


def test_files_that_cannot_be_read_are_named(layout):
    folder = layout.outputs[0].path
    (folder / "batch=000001/part-00001-bbbb.parquet").write_bytes(b"PAR1")
    (folder / "rows.json").write_text('{"a": 1}\n{"a":')

    damaged = read_history(layout).outputs["exposure"].damaged

    assert [text.partition(":")[0] for text in damaged] == ["batch=000001/part-00001-bbbb.parquet", "rows.json"]
    assert "line 2 is no whole JSON object" in damaged[1]


def test_rows_of_a_sink_without_folders_have_no_batch(layout):
    (layout.outputs[0].path / "rows.json").write_text('{"client": "b", "window_start": "2026-01-05T09:00:00Z"}\n')

    rows = read_history(layout).outputs["exposure"].rows

    assert [(row.batch, row.values["window_start"]) for row in rows] == [(1, NINE_US), (None, NINE_US)]


def test_state_is_read_and_what_it_holds_twice_is_named(layout):
    window = {"by": ["a"], "end_us": 2, "records": 3, "hash": 4}
    operators = [
        {"operator": 0, "holds": "key", "rows": [{"key": ["t-1"], "expires_us": 9}]},
        {"operator": 2, "holds": "key", "rows": _keys([{"key": '["a"]', "expires_us": 9, "time_us": 3, "hash": -1}])},
        {"operator": 1, "holds": "window", "rows": [window, window]},
    ]
    layout.state.write_text(json.dumps({"operators": operators}))

    state = read_history(layout).state

    assert held_by(state, 1).groups == {(("a",), 2): Vector(3, 4)}
    assert (held_by(state).keys, held_by(state).newest) == ({("t-1",): 9}, {})
    assert held_by(state, 2).newest == {("a",): Rank(None, 3)}, "a row without an order has no field of it"
    assert len(state.repeated) == 1


def test_keys_are_told_by_the_names_of_their_columns(layout):
    """Spark before 4.3 keeps more than four columns of a key in an order of its own."""
    row = {"key": ["m", "s", 3], "columns": ["till", "shop", "line"], "expires_us": 9}
    layout.state.write_text(json.dumps({"operators": [{"operator": 0, "holds": "key", "rows": [row]}]}))

    state = held_by(read_state(layout.state))

    assert state.in_order(("shop", "till", "line")).keys == {("s", "m", 3): 9}
    assert state.in_order(("shop", "till", "day")) is state, "of other columns: it is compared as it is, and found"
    assert OperatorState("key", keys={("t-1",): 9}).in_order(("id",)).keys == {("t-1",): 9}


def test_a_state_that_could_not_be_read_says_why_and_records_without_a_time_are_counted(layout):
    rows = _windows([{"by": '["a"]', "records": 3, "hash": 4}, {"by": '["b"]', "records": 1, "hash": 5, "end_us": 30}])
    layout.state.write_text(json.dumps({"operators": [{"operator": 0, "holds": "window", "rows": rows}]}))

    state = read_state(layout.state)

    assert (state.untimed, dict(held_by(state).groups)) == (3, {(("b",), 30): Vector(1, 5)})
    write_unread("KeyError: 'end_us'", layout.state)
    assert read_state(layout.state) == StateContents(unread="KeyError: 'end_us'")


def test_a_rejected_row_is_traced_by_its_original_bytes():
    broken = b'{"_trace": "e-000007+1", \xff\xfe'

    encoded = OutputRow(0, "", {"original": None, "original_base64": base64.b64encode(broken).decode()})
    text = OutputRow(0, "", {"_trace": None, "original": '{"_trace":"e-2", "tra'})

    assert (encoded.trace, encoded.original) == ("e-000007+1", broken)
    assert text.trace == "e-2"
    assert OutputRow(0, "", {"original_base64": "*"}).original is None


def test_the_example_s_hand_written_model_gives_rows_by_window():
    scenario = load_scenario(EXAMPLE, events=200)
    events = {event.trace: event for event in generate(scenario, "trades", SourceShape("json", "ts", "milliseconds"))}
    survivors = [trace for trace, event in events.items() if event.kind == "ok"]
    arrived = {trace: Arrived(trace, time_us=event.time_us) for trace, event in events.items()}
    shape = Shape("exposure", "ts", 70_000_000, PlainTumbling(30_000_000), ("client",), ("exposure", "trades"))

    emitted = {(("all",), 0): WindowContents(len(survivors), 0, tuple(survivors), 0)}

    rows = handwritten_rows(scenario, shape.query, emitted, events, arrived)

    assert sum(row["trades"] for row in rows.values()) == len(survivors)
    assert all(start % 30_000_000 == 0 for _, start in rows)


def test_a_hand_written_model_with_a_column_of_its_own_is_a_mistake_of_the_scenario(tmp_path):
    (tmp_path / "model.py").write_text("def totals(rows):\n    return [{'client': 'a', 'window_start': 0, 'totl': 1}]\n")
    own = {"file": tmp_path / "scenario.toml", "expect": Expect(model="model.py:totals")}
    scenario = load_scenario(EXAMPLE, events=200).model_copy(update=own)

    with pytest.raises(ScenarioError, match='gives a column "totl"'):
        handwritten_rows(scenario, Shape("totals", "ts", 0, PlainTumbling(30_000_000), ("client",), ("total",)).query, {}, {}, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def totals(rows):\n    return {}['eur']\n", "model.py line 2, in totals: KeyError: 'eur'."),
        ("def totals(rows):\n    yield {}['eur']\n", "model.py line 2, in totals: KeyError: 'eur'."),
        ("import polars\n", "model.py line 1: the module polars is missing."),
        ("def totals(rows:\n", "model.py line 1: SyntaxError: '(' was never closed."),
    ],
)
def test_what_a_hand_written_model_raises_is_said_with_its_line(tmp_path, text, said):
    (tmp_path / "model.py").write_text(text)
    own = {"file": tmp_path / "scenario.toml", "expect": Expect(model="model.py:totals")}
    scenario = load_scenario(EXAMPLE, events=200).model_copy(update=own)

    with pytest.raises(ScenarioError) as raised:
        handwritten_rows(scenario, Shape("totals", "ts", 0, PlainTumbling(30_000_000), ("client",), ("total",)).query, {}, {}, {})

    assert raised.value.message.endswith(said)
    assert "hand-written model" in raised.value.required


def test_the_hand_written_fate_is_asked_about_every_event_that_can_be_read():
    scenario = load_scenario(EXAMPLE, events=2_000)
    events = generate(scenario, "trades", SourceShape("json", "ts", "milliseconds"))

    fates = handwritten_fates(scenario, events, AskedTime("ts", "10 seconds", "5 minutes"))

    assert {fates[event.trace] for event in events if event.kind == "invalid"} == {"rejected"}
    assert {fates[event.trace] for event in events if event.kind in ("ok", "duplicate")} == {"kept"}
    assert len(fates) == sum(event.kind in ("ok", "duplicate", "invalid") for event in events)


def test_a_hand_written_fate_that_nobody_knows_is_a_mistake_of_the_scenario(tmp_path):
    (tmp_path / "model.py").write_text("def fate(event):\n    return 'dropped'\n")
    own = {"file": tmp_path / "scenario.toml", "expect": Expect(fate="model.py:fate")}
    scenario = load_scenario(EXAMPLE, events=200).model_copy(update=own)
    events = generate(scenario, "trades", SourceShape("json", "ts", "milliseconds"))

    with pytest.raises(ScenarioError, match="gave 'dropped' for the event e-"):
        handwritten_fates(scenario, events, None)


def test_k7_each_of_several_sinks_is_in_one_reading_of_its_output(layout):
    out = layout.outputs[0].path.parent
    home = layout.outputs[0].path
    sinks = [OutputLayout(f"exposure.{name}", "main", out / f"exposure.{name}", home=home) for name in ("one", "two")]
    home.joinpath("batch=000001").rename(out / "away")
    for number, sink in enumerate(sinks):
        (sink.path / "batch=000001").mkdir(parents=True)
        (sink.path / "batch=000001/rows.json").write_text(json.dumps({"client": f"c{number}"}) + "\n")

    one, two = readings(read_history(replace(layout, outputs=(*sinks, layout.outputs[1]))))

    for number, reading in enumerate((one, two)):
        assert list(reading.outputs) == ["exposure", "late"]
        assert [row.values["client"] for row in reading.outputs["exposure"].rows] == [f"c{number}"]
        assert len(reading.outputs["late"].rows) == 1, "the only sink of its output is in both"
        assert reading.outputs["exposure"].staged == ("_staging/000002-abcd",), "what they have in common is theirs"


def test_an_output_with_one_sink_is_read_once(layout):
    left = read_history(layout)

    assert readings(left) == [left]
