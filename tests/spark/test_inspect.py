"""The state of jobs of ours and of plain jobs as tables: windows, remembered keys, both sides of a join, fields and timers of a key."""

import csv
import json
import os
import shutil
from contextlib import contextmanager
from decimal import Decimal

import pandas as pd
import pytest

import streamproof as sp
from spark.small_job import SUMS, Binding, event
from spark.test_join import asked as joined
from spark.test_join import bound, feed, other
from streamproof.cli import inspect as cli
from streamproof.errors import ConfigurationError, StreamproofError, TornCheckpoint
from streamproof.inspection import StateTable
from streamproof.savepoints.recover import recover
from unit.checkpoint.written import JOIN, OURS, VARIABLES, WINDOWS, contents, copy_of

NINE = pd.Timestamp(2026, 1, 5, 9)
PLAIN = pd.Timestamp(2026, 1, 1, 9)
DEDUPLICATED = SUMS.replace('events.require(v="v >= 0")', 'events.require(v="v >= 0").deduplicate("id")')
KEYED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    kept = events.keyed(
        "client",
        state={"n": "0L", "last": sp.list_of("double", at_most=2)},
        on_row=sp.step(
            set={"n": "n + 1", "last[]": "v", "silence": "ts + INTERVAL 10 SECONDS"}, emit=sp.emit("client", "n", when="n > 100")
        ),
        on_timer={"silence": sp.step(set={"n": "0L"})},
        ttl="1 hour",
    )
    return sp.Outputs(kept=kept, late=kept.late)
"""


def at(seconds: float, start: pd.Timestamp = NINE) -> pd.Timestamp:
    return start + pd.Timedelta(seconds=seconds)


def seen(table: pd.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row[name] for name in columns) for row in table[list(columns)].astype(object).to_dict("records"))


def test_open_windows_and_remembered_keys_of_ours_now_and_as_of_an_older_batch(small_job):
    job = small_job(DEDUPLICATED, Binding(sinks={"sums": "parquet", "late": "json", "rejected": "json"}))
    for rows in ([event("a", 1, v=2.0), event("b", 2, v=3.0)], [event("c", 95, client="z")]):
        job.feed(rows)
        job.run()
    checkpoint = job.checkpoint("sums")
    before = contents(checkpoint)

    found = sp.inspect(checkpoint)
    operators = {name: number for number, name in found.operators.items()}
    windows, keys = found.operator(operators["stateStoreSave"]), found.operator(operators["dedupeWithinWatermark"])

    assert list(windows.columns.items()) == [
        ("window_end", "timestamp"),
        ("client", "string"),
        ("records", "bigint"),
        ("total", "double"),
        ("n", "bigint"),
        ("partition", "int"),
    ]
    assert seen(windows.to_pandas(), "window_end", "client", "records", "total", "n") == [(at(120), "z", 1, 1.0, 1)]
    earlier = found.operator(windows.of.number, batch=0)
    assert seen(earlier.to_pandas(), "window_end", "client", "total") == [(at(30), "a", 5.0)]
    assert seen(keys.to_pandas(), "id", "expires_at") == [("c", at(105))]
    assert contents(checkpoint) == before


@pytest.mark.full
def test_both_sides_of_a_join_of_ours(small_job):
    job = small_job(joined(), bound())
    job.feed([event("l1", 1), event("l2", 2, client="b")])
    feed(job, other("r1", 3))
    job.run()

    table = sp.inspect(job.checkpoint("paid")).operator(0)

    assert seen(table.to_pandas(), "side", "id", "client") == [("left", "l1", "a"), ("left", "l2", "b"), ("right", "r1", "a")]
    assert not [name for name in table.columns if name.startswith("_")]
    assert table.where("client = 'b'").count() == 1


def test_fields_and_timers_of_keyed_state(small_job):
    job = small_job(KEYED, Binding(sinks={"kept": "parquet", "late": "json"}))
    job.feed([event("a", 1, v=1.0), event("b", 2, v=2.0), event("c", 3, v=3.0), event("z", 4, v=4.0, client="z")])
    job.run()

    found = sp.inspect(job.checkpoint()).operator(0)

    assert found.columns["last"] == "array<double>"
    rows = [(row["client"], row["n"], row["last"], row["silence"], row["latest_at"]) for row in found.rows()]
    assert sorted(rows) == [
        ("a", 3, [2.0, 3.0], "2026-01-05T09:00:13.000000Z", "2026-01-05T09:00:03.000000Z"),
        ("z", 1, [4.0], "2026-01-05T09:00:14.000000Z", "2026-01-05T09:00:04.000000Z"),
    ]
    assert seen(found.to_pandas(), "client", "expires_at") == [("a", at(13)), ("z", at(14))]


def test_a_join_of_a_plain_job_on_hdfs_says_which_rows_have_matched(spark):
    table = sp.inspect(JOIN).operator(0)

    found = table.to_pandas()

    assert set(found["side"]) == {"left", "right"}
    left = found[found["side"] == "left"]
    assert len(left) == 32
    assert {row["id"]: row["matched"] for row in left.to_dict("records")}["e50"] is True
    assert {row["id"]: row["matched"] for row in left.to_dict("records")}["e51"] is False
    assert list(found.columns) == ["side", "matched", "id", "client", "at", "amount", "rid", "rat", "what", "partition"]


def test_windows_of_a_plain_job(spark):
    table = sp.inspect(WINDOWS).operator(0)

    assert list(table.columns) == ["window_start", "window_end", "client", "sum", "count", "partition"]
    assert seen(table.where("client = 'c1'").to_pandas(), "window_start", "window_end", "sum", "count") == [
        (at(180, PLAIN), at(210, PLAIN), 8.0, 2),
        (at(210, PLAIN), at(240, PLAIN), 28.0, 2),
    ]
    assert table.by_partition() == {0: 7, 1: 3}
    assert len(table.rows(4)) == 4


@pytest.mark.full
def test_variables_and_timers_of_a_checkpoint_that_lies_elsewhere(spark, tmp_path):
    """`transformWithState` writes down the whole path of its schema, and this checkpoint was written in another place."""
    folder = tmp_path / "a place"
    folder.mkdir()
    checkpoint = copy_of(VARIABLES, folder)
    before = contents(checkpoint)
    found = sp.inspect(checkpoint)

    assert seen(found.operator(0, variable="count").to_pandas(), "client", "n")[0] == ("c0", 16)
    assert list(found.operator(0, variable="by").columns) == ["client", "id", "amount", "partition"]
    assert found.operator(0, variable="seen").where("client = 'c1'").count() == 16
    timers = found.operator(0, variable="timers").to_pandas()
    assert set(timers.columns) == {"client", "expires_at", "partition"}
    everything = found.operator(0).to_pandas()
    assert set(everything["variable"]) == {"by", "count", "seen", "timers"}
    assert everything[everything["variable"] == "count"]["value"].tolist() == ['{"n":16}'] * 5
    assert found.operator(0, batch=1, variable="seen").count() == 40
    assert contents(checkpoint) == before


def test_a_condition_with_a_mistake_names_the_columns(spark):
    with pytest.raises(ConfigurationError) as raised:
        sp.inspect(WINDOWS).operator(0).where("cleint = 'c1'").count()

    assert "window_start timestamp, window_end timestamp, client string" in str(raised.value)
    with pytest.raises(ConfigurationError, match=r'"client =" cannot be used: Syntax error at or near end of input'):
        sp.inspect(WINDOWS).operator(0).where("client =").count()


def test_a_condition_that_a_row_does_not_go_with_is_not_taken_for_damage(spark):
    with pytest.raises(ConfigurationError, match=r"does not go with a row: The value 'c\d' of the type \"STRING\" cannot be cast"):
        sp.inspect(WINDOWS).operator(0).where("CAST(client AS INT) = 1").rows()


DECIMALS = """SELECT 1234567890123456.78BD AS total, CAST(0 AS DECIMAL(38, 18)) AS zero, CAST(repeat('9', 38) AS DECIMAL(38, 0)) AS long,
    named_struct('part', 0.1234567890123456789012BD, 'rate', 0.1D) AS both, array(1.10BD, NULL) AS parts, map('a', 2.50BD) AS by, 0.1D AS rate"""


@pytest.fixture
def decimals(spark, monkeypatch):
    """A state with decimals."""

    @contextmanager
    def frame(self):
        yield spark.sql(DECIMALS)

    monkeypatch.setattr(StateTable, "frame", frame)
    return sp.inspect(WINDOWS).operator(0)


def test_decimals_keep_all_of_their_digits(decimals, tmp_path, capsys):
    (row,) = decimals.rows()

    assert row["total"] == Decimal("1234567890123456.78")
    assert row["zero"] == 0
    assert row["long"] == Decimal("9" * 38)
    assert row["both"] == {"part": Decimal("0.1234567890123456789012"), "rate": 0.1}
    assert row["parts"] == [Decimal("1.10"), None]
    assert row["by"] == {"a": Decimal("2.50")}
    assert isinstance(row["rate"], float)
    assert isinstance(row["both"]["rate"], float)

    cli._write_csv(decimals, tmp_path / "rows.csv", None)
    (written,) = csv.DictReader((tmp_path / "rows.csv").open())
    assert (written["total"], written["zero"], written["long"]) == ("1234567890123456.78", "0." + "0" * 18, "9" * 38)
    assert written["both"] == '{"part": 0.1234567890123456789012, "rate": 0.1}'

    cli._print_json(decimals, None)
    said = json.loads(capsys.readouterr().out, parse_float=str, parse_int=str)
    assert said["rows"][0]["total"] == "1234567890123456.78"
    assert said["rows"][0]["both"] == {"part": "0.1234567890123456789012", "rate": "0.1"}


def test_rows_are_written_one_by_one(spark, tmp_path, monkeypatch, capsys):
    """A million keys would take gigabytes at once."""
    table = sp.inspect(WINDOWS).operator(0)
    rows = table.rows()

    def at_once(_):
        raise AssertionError("all rows at once")

    monkeypatch.setattr(type(spark.range(1)), "collect", at_once)

    assert cli._write_csv(table, tmp_path / "rows.csv", None) == 10
    assert [one["client"] for one in csv.DictReader((tmp_path / "rows.csv").open())] == [row["client"] for row in rows]
    assert cli._write_csv(table, tmp_path / "few.csv", 3) == 3
    cli._print_json(table, None)
    said = json.loads(capsys.readouterr().out)
    assert said["rows"] == rows
    assert (said["operator"], said["batch"], list(said["columns"])) == (0, 4, list(rows[0]))
    cli._print_json(table.where("client = 'nobody'"), None)
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_what_spark_cannot_read_while_rows_are_written_is_said_as_before(spark, tmp_path):
    table = sp.inspect(WINDOWS).operator(0).where("CAST(client AS INT) = 1")

    with pytest.raises(ConfigurationError, match="does not go with a row"):
        cli._write_csv(table, tmp_path / "rows.csv", None)

    assert list(tmp_path.iterdir()) == []


def test_state_of_an_operator_that_is_not_known_is_shown_as_spark_has_written_its_schema(spark, tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)
    metadata = checkpoint / "state" / "0" / "_metadata" / "metadata"
    metadata.write_text(metadata.read_text().replace("stateStoreSave", "somethingNew"))
    found = sp.inspect(checkpoint)

    assert found.operators == {0: "somethingNew"}
    assert list(found.operator(0).columns) == ["window_start", "window_end", "client", "sum", "count", "partition"]
    assert found.operator(0).count() == sp.inspect(WINDOWS).operator(0).count()


def test_a_file_of_the_state_that_is_torn_or_gone_is_no_trace(spark, tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)
    snapshot = checkpoint / "state" / "0" / "0" / "5.zip"
    snapshot.write_bytes(snapshot.read_bytes()[:1000])

    with pytest.raises(TornCheckpoint) as raised:
        sp.inspect(checkpoint).operator(0).count()

    assert "Spark cannot read the state of operator 0" in str(raised.value)
    assert "\tat " not in str(raised.value)
    assert sp.inspect(checkpoint).operator(0, batch=2).count() > 0


def test_the_rows_as_files(spark, tmp_path):
    assert sp.inspect(OURS).operator(1).write_parquet(tmp_path / "keys.parquet") == 1

    assert pd.read_parquet(tmp_path / "keys.parquet")["id"].notna().all()


def test_a_start_goes_on_from_a_copy_that_was_recovered_and_publishes_nothing_twice(small_job):
    job = small_job(DEDUPLICATED, Binding(sinks={"sums": "parquet", "late": "json", "rejected": "json"}))
    fed = [[event("a", 1, v=2.0), event("b", 2, v=3.0)], [event("c", 95, client="z")], [event("d", 200)], [event("e", 300)]]
    for rows in fed[:3]:
        job.feed(rows)
    job.run()
    checkpoint = job.checkpoint("sums")
    found = sp.inspect(checkpoint)
    assert found.verify().problems == ()
    newest = found.found.logs.newest_committed
    assert newest is not None
    for snapshot in checkpoint.glob(f"state/0/*/{newest + 1}_*.zip"):
        snapshot.write_bytes(snapshot.read_bytes()[:500])
    damaged = sp.inspect(checkpoint)
    seen_before = damaged.verify()
    assert seen_before.sound[-1] == newest - 1
    job.feed(fed[3])
    with pytest.raises(StreamproofError):
        job.run()

    made = recover(damaged.found, newest - 1).path
    shutil.move(checkpoint, checkpoint.with_name("damaged"))
    shutil.move(made, checkpoint)
    (account,) = job.run().accounts

    assert account.adds_up
    assert sorted((row["client"], row["total"]) for row in job.rows("sums")) == [("a", 1.0), ("a", 5.0), ("z", 1.0)]
    assert sp.inspect(checkpoint).verify().problems == ()


@pytest.mark.full
def test_a_plain_job_goes_on_from_a_copy_that_was_recovered(spark, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()

    def started() -> None:
        rows = spark.readStream.schema("id string, at timestamp").option("maxFilesPerTrigger", 1).json(str(folder))
        kept = rows.withWatermark("at", "1 hour").dropDuplicatesWithinWatermark(["id"])
        query = kept.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start()
        query.awaitTermination()

    def fed(number: int, *ids: str) -> None:
        path = folder / f"{number}.json"
        path.write_text("".join(f'{{"id": "{one}", "at": "2026-01-01T09:00:0{number}Z"}}\n' for one in ids))
        os.utime(path, (1_700_000_000 + number,) * 2)

    for number, ids in enumerate((["a", "b"], ["c"], ["d"])):
        fed(number, *ids)
    started()
    before = sp.inspect(tmp_path / "c")
    assert before.verify().problems == ()
    for file in (tmp_path / "c" / "state").rglob("[34]_*"):
        file.unlink()

    found = sp.inspect(tmp_path / "c")
    assert found.verify().sound[-1] == 1
    made = recover(found.found, 1).path
    shutil.move(tmp_path / "c", tmp_path / "damaged")
    shutil.move(made, tmp_path / "c")
    fed(3, "e", "a")
    started()

    assert seen(sp.inspect(tmp_path / "c").operator(0).to_pandas(), "id") == [(one,) for one in "abcde"]


@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN], ids=lambda path: path.name)
def test_state_whose_operators_are_not_named_as_before_spark_4(spark, checkpoint, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    shutil.rmtree(copy / "state" / "0" / "_metadata")

    assert sp.inspect(copy).operator(0).rows() == sp.inspect(checkpoint).operator(0).rows()
