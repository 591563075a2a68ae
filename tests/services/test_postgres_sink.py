"""A table of PostgreSQL holds each row once, with its type, whatever is repeated."""

import itertools
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from services.conftest import TABLE, Rows, before_publication
from spark.small_job import SUMS, SmallJob, dies, event
from streamproof.connectors.postgres.database import opened
from streamproof.connectors.postgres.sink import TableSink
from streamproof.connectors.postgres.transactions import Shard, Upsert
from streamproof.connectors.sink import SinkPlace, entry_of
from streamproof.connectors.steps import UNWATCHED
from streamproof.core.manifest import Section
from streamproof.errors import (
    NondeterministicReplay,
    SinkError,
    SinkUnavailable,
    StagedRowsGone,
    StoreEmptied,
    StreamproofError,
    TornCheckpoint,
    TwoDrivers,
    WrongCheckpoint,
)
from streamproof.runtime import run

pytestmark = pytest.mark.service


def test_rows_are_in_the_table_once_with_their_types(job, rows):
    rows(f"create table kept ({TABLE})")
    small = job()
    small.feed([event("a", 0, 1.5), event("b", 1, None, client='qu"ot,ed\n\\'), event("c", 2, -1.0)])
    small.feed([event("d", 3, 0.1)])

    result = small.run()

    assert rows("select id, client, v, ts at time zone 'UTC' = '2026-01-05 09:00:00' from kept order by id") == [
        ("a", "a", 1.5, True),
        ("d", "a", 0.1, False),
    ]
    assert rows("select batch, rows, job, output from streamproof_ledger order by batch") == [
        (0, 1, "small", "kept"),
        (1, 1, "small", "kept"),
    ]
    shown = next(output for output in result.outputs if output.name == "kept")
    assert (shown.rows, shown.format) == (2, "postgres")
    assert "127.0.0.1" in shown.where
    assert "streamproof@" not in shown.where
    assert "exactly once" in shown.guarantee
    assert not small.staged("kept"), "what is published and committed is not kept staged"
    small.run()
    assert rows("select count(*) from kept") == [(2,)]


def test_r6_a_crash_between_publication_and_commit_does_not_double(job, rows):
    small = job(create=True, mode="insert")
    small.feed([event("a", 0), event("b", 1)])
    dies(small, "rename", "checkpoint/kept/commits/0")

    assert rows("select count(*) from kept") == [(2,)]
    small.run()

    assert rows("select id from kept order by id") == [("a",), ("b",)]
    assert rows("select count(*) from streamproof_ledger") == [(1,)]


@pytest.mark.parametrize(("asked", "given"), [("off", "on"), ("local", "local")])
def test_r6_a_commit_outlives_a_crash_of_the_server(postgres, asked, given):
    with opened(f"{postgres.url}?options=-csynchronous_commit%3D{asked}") as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == (given,)


def test_what_is_copied_is_read_as_utf_8_by_a_database_in_another_encoding(postgres):
    with psycopg.connect(postgres.url, autocommit=True) as server:
        server.execute("CREATE DATABASE in_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        with opened(f"{postgres.url.rpartition('/')[0]}/in_latin1") as connection:
            connection.execute("CREATE TABLE words (word text)")
            with connection.cursor().copy("COPY words FROM STDIN (FORMAT csv)") as copy:
                copy.write("é\n".encode())
            assert connection.execute("SELECT word FROM words").fetchone() == ("é",)
    finally:
        with psycopg.connect(postgres.url, autocommit=True) as server:
            server.execute("DROP DATABASE in_latin1 WITH (FORCE)")


def test_r6_a_crash_before_the_transaction_loses_nothing(job, rows):
    small = job(create=True)
    small.feed([event("a", 0), event("b", 1)])
    dies(small, "rename", "checkpoint/kept/_streamproof/manifests/0", side="after")

    assert rows("select count(*) from kept") == [(0,)]
    small.run()

    assert rows("select id from kept order by id") == [("a",), ("b",)]


def test_r7_another_manifests_entry_for_the_batch_stops_the_publisher(job, rows):
    small = job(create=True)
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    rows("update streamproof_ledger set manifest = 'of another driver', rows = 7")

    problem = small.stopped(TwoDrivers)

    assert "was published by the manifest of anoth with 7 rows" in problem.message
    assert "--accept-replay 0" in problem.remedy
    assert rows("select id from kept") == [("a",)]
    result = small.run(accept_replay=0)
    assert rows("select id from kept") == [("a",)]
    assert any("Batch 0 of kept was accepted" in note for note in result.notes)


def test_r3_an_equal_entry_of_a_manifest_that_was_lost_stands(job, rows):
    """The ledger could not be asked when the manifest was made again: the rows are the same, its id is another."""
    small = job(create=True)
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    rows("update streamproof_ledger set manifest = 'that was lost'")
    small.run()
    small.feed([event("b", 1)])
    small.run()

    assert rows("select id from kept order by id") == [("a",), ("b",)]


def staged_differently(small: SmallJob, batch: int = 0) -> None:
    """The manifest says that the batch has computed something else, as a job with `rand()` in it would have."""
    small.change_manifest(batch, lambda found: found["sections"][0]["digest"].update(hash=1))


def test_r4_a_zombie_cannot_publish_a_manifest_that_was_discarded(job, rows):
    """It waits between manifest and transaction, while another driver computes the batch anew and gets something else."""
    small = job(create=True)
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/_streamproof/manifests/0", side="after")
    staged_differently(small)
    zombie = small.manifest(0)
    small.run()
    rows("delete from kept")
    rows("delete from streamproof_ledger")  # as if the zombie were quicker than the publication of the new attempt
    shard = Shard(
        small.binding.tables["sink.kept"]["url"],
        small.binding.tables["sink.kept"]["table"],
        small.binding.tables["sink.kept"]["table"].replace("kept", "streamproof_ledger"),
        small.binding.tables["sink.kept"]["table"].replace("kept", "streamproof_fenced"),
        entry_of(zombie, zombie.sections[0]),
        1,
        1,
        ("id", "client"),
        Upsert(),
        UNWATCHED,
    )
    row = pa.RecordBatch.from_pylist([{"id": "of a zombie", "client": "z"}])

    (said,) = list(shard.publish(iter([row])))

    assert said.to_pylist()[0]["sqlstate"] == "discarded"
    assert rows("select id from kept") == []


@pytest.mark.full
def test_r7_the_ledger_keeps_the_newest_batches_and_what_is_older_is_not_published_again(job, rows, monkeypatch):
    monkeypatch.setattr("streamproof.connectors.ledgers.KEPT", 3)
    small = job(create=True)
    for number in range(7):
        small.feed([event(str(number), number)])
    small.run()
    assert rows("select batch from streamproof_ledger order by batch") == [(4,), (5,), (6,)]
    small.feed([event("7", 7)])
    dies(small, "rename", "checkpoint/kept/commits/7")
    small.run()
    everything = [(str(number),) for number in range(8)]
    assert rows("select id from kept order by id") == everything, "the newest batch finds its entry"

    sink, zombie = small.sink(), small.manifest(0)
    monkeypatch.setattr(sink, "staged_whole", lambda _: True)
    monkeypatch.setattr(
        type(sink.place), "staged_rows", lambda place, *_: place.spark.createDataFrame([("0", "z")], "id string, client string")
    )
    with pytest.raises(TwoDrivers, match="batch 0 behind batch 7: that is older than what the ledger remembers"):
        sink.publish(zombie, zombie.sections[0])

    assert rows("select id from kept order by id") == everything
    assert rows("select batch from streamproof_ledger order by batch") == [(5,), (6,), (7,)]


@pytest.mark.full
def test_r7_the_batch_before_stays_in_the_ledger_until_every_shard_has_looked_for_it(job, rows, monkeypatch):
    monkeypatch.setattr("streamproof.connectors.ledgers.KEPT", 1)
    small = job(create=True, shards=2)
    small.binding = replace(small.binding, files_per_batch=2, spark={"spark.sql.files.maxPartitionBytes": "300"})
    small.write()
    for number in range(8):
        small.feed([event(f"{number}-{row}", number) for row in range(4)])
    small.run()

    assert rows("select count(distinct id) from kept") == [(32,)]
    assert rows("select batch, shard from streamproof_ledger order by batch, shard") == [(2, 0), (2, 1), (3, 0), (3, 1)]


@pytest.mark.full
def test_r4_a_manifest_is_not_discarded_while_its_store_cannot_be_asked(job, own_postgres):
    small = job(create=True, url=own_postgres.url, table="kept")
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    staged_differently(small)
    before = small.manifest(0)
    own_postgres.kill()

    problem = small.stopped(SinkUnavailable)

    assert "whether its first rows are published cannot be asked" in problem.message
    assert small.manifest(0) == before
    own_postgres.restart()
    small.stopped(NondeterministicReplay)


def half_published(job: Callable[..., SmallJob], rows: Rows, dying_tasks: Any) -> SmallJob:
    """Of two shards the first is published; what was staged for the other is gone."""
    small = job(create=True, shards=2)
    small.binding = replace(small.binding, files_per_batch=2, spark={"spark.sql.files.maxPartitionBytes": "300"})
    small.write()
    small.feed([event(str(number), number) for number in range(4)])
    small.feed([event(str(number), number) for number in range(4, 8)])
    with dying_tasks("publish/kept.1@0:before"), pytest.raises(StreamproofError, match="The query stopped"):
        small.run()
    assert rows("select shard from streamproof_ledger") == [(0,)]
    shutil.rmtree(small.out("kept") / "_staging")
    return small


@pytest.mark.full
def test_r7_the_shard_that_is_missing_is_published_from_an_equal_replay(job, rows, dying_tasks):
    small = half_published(job, rows, dying_tasks)

    small.run(replay_last=True)

    assert rows("select count(*), count(distinct id) from kept") == [(8, 8)]


@pytest.mark.full
def test_r7_shards_that_a_replay_splits_otherwise_are_not_mixed_unless_that_is_accepted(job, rows, dying_tasks):
    small = half_published(job, rows, dying_tasks)
    there = rows("select id from kept order by id")
    small.binding = replace(small.binding, spark={"spark.sql.files.maxPartitionBytes": "100"})
    small.write()

    problem = small.stopped(StagedRowsGone, replay_last=True)

    assert "published in 1 of 2 parts" in problem.message
    assert "--accept-replay 0" in problem.remedy
    assert rows("select id from kept order by id") == there
    small.run(accept_replay=0)
    assert rows("select shard from streamproof_ledger order by shard") == [(0,), (1,)]
    assert small.run().batches == 0


@pytest.mark.full
def test_r1_an_older_copy_is_refused_also_if_the_database_was_down_when_it_ran_first(job, own_postgres, monkeypatch):
    """What was staged after the copy is left alone: who puts the checkpoint back as it was needs it."""
    small = job(create=True, url=own_postgres.url, table="kept")
    small.put_back_an_older_copy()
    staged = small.out("kept") / "_staging" / "000007-other"
    staged.mkdir(parents=True)
    own_postgres.kill()
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        small.stopped(SinkUnavailable)
    own_postgres.restart()

    problem = small.stopped(WrongCheckpoint)

    assert "has batch 2 of the checkpoint" in problem.message
    assert staged.exists()
    with psycopg.connect(own_postgres.url) as connection:
        assert connection.execute("select id from kept order by id").fetchall() == [("a",), ("b",)]


@pytest.mark.full
def test_a_commit_that_is_lost_behind_the_start_of_a_run_is_missed(job, rows):
    """What the ledger held when the run began must be there at the first publication, with every shard."""
    small = job(create=True, shards=2)
    small.binding = replace(small.binding, files_per_batch=2, spark={"spark.sql.files.maxPartitionBytes": "300"})
    small.write()
    for number in range(4):
        small.feed([event(f"{number}-{row}", number) for row in range(4)])
        if number % 2:
            small.run()
    for number in range(4, 6):
        small.feed([event(f"{number}-{row}", number) for row in range(4)])

    with before_publication(TableSink, 2, lambda: rows("delete from streamproof_ledger where batch = 1 and shard = 1")):
        problem = small.stopped(StoreEmptied)

    assert "knows nothing of batch 1" in problem.message
    assert rows("select count(*) from kept") == [(16,)]


@pytest.mark.full
def test_a_database_that_loses_its_newest_commit_while_the_job_runs_stops_it_and_gets_it_again(job, rows):
    small = job(create=True)
    for number in range(3):
        small.feed([event(str(number), number)])

    def fallen_back() -> None:
        """As by a failover to a standby that lagged behind."""
        rows("delete from streamproof_ledger where batch = 1")
        rows("delete from kept where id = '1'")

    with before_publication(TableSink, 2, fallen_back):
        problem = small.stopped(StoreEmptied)

    assert "knows nothing of batch 1, which was published there" in problem.message
    assert rows("select id from kept") == [("0",)]
    small.run()
    assert rows("select id from kept order by id") == [("0",), ("1",), ("2",)]


def test_a_task_that_dies_when_only_what_waits_is_left_to_publish_is_told_like_any_other(job, rows, dying_tasks):
    small = job(create=True)
    small.feed([event("a", 0)])
    tries = itertools.count()

    def down_at_first() -> None:
        if next(tries) == 0:
            raise SinkUnavailable("It is down.")

    with before_publication(TableSink, 0, down_at_first), dying_tasks("publish/kept@0:before"):
        problem = small.stopped(StreamproofError)

    assert "The query stopped: OSError in reached" in problem.message
    assert next(tries) == 2, "it is tried again behind the query"
    small.run()
    assert rows("select id from kept") == [("a",)]


@pytest.mark.full
def test_r8_rows_that_are_gone_of_an_older_batch_are_no_second_driver(job, own_postgres, monkeypatch):
    small = job(create=True, url=own_postgres.url, table="kept")
    own_postgres.kill()
    small.feed([event("a", 0)])
    small.feed([event("b", 1)])
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        small.stopped(SinkUnavailable)
    own_postgres.restart()
    for staged in (small.out("kept") / "_staging").glob("000000-*"):
        shutil.rmtree(staged)

    problem = small.stopped(StagedRowsGone)

    assert "Batch 0 of kept is not published whole" in problem.message
    assert "Spark has gone beyond batch 0" in problem.required
    assert "from a backup" in problem.remedy


@pytest.mark.full
def test_r8_a_torn_manifest_that_an_output_waits_for_is_left_as_it_is(job, own_postgres, monkeypatch):
    small = job(create=True, url=own_postgres.url, table="kept")
    own_postgres.kill()
    small.feed([event("a", 0)])
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        small.stopped(SinkUnavailable)
    own_postgres.restart()
    path = small.checkpoint() / "_streamproof/manifests/0"
    whole = path.read_text()
    small.tear("_streamproof/manifests/0", keep=40)

    torn = small.stopped(TornCheckpoint)
    assert "manifests/0 is torn, and Spark has committed its batch" in torn.message
    assert "--replay-last" in torn.remedy
    assert len(path.read_text()) == 40
    path.write_text(whole)
    small.run()

    with psycopg.connect(own_postgres.url) as connection:
        assert connection.execute("select id from kept").fetchall() == [("a",)]


def test_a_null_in_the_key_of_an_upsert_is_refused(job, rows):
    rows("create table kept (id text, client text, v double precision, ts timestamptz, unique (id, client))")
    small = job(mode="upsert", key=["id", "client"])
    small.feed([event("a", 0), event("b", 1, client=None)])

    problem = small.stopped(SinkError)

    assert "has no value in client, which is of its key or its version" in problem.message
    assert rows("select count(*) from kept") == [(0,)]


def test_r6_a_task_that_dies_before_its_commit_leaves_nothing(job, rows, dying_tasks):
    small = job(create=True)
    small.feed([event("a", 0), event("b", 1)])
    with dying_tasks("publish/kept@0:before"), pytest.raises(StreamproofError, match="The query stopped"):
        small.run()
    assert rows("select count(*) from kept") == [(0,)]
    assert rows("select count(*) from streamproof_ledger") == [(0,)]
    small.run()

    assert rows("select id from kept order by id") == [("a",), ("b",)]


def test_r6_a_task_that_dies_behind_its_commit_is_found_in_the_ledger(job, rows, dying_tasks):
    small = job(create=True)
    small.feed([event("a", 0), event("b", 1)])
    with dying_tasks("publish/kept@0:after"), pytest.raises(StreamproofError, match="The query stopped"):
        small.run()
    assert rows("select count(*) from kept") == [(2,)]
    small.run()

    assert rows("select id from kept order by id") == [("a",), ("b",)]


@pytest.mark.full
def test_r7_of_several_shards_only_those_that_are_missing_are_published(job, rows, dying_tasks):
    small = job(create=True, shards=2)
    small.binding = replace(small.binding, files_per_batch=2, spark={"spark.sql.files.maxPartitionBytes": "300"})
    small.write()
    small.feed([event(str(number), number) for number in range(4)])
    small.feed([event(str(number), number) for number in range(4, 8)])
    with dying_tasks("publish/kept.1@0:before"), pytest.raises(StreamproofError, match="The query stopped"):
        small.run()
    assert rows("select shard from streamproof_ledger") == [(0,)], "the other died before its commit"
    small.run()

    assert rows("select count(*), count(distinct id) from kept") == [(8, 8)]
    assert rows("select shard from streamproof_ledger order by shard") == [(0,), (1,)]


def test_an_upsert_replaces_the_row_of_its_key(job, rows):
    rows(f"create table kept ({TABLE})")
    small = job(mode="upsert", key=["id"])
    small.feed([event("a", 0, 1.0), event("b", 1, 1.0)])
    small.feed([event("a", 5, 2.0)])
    small.run()

    assert rows("select id, v from kept order by id") == [("a", 2.0), ("b", 1.0)]


def test_of_several_rows_of_a_key_in_a_batch_the_greatest_counts_or_they_are_refused(job, rows):
    rows(f"create table kept ({TABLE})")
    small = job(mode="upsert", key=["id"])
    small.feed([event("a", 9, 3.0), event("a", 5, 2.0), event("b", 1)])
    assert "several rows of one key" in str(small.stopped(SinkError))
    assert rows("select count(*) from kept") == [(0,)]

    small.binding.tables["sink.kept"]["order_by"] = "ts"
    small.write()
    small.run()

    assert rows("select id, v from kept order by id") == [("a", 3.0), ("b", 1.0)]


def test_a_row_that_deletes_beside_one_that_writes_the_same_key_is_refused(job, rows):
    rows(f"create table kept ({TABLE})")
    small = job(mode="upsert", key=["id"], delete="v = 0")
    small.feed([event("a", 1, 3.0), event("a", 2, 0.0), event("b", 1)])

    assert "several rows of one key" in str(small.stopped(SinkError))
    assert rows("select count(*) from kept") == [(0,)]


def test_rows_that_say_so_delete_their_key(job, rows):
    rows(f"create table kept ({TABLE})")
    small = job(mode="upsert", key=["id"], delete="v = 0", order_by="ts")
    small.feed([event("a", 0), event("b", 1)])
    small.feed([event("a", 2, 0.0), event("c", 3, 0.0), event("d", 4)])
    small.run()

    assert rows("select id from kept order by id") == [("b",), ("d",)]


def test_every_type_arrives_as_it_is(job, rows):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    def more(rows):
        return rows.select("id", F.lit(True).alias("yes"), F.lit(2).cast("smallint").alias("small"), F.lit(3).alias("whole"),
                           F.lit(9007199254740993).alias("big"), F.lit(0.1).cast("float").alias("single"), F.lit(float("nan")).alias("nan"),
                           F.lit("12345678901234567890.123456789").cast("decimal(38,9)").alias("exact"), F.lit("2026-01-05").cast("date").alias("day"),
                           F.lit("2026-01-05 09:00:00.123456").cast("timestamp_ntz").alias("wall"), F.lit(b"\\x00\\xff").alias("bytes"),
                           F.array(F.lit(1), F.lit(None)).alias("list"), F.struct(F.lit("x").alias("a")).alias("object"),
                           F.lit("").alias("empty"), F.lit(None).cast("string").alias("nothing"))
    return sp.Outputs(kept=events.transform(more))
"""
    small = job(text, create=True)
    small.feed([event("a", 0)])
    small.run()

    assert rows("select * from kept") == [
        ("a", True, 2, 3, 9007199254740993, pytest.approx(0.1), pytest.approx(float("nan"), nan_ok=True), Decimal("12345678901234567890.123456789"),
         date(2026, 1, 5), datetime.fromisoformat("2026-01-05T09:00:00.123456"), b"\x00\xff", [1, None], {"a": "x"}, "", None)
    ]  # fmt: skip


WORDS = ["", " b ", 'q"u"o', '"', "a,b", "line\nbreak", "cr\r\nlf", "\\.", "\\N", "ä😀", "null", None]


def test_texts_and_numbers_that_csv_could_change_arrive_as_they_are(job, rows):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    def more(rows):
        return rows.select("id", F.col("client").alias('a, "word"'), F.lit(float("-inf")).alias("far"), F.lit(1e-7).alias("little"),
                           F.lit("1e-9").cast("decimal(38,9)").alias("exact"),
                           F.lit("1969-12-31 23:59:59.999999").cast("timestamp").alias("before"), F.lit(b"").alias("bytes"),
                           F.struct(F.lit('x"\\\\n').alias("a"), F.lit(None).cast("int").alias("b"),
                                    F.lit("1969-12-31 23:59:59.999999").cast("timestamp").alias("c")).alias("object"))
    return sp.Outputs(kept=events.transform(more))
"""
    small = job(text, create=True)
    small.feed([event(str(number), number, client=word) for number, word in enumerate(WORDS)])
    small.run()

    assert [word for (word,) in rows('select "a, ""word""" from kept order by id::int')] == WORDS
    others = "far, little, exact, before at time zone 'UTC', bytes, object"
    before = datetime.fromisoformat("1969-12-31T23:59:59.999999")
    inside = {"a": 'x"\\n', "b": None, "c": "1969-12-31T23:59:59.999999Z"}
    assert rows(f"select distinct {others} from kept") == [(-math.inf, 1e-7, Decimal("1e-9"), before, b"", inside)]


def test_the_columns_of_staged_rows_are_looked_up_once_for_each_start(job, monkeypatch):
    """To look them up Spark starts a job, a fifth of what a small batch takes."""
    small = job(create=True)
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint/kept/_streamproof/manifests/0", side="after")
    sink, section = small.sink(), small.manifest(0).sections[0]
    read, asked = SinkPlace.staged_rows, []

    def watched(place: SinkPlace, of: Section, shard: int | None = None, columns: StructType | None = None) -> DataFrame:
        asked.append(columns)
        return read(place, of, shard, columns)

    monkeypatch.setattr(SinkPlace, "staged_rows", watched)
    shutil.copytree(small.out("kept") / section.directory, small.out("kept") / "_staging/000000-another")
    first, second = sink.staged(section), sink.staged(section)
    sink.staged(replace(section, directory="_staging/000000-another"))

    assert asked == [None, first.schema, None]
    assert first.collect() == second.collect() == [('"a","a",1.0,2026-01-05 09:00:00Z\n',)]


def test_windows_are_upserted_by_their_key(job, rows):
    small = job(SUMS, output="sums", create=True, mode="upsert", key=["client", "window_start"])
    small.feed([event("a", 0), event("b", 1), event("c", 100)])
    small.feed([event("d", 200)])
    small.run()

    assert rows("select client, total, n from sums order by window_start") == [("a", 2.0, 2), ("a", 1.0, 1)]
