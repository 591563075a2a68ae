"""What a checkpoint, a folder, a topic or a setting says: for each mistake the one that has it, and its twin."""

import os
from dataclasses import replace
from datetime import timedelta

import pytest

from streamproof.checkpoint.inspection import PARTITIONS, STORES, StoreSize
from streamproof.checkpoint.stores import Store
from streamproof.connectors.source import Holding
from streamproof.doctor.finding import Code, Severity
from streamproof.doctor.findings import missed_trigger, small_files
from unit.checkpoint.written import JOIN, START_MS, WINDOWS, kafka_checkpoint
from unit.doctor.patients import found, keeping, ours, plain, seen, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE
KEYED = 'def job(clicks):\n    return clicks.withWatermark("at", "1 minute").groupBy({}).count()\n'
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def with_state(rows, size=1_000, checkpoint=WINDOWS):
    """A checkpoint whose operator has so many rows in each partition."""
    (one,) = seen(checkpoint)
    sizes = tuple(StoreSize(Store(0, number, "default", one.path), size, size, count, ()) for number, count in enumerate(rows))
    return [replace(one, sizes={0: sizes})]


def of(folder, checkpoints):
    return plain(folder, "pass", checkpoints=checkpoints)


@pytest.mark.parametrize(
    ("rows", "severity"),
    [
        ([5_000, 5_000, 0, 0, 0, 0, 0, 0], [WARN]),
        ([9_000, 200, 300, 100], [WARN]),
        ([900, 0, 0, 0], []),
        ([2_000, 2_100, 1_900, 2_050], []),
        ([4_000, 0], []),
    ],
)
def test_the_rows_of_a_state_are_uneven_or_not(tmp_path, rows, severity):
    assert severities(of(tmp_path, with_state(rows)), Code.FEW_KEYS) == severity


@pytest.mark.parametrize(
    ("by", "severity"), [("F.lit(1)", [WARN]), ('F.col("n") > 5', [WARN]), ('"user"', []), ('"user", F.lit(1)', [])]
)
def test_what_rows_are_grouped_by_has_few_values_or_not(tmp_path, by, severity):
    assert severities(plain(tmp_path, KEYED.format(by), "job"), Code.FEW_KEYS) == severity


@pytest.mark.parametrize(("by", "severity"), [(["paid"], [WARN]), (["click"], []), (["paid", "click"], []), ([], [])])
def test_a_key_that_is_true_or_false(tmp_path, by, severity):
    assert severities(ours(tmp_path, keeping=[keeping(by=by)]), Code.FEW_KEYS) == severity


@pytest.mark.parametrize(
    ("rows", "size", "severity"),
    [([6_000_000, 5], 1_000, [WARN]), ([5, 5], 3_000_000_000, [WARN]), ([1] * 200, 1_000, [NOTE]), ([1_000, 900], 1_000, [])],
)
def test_the_partitions_of_a_state(tmp_path, rows, size, severity):
    assert severities(of(tmp_path, with_state(rows, size)), Code.PARTITIONS) == severity


@pytest.mark.parametrize(
    ("master", "partitions", "severity"),
    [("local[8]", "4", [WARN]), ("local[2]", "200", [NOTE]), ("local[4]", "8", []), ("local[*]", "1", []), ("local[2]", None, [])],
)
def test_partitions_against_cores(tmp_path, master, partitions, severity):
    said = f'"{PARTITIONS}" = "{partitions}"' if partitions else ""

    assert severities(ours(tmp_path, rest=f'[spark]\n"spark.master" = "{master}"\n{said}'), Code.PARTITIONS) == severity


def test_partitions_against_cores_in_a_text(tmp_path):
    text = 'spark = SparkSession.builder.config("spark.executor.cores", 4).config("spark.executor.instances", 3).config("{}", {})'

    assert severities(plain(tmp_path, text.format(PARTITIONS, 4)), Code.PARTITIONS) == [WARN]
    assert not found(plain(tmp_path, text.format(PARTITIONS, 24)), Code.PARTITIONS)


@pytest.mark.parametrize(("partitions", "severity"), [(2, [NOTE]), (8, [])])
def test_the_partitions_of_a_topic(tmp_path, partitions, severity):
    patient = ours(tmp_path, rest='[spark]\n"spark.master" = "local[4]"', holding=Holding("clicks", partitions=partitions))

    assert severities(patient, Code.PARTITIONS) == severity


def test_the_state_store_of_a_checkpoint(tmp_path):
    assert severities(of(tmp_path, seen(JOIN)), Code.STATE_IN_MEMORY) == [NOTE]
    assert severities(of(tmp_path, with_state([1], 200_000_000, JOIN)), Code.STATE_IN_MEMORY) == [WARN]
    assert not found(of(tmp_path, seen(WINDOWS)), Code.STATE_IN_MEMORY)


@pytest.mark.parametrize(("store", "severity"), [(HDFS, [NOTE]), (ROCKSDB, []), (None, [NOTE])])
def test_the_state_store_of_a_text(tmp_path, store, severity):
    said = f'spark.conf.set("{STORES}", "{store}")\n' if store else ""

    assert (
        severities(
            plain(tmp_path, said + 'rows = spark.readStream.json("/in").distinct()\nrows.writeStream.start()'), Code.STATE_IN_MEMORY
        )
        == severity
    )
    assert not found(plain(tmp_path, said + 'spark.readStream.json("/in").writeStream.start()'), Code.STATE_IN_MEMORY)


@pytest.mark.parametrize(("store", "severity"), [(HDFS, [WARN]), (ROCKSDB, [])])
def test_the_state_store_of_a_configuration(tmp_path, store, severity):
    assert severities(ours(tmp_path, rest=f'[spark]\n"{STORES}" = "{store}"'), Code.STATE_IN_MEMORY) == severity


@pytest.mark.parametrize(
    ("keeps", "severity"),
    [
        (timedelta(hours=6), [WARN]),
        (timedelta(seconds=1), [STOP]),
        (timedelta(days=7), []),
        (None, []),
    ],
)
def test_how_long_a_topic_keeps_records(tmp_path, keeps, severity):
    checkpoint = kafka_checkpoint(tmp_path / "c", [{"clicks": {"0": number}} for number in range(3)], committed=3)
    later = (checkpoint / "offsets" / "2").read_text().replace(str(START_MS + 2_000), str(START_MS + 7_200_000))
    (checkpoint / "offsets" / "2").write_text(later)

    patient = ours(tmp_path, holding=Holding("clicks", partitions=1, keeps=keeps), checkpoints=seen(checkpoint))

    assert severities(patient, Code.SHORT_RETENTION) == severity


@pytest.mark.parametrize(("batches", "severity"), [("2", [WARN]), ("100", []), ("10", [])])
def test_how_many_batches_a_checkpoint_keeps(tmp_path, batches, severity):
    setting = "spark.sql.streaming.minBatchesToRetain"

    assert severities(ours(tmp_path, rest=f'[spark]\n"{setting}" = "{batches}"'), Code.SHORT_RETENTION) == severity
    assert severities(plain(tmp_path, f'spark.conf.set("{setting}", "{batches}")'), Code.SHORT_RETENTION) == severity


def test_files_that_pile_up(tmp_path, monkeypatch):
    monkeypatch.setattr(small_files, "MANY", 3)
    for folder in ("out/batch=1", "clicks"):
        (tmp_path / folder).mkdir(parents=True)
        for number in range(2):
            (tmp_path / folder / f"{number}.json").write_text("{}")

    assert not found(ours(tmp_path, holding=Holding("clicks", 2, 4)), Code.SMALL_FILES)

    (tmp_path / "out/batch=1/2.json").write_text("{}")
    patient = ours(tmp_path, holding=Holding("clicks", 3, 6), checkpoints=seen(WINDOWS))

    assert severities(patient, Code.SMALL_FILES) == [WARN, WARN, NOTE]


def test_clocks(tmp_path):
    ends = [{"clicks": {"0": number}} for number in range(4)]
    checkpoint = kafka_checkpoint(tmp_path / "c", ends, committed=4)  # each watermark is nine seconds further than the clock

    assert severities(of(tmp_path, seen(checkpoint)), Code.CLOCK_SKEW) == [WARN]
    assert not found(of(tmp_path, seen(WINDOWS)), Code.CLOCK_SKEW)


@pytest.mark.parametrize(("limit", "severity"), [(', max_future = "none"', [NOTE]), ("", []), (', max_future = "1 hour"', [])])
def test_events_from_the_future(tmp_path, limit, severity):
    time = f'event_time = {{ column = "at", unit = "milliseconds", lag = "1 minute"{limit} }}'

    assert severities(ours(tmp_path, source=time), Code.CLOCK_SKEW) == severity


def busy(folder, seconds):
    """A checkpoint whose batches begin a second apart and take so long."""
    ends = [{"clicks": {"0": number}} for number in range(missed_trigger.ENOUGH + 2)]
    checkpoint = kafka_checkpoint(folder / "c", ends, committed=len(ends))
    for number in range(len(ends)):
        at = START_MS / 1000 + number + seconds
        os.utime(checkpoint / "commits" / str(number), (at, at))
    return seen(checkpoint)


@pytest.mark.parametrize(
    ("trigger", "seconds", "severity"),
    [
        ('trigger = "500 milliseconds"', 0.9, [WARN]),
        ('trigger = "500 milliseconds"', 0.2, []),
        ('trigger = "10 seconds"', 0.9, []),
        ('trigger = "available-now"', 0.9, []),
        ('trigger = "500 milliseconds"', 90.0, []),  # the times of a copy
    ],
)
def test_a_trigger_is_met_or_not(tmp_path, trigger, seconds, severity):
    assert severities(ours(tmp_path, job=trigger, checkpoints=busy(tmp_path, seconds)), Code.MISSED_TRIGGER) == severity


@pytest.mark.parametrize(("interval", "severity"), [("500 milliseconds", [WARN]), ("10 seconds", [])])
def test_a_trigger_of_a_text(tmp_path, interval, severity):
    text = f'spark.readStream.json("/in").writeStream.trigger(processingTime="{interval}").start()'

    assert severities(plain(tmp_path, text, checkpoints=busy(tmp_path, 0.9)), Code.MISSED_TRIGGER) == severity


TABLE = '[table.users]\nconnector = "files"\npath = "users"\nformat = "parquet"\n{}'


@pytest.mark.parametrize(
    ("trigger", "refresh", "severity"),
    [('trigger = "10 seconds"', "", [WARN]), ("", "", [NOTE]), ('trigger = "10 seconds"', 'refresh = "1 hour"', [])],
)
def test_a_table_is_read_once_or_again(tmp_path, trigger, refresh, severity):
    assert severities(ours(tmp_path, job=trigger, rest=TABLE.format(refresh), tables=["users"]), Code.STALE_TABLE) == severity
