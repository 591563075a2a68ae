"""What a table, or a server of PostgreSQL, does not take is named, without what is in the rows."""

import re

import pytest

from full_tables import full
from services.conftest import TABLE
from spark.small_job import KEPT, Binding, event
from streamproof.errors import ConfigurationError, OutputInUse, SinkError, SinkUnavailable
from streamproof.runtime import run

pytestmark = pytest.mark.service


PLAIN = """
from streamproof.connectors import Sink

class Plain(Sink):
    guarantee = "at least once"
    exactly_once = False

    def published(self, batch):
        return None

    def publish(self, manifest, section):
        pass
"""


@pytest.mark.parametrize(
    ("table", "sink", "said"),
    [
        ("id text, client text, v integer, ts timestamptz", {}, "v is integer, must be double precision"),
        ("id text, client text, v double precision", {}, "it has no column ts timestamp with time zone"),
        (f"{TABLE}, region text not null", {}, "region is NOT NULL without a default"),
        (
            "id text, client text, v double precision, ts timestamp",
            {},
            "ts is timestamp without time zone, must be timestamp with time zone",
        ),
        (
            "id text, client text, v double precision, ts timestamptz",
            {"mode": "upsert", "key": ["id"]},
            "no primary key or unique index on exactly (id)",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused_before_the_first_batch(job, rows, table, sink, said):
    rows(f"create table kept ({table})")
    small = job(**sink)
    small.feed([event("a", 0)])

    problem = small.stopped(SinkError)

    assert said in str(problem)
    assert "CREATE TABLE" in problem.remedy
    assert not (small.checkpoint() / "offsets").exists(), "no batch was planned"


def test_a_missing_table_is_named_with_the_statement_that_makes_it(job, rows):
    small = job()
    small.feed([event("a", 0)])

    problem = small.stopped(SinkError)
    assert "does not exist" in problem.message
    rows(re.search(r"CREATE TABLE [^;]*", problem.remedy)[0])
    small.run()

    assert rows("select id from kept") == [("a",)]


def test_a_violated_key_is_said_without_its_values_and_nothing_is_lost(job, rows):
    rows(f"create table kept ({TABLE})")
    rows("insert into kept values ('secret-id', 'x', 1, now())")
    small = job()
    small.feed([event("secret-id", 0), event("b", 1)])

    problem = small.stopped(SinkError)
    assert "violates the unique constraint kept_pkey" in problem.message
    assert "secret-id" not in str(problem)
    rows("delete from kept")
    small.run()

    assert rows("select id from kept order by id") == [("b",), ("secret-id",)]


def test_a_trigger_that_refuses_a_row_is_said_without_its_words(job, rows, schema):
    rows(f"create table kept ({TABLE})")
    rows(
        "create function refuse() returns trigger language plpgsql as "
        "$$ begin raise exception 'client % is over its limit', new.client; end $$"
    )
    rows("create trigger refuse before insert on kept for each row execute function refuse()")
    small = job()
    small.feed([event("a", 0, client="confidential")])

    problem = small.stopped(SinkError)

    assert "A trigger or a function of the database refuses a row" in problem.message
    assert "confidential" not in str(problem)


@pytest.mark.parametrize(
    ("operation", "sink", "said"),
    [
        ("insert", {}, "wrote 2 of 3 rows"),
        *full(
            ("insert", {"mode": "upsert", "key": ["id"]}, "wrote 2 of 3 rows"),
            ("update", {"mode": "upsert", "key": ["id"], "order_by": "v"}, "wrote 2 of 3 rows"),
            ("delete", {"mode": "upsert", "key": ["id"], "delete": "v = 0"}, "deleted 0 of 1 rows"),
        ),
    ],
)
def test_rows_that_a_trigger_swallows_stop_the_batch_and_are_counted(job, rows, operation, sink, said):
    rows(f"create table kept ({TABLE})")
    rows("insert into kept values ('old', 'swallowed', 7, now())" if sink else "select 1")
    rows(
        "create function swallow() returns trigger language plpgsql as "
        "$$ begin if old.client = 'swallowed' or new.client = 'swallowed' then return null; end if; "
        "if tg_op = 'DELETE' then return old; end if; return new; end $$"
    )
    rows(f"create trigger swallow before {operation} on kept for each row execute function swallow()")
    small = job(**sink)
    swallowed = {"insert": "new", "update": "old", "delete": "old"}[operation]
    small.feed([event("a", 1), event(swallowed, 2, client="swallowed", v=0), event("b", 3)])
    before = rows("select id from kept")

    problem = small.stopped(SinkError)

    assert said in problem.message
    assert "a trigger of the table swallows them" in problem.message
    assert rows("select id from kept") == before, "nothing of the batch is there"
    rows("drop trigger swallow on kept")
    small.run()
    assert {"a", "b"} <= {identity for (identity,) in rows("select id from kept")}


@pytest.mark.parametrize("delete", [None, *full("v = 0")])
def test_keys_that_are_there_already_are_no_rows_that_a_trigger_swallows(job, rows, delete):
    """A table of nothing but keys."""
    rows("create table kept (id text, client text, v double precision, ts timestamptz, primary key (id, client, v, ts))")
    sink = {"mode": "upsert", "key": ["id", "client", "v", "ts"], **({"delete": delete} if delete else {})}
    small = job(**sink)
    for _ in range(2):
        small.feed([event("a", 1), event("gone", 2, v=0)])

    small.run()

    assert rows("select id from kept order by id") == ([("a",)] if delete else [("a",), ("gone",)])


def test_a_value_that_does_not_fit_is_said_without_it(job, rows):
    rows("create table kept (id text, client varchar(3), v double precision, ts timestamptz)")
    small = job()
    small.feed([event("a", 0, client="confidential")])

    problem = small.stopped(SinkError)

    assert "does not fit the column client" in problem.message
    assert "confidential" not in str(problem)


def test_r1_a_table_of_another_checkpoint_is_refused_and_replaced_when_asked(job, rows):
    small = job(create=True)
    small.feed([event("a", 0)])
    small.run()
    other = job(create=True, folder="other")
    other.feed([event("b", 0)])

    assert "belongs to another run of this job" in str(other.stopped(OutputInUse))
    assert rows("select id from kept") == [("a",)]
    other.run(replace_output=True)
    assert rows("select id from kept") == [("b",)]


def test_another_table_under_the_same_checkpoint_is_refused(job, rows, schema):
    small = job(create=True)
    small.feed([event("a", 0)])
    small.run()
    small.binding.tables["sink.kept"]["table"] = f"{schema}.another"
    small.write()

    assert "it is bound to" in small.stopped(OutputInUse).message


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://streamproof@127.0.0.1:1/streamproof", "cannot be written"),
        ("postgresql://nobody@{address}/streamproof", 'role "nobody" does not exist'),
        ("postgresql://streamproof@{address}/elsewhere", 'database "elsewhere" does not exist'),
        ("postgresql://streamproof@{address}/streamproof?sslmode=require", "SSL"),
    ],
)
def test_a_server_that_refuses_us_is_named(job, postgres, monkeypatch, url, said):
    monkeypatch.setattr(run, "_PATIENCE_SECONDS", 0)
    small = job(url=url.format(address=postgres.url.split("@")[1].split("/")[0]))
    small.feed([event("a", 0)])

    problem = small.stopped(SinkUnavailable if "cannot be written" in said else SinkError)

    assert said in str(problem)


def test_k8_a_claim_that_a_sink_cannot_keep_is_refused_at_the_start(small_job):
    claims = {"connector": "sinks.py:Plain", "path": "out/kept", "guarantee": "exactly-once"}
    small = small_job(KEPT, Binding(tables={"sink.kept": claims}, sinks={"rejected": "json"}))
    (small.folder / "sinks.py").write_text(PLAIN)
    small.feed([event("a", 0)])

    problem = small.stopped(ConfigurationError)

    assert 'guarantee = "exactly-once" cannot be kept by sinks.py:Plain' in problem.message
    assert "at least once" in str(problem)
