"""A database that does not take its rows is waited for: nothing is lost, the other outputs go on (R8)."""

from dataclasses import replace

import psycopg
import pytest

from full_tables import full
from spark.small_job import KEPT, Binding, event
from streamproof.connectors.sink import SinkPlace
from streamproof.errors import CheckpointError, SinkError, SinkUnavailable, WrongCheckpoint
from streamproof.runtime import run

pytestmark = pytest.mark.service


@pytest.mark.parametrize(("shards", "said"), [(1, "1 of 8"), *full((2, "1 of 4"))])
def test_r6_rows_that_went_missing_on_their_way_are_noticed(job, rows, monkeypatch, shards, said):
    """The manifest says how many there are, also in a shard: what is read is not held against itself."""
    small = job(create=True, backlog=1, shards=shards)
    small.binding = replace(small.binding, files_per_batch=2, spark={"spark.sql.files.maxPartitionBytes": "300"})
    small.write()
    for half in (range(4), range(4, 8)):
        small.feed([event(str(number), number) for number in half])
    staged_rows = SinkPlace.staged_rows
    with monkeypatch.context() as lossy:
        lossy.setattr(run, "_PATIENCE_SECONDS", 0)
        lossy.setattr(SinkPlace, "staged_rows", lambda place, *which: staged_rows(place, *which).limit(1))
        assert f"{said} rows were read back" in str(small.stopped(SinkUnavailable))
    assert rows("select count(*) from kept") == [(0,)]

    small.run()

    assert rows("select count(*) from kept") == [(8,)]


def test_r8_an_output_that_is_down_neither_stops_nor_doubles_the_others_and_catches_up(job, rows, own_postgres, monkeypatch):
    small = job(create=True, url=own_postgres.url, table="kept")
    small.feed([event("a", 0), event("r0", 0, -1.0)])
    small.run()
    own_postgres.kill()
    for number in range(1, 4):
        small.feed([event(f"x{number}", number), event(f"r{number}", number, -1.0)])
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        problem = small.stopped(SinkUnavailable)
    assert problem.message.startswith("3 batches of kept wait: postgresql://127.0.0.1")
    assert small.ids("rejected") == ["r0", "r1", "r2", "r3"], "the other output went on"

    own_postgres.restart()
    result = small.run()

    with psycopg.connect(own_postgres.url) as connection:
        assert connection.execute("select id from kept order by id").fetchall() == [("a",), ("x1",), ("x2",), ("x3",)]
        assert connection.execute("select batch from streamproof_ledger order by published").fetchall() == [(0,), (1,), (2,), (3,)]
    assert small.ids("rejected") == ["r0", "r1", "r2", "r3"]
    assert result.account.total == result.account_input


@pytest.mark.full
def test_r8_no_more_batches_wait_than_are_allowed(job, own_postgres):
    small = job(create=True, url=own_postgres.url, table="kept", backlog=2)
    own_postgres.kill()
    for number in range(4):
        small.feed([event(f"x{number}", number)])

    problem = small.stopped(SinkError)

    assert problem.message.startswith("3 batches wait for kept")
    own_postgres.restart()
    small.run()
    with psycopg.connect(own_postgres.url) as connection:
        assert connection.execute("select count(*) from kept").fetchall() == [(4,)]


@pytest.mark.full
def test_r8_rows_that_wait_for_an_output_the_job_has_no_more_stop_it(small_job, own_postgres, monkeypatch):
    """Spark has gone beyond their batches: nobody would ask for them again."""
    former = KEPT.replace("rejected=", "refused=")
    table = {"connector": "postgres", "url": own_postgres.url, "table": "refused", "create": True}
    small = small_job(former, Binding(sinks={"kept": "json"}, tables={"sink.refused": table}))
    own_postgres.kill()
    small.feed([event("a", 0), event("r0", 0, -1.0)])
    with monkeypatch.context() as impatient:
        impatient.setattr(run, "_PATIENCE_SECONDS", 0)
        small.stopped(SinkUnavailable)
    own_postgres.restart()
    small.text, small.binding = KEPT, Binding(sinks={"kept": "json", "rejected": "json"})
    small.write()

    problem = small.stopped(WrongCheckpoint)

    assert "1 batches with rows for the output refused" in problem.message
    small.text, small.binding = former, Binding(sinks={"kept": "json"}, tables={"sink.refused": table})
    small.write()
    small.run()
    with psycopg.connect(own_postgres.url) as connection:
        assert connection.execute("select id from refused").fetchall() == [("r0",)]
    small.text, small.binding = KEPT, Binding(sinks={"kept": "json", "rejected": "json"})
    small.write()
    small.run()


@pytest.mark.full
def test_r8_what_waits_is_found_though_spark_has_removed_its_commits(job, own_postgres, monkeypatch):
    small = job(create=True, url=own_postgres.url, table="kept")
    own_postgres.kill()
    for number in range(4):
        small.feed([event(f"x{number}", number)])
    monkeypatch.setattr(run, "_PATIENCE_SECONDS", 0)
    small.stopped(SinkUnavailable)
    for number in range(3):
        small.lose(f"commits/{number}")
    own_postgres.restart()
    small.run()

    with psycopg.connect(own_postgres.url) as connection:
        assert connection.execute("select id from kept order by id").fetchall() == [("x0",), ("x1",), ("x2",), ("x3",)]


@pytest.mark.full
def test_r8_a_lost_manifest_of_a_batch_that_waits_stops_the_job(job, own_postgres, monkeypatch):
    small = job(create=True, url=own_postgres.url, table="kept")
    own_postgres.kill()
    small.feed([event("a", 0)])
    small.feed([event("b", 1)])
    monkeypatch.setattr(run, "_PATIENCE_SECONDS", 0)
    small.stopped(SinkUnavailable)
    own_postgres.restart()
    small.lose("_streamproof/manifests/0")

    assert "kept still waits for its batch" in small.stopped(CheckpointError).message
    assert small.staged("kept"), "nothing is removed"


@pytest.mark.full
def test_r8_rows_that_wait_stay_staged_though_their_manifest_is_lost_while_the_store_is_down(job, own_postgres, monkeypatch):
    """A power failure took it; once the store answers it is told what is missing."""
    small = job(create=True, url=own_postgres.url, table="kept")
    small.feed([event("a", 0)])
    small.run()
    own_postgres.kill()
    for number in range(1, 4):
        small.feed([event(f"x{number}", number)])
    monkeypatch.setattr(run, "_PATIENCE_SECONDS", 0)
    small.stopped(SinkUnavailable)
    staged = small.staged("kept")
    small.lose("_streamproof/manifests/1")

    small.stopped(SinkUnavailable)

    assert small.staged("kept") == staged
    own_postgres.restart()
    assert "manifests/1 is gone, and kept still waits for its batch" in small.stopped(CheckpointError).message
    assert small.staged("kept") == staged


@pytest.mark.full
def test_a_read_only_database_is_waited_for(job, rows, postgres, schema, monkeypatch):
    small = job(create=True)
    small.feed([event("a", 0)])
    small.run()
    small.feed([event("b", 1)])
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("alter database streamproof set default_transaction_read_only = on")
        try:
            with monkeypatch.context() as impatient:
                impatient.setattr(run, "_PATIENCE_SECONDS", 0)
                assert "is read-only" in str(small.stopped(SinkUnavailable))
        finally:
            connection.execute("set default_transaction_read_only = off")
            connection.execute("alter database streamproof set default_transaction_read_only = off")
    small.run()

    assert rows("select id from kept order by id") == [("a",), ("b",)]
