"""A database that does not take its rows is waited for: nothing is lost, the other outputs go on (R8)."""

import psycopg
import pytest

from spark.small_job import event
from streamproof.connectors.postgres.sink import TableSink
from streamproof.errors import CheckpointError, SinkError, SinkUnavailable
from streamproof.runtime import run

pytestmark = [pytest.mark.service, pytest.mark.spark]


def test_rows_that_went_missing_on_their_way_are_noticed(job, rows, monkeypatch):
    small = job(create=True, backlog=1)
    small.feed([event("a", 0), event("b", 1)])
    written = TableSink._written
    with monkeypatch.context() as lossy:
        lossy.setattr(run, "_PATIENCE_SECONDS", 0)
        lossy.setattr(TableSink, "_written", lambda sink, found: written(sink, found.limit(1)))
        assert "1 of 2 rows were read back" in str(small.stopped(SinkUnavailable))
    assert rows("select count(*) from kept") == [(0,)]

    small.run()

    assert rows("select count(*) from kept") == [(2,)]


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
