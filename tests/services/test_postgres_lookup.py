"""Rows are looked up in a table of PostgreSQL: its types, as of event time, and what is said where it cannot be read."""

from decimal import Decimal

import pytest

from spark.small_job import Binding, event
from streamproof.core.notes import NoteCode
from streamproof.errors import DataError, SourceUnavailable

pytestmark = pytest.mark.service
JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    found = events.lookup("rates", on="client"{more})
    return sp.Outputs(kept=found, unknown=found.unmatched)
"""


@pytest.fixture
def looked_up(small_job, postgres, schema):
    def looked_up(more="", **table):
        at = {"connector": "postgres", "url": postgres.url, "table": f"{schema}.rates", **table}
        job = small_job(JOB.format(more=more), Binding(sinks={"kept": "parquet", "unknown": "json"}, tables={"table.rates": at}))
        job.feed([event("1", 0), event("2", 5, client="b"), event("3", 9)])
        return job

    return looked_up


def test_as_of_event_time_with_the_types_of_the_table(looked_up, rows):
    rows("create type tier as enum ('low', 'high')")
    rows(
        "create table rates (client varchar(9), rate numeric(10,4), level tier, many smallint, since timestamptz, until timestamptz, at date, "
        "whole numeric, raw bytea, ok boolean, small real)"
    )
    rows(
        "insert into rates values ('a', 1.5, 'low', 3, '2026-01-05 09:00:00+00', '2026-01-05 09:00:05+00', '2026-01-05', 7, 'x', true, 0.5), "
        "('a', 2.5, null, null, '2026-01-05 09:00:05+00', null, null, null, null, null, null)"
    )
    job = looked_up(', as_of="ts"', valid_from="since", valid_to="until")

    (found,) = job.run().accounts

    kept = {row["id"]: row for row in job.rows("kept")}
    assert {name: row["rate"] for name, row in kept.items()} == {"1": Decimal("1.5000"), "3": Decimal("2.5000")}
    assert (kept["1"]["level"], kept["1"]["many"], kept["1"]["ok"], kept["1"]["small"]) == ("low", 3, True, 0.5)
    assert (kept["1"]["whole"], kept["1"]["raw"], str(kept["1"]["at"])) == (Decimal("7.000000000000000000"), b"x", "2026-01-05")
    assert ([row["id"] for row in job.rows("unknown")], found.adds_up) == (["2"], True)


def test_a_view_may_stand_in_its_place_and_two_rows_of_a_key_are_refused(looked_up, rows):
    rows("create table prices (client text, rate float8)")
    rows("insert into prices values ('a', 1.5), ('a', 2.5)")
    rows("create view rates as select * from prices")
    job = looked_up()

    assert "has 2 rows for one client, xxhash64(client) = -8582455328737087284" in job.stopped(DataError).message
    rows("delete from prices where rate > 2")
    job.run()
    assert {row["id"]: row["rate"] for row in job.rows("kept")} == {"1": 1.5, "3": 1.5}


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (None, "is not there, or has no columns"),
        ("client text, place point", "has the column place of type point"),
        ("client text, rate numeric", "has a value in the column rate that does not fit decimal128(38, 18)"),
    ],
    ids=["gone", "type", "value"],
)
def test_a_table_that_cannot_be_read_is_refused_in_a_sentence(looked_up, rows, table, why):
    if table:
        rows(f"create table rates ({table})")
        rows("insert into rates values ('secret', null)" if "point" in table else "insert into rates values ('secret', 'NaN')")
    job = looked_up()

    error = job.stopped(DataError)

    assert why in error.message
    assert "secret" not in str(error)


def test_a_server_that_is_down_is_waited_for_at_the_start_and_passed_over_when_the_table_is_due(small_job, own_postgres):
    import psycopg

    with psycopg.connect(own_postgres.url) as connection:
        connection.execute("create table rates (client text, rate float8)")
        connection.execute("insert into rates values ('a', 1.5)")
    at = {"connector": "postgres", "url": own_postgres.url, "table": "rates", "refresh": "0 seconds"}
    job = small_job(JOB.format(more=""), Binding(sinks={"kept": "parquet", "unknown": "json"}, tables={"table.rates": at}))
    for number in range(2):
        job.feed([event(f"{number}", number)])

    result = job.run(listener=lambda event: own_postgres.stop() if event.kind == "batch-staged" and event.batch == 0 else None)

    assert {row["id"]: row["rate"] for row in job.rows("kept")} == {"0": 1.5, "1": 1.5}
    assert [note.about for note in result.notes if note.code is NoteCode.TABLE_STAYS] == ["rates"]
    job.feed([event("2", 2)])
    error = job.stopped(SourceUnavailable)
    assert error.exit_code == 75
