"""Facts with versions come to the same table, whatever their order and batches, deletes included."""

from collections.abc import Sequence

import psycopg
import pytest
from psycopg import sql

from services.conftest import Rows
from spark.small_job import SmallJob, event
from streamproof.connectors.postgres.facts import Facts
from streamproof.core.randomness import Seeded
from streamproof.errors import ConfigurationError, SinkError

pytestmark = pytest.mark.service

Fact = tuple[str, int, bool | None, str | None]
"""Account, version, whether it is a tombstone, and a content."""

FACTS: list[Fact] = [
    *(
        (account, version, version == gone, f"{account}{version}")
        for account, gone in (("a", 5), ("b", 3), ("c", 0))
        for version in range(1, 6)
    ),
    ("d", 7, False, "one thing"),
    ("d", 7, False, "another thing"),
    ("d", 7, None, None),
    ("e", 2, True, "gone"),
    ("e", 2, False, "zzz"),
    ("e", 2, False, "there"),
]

VERSIONED = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    def facts(rows):
        return rows.select("id", F.col("v").cast("VERSION").alias("version"), (F.col("client") == "gone").alias("gone"), "client")
    return sp.Outputs(kept=events.transform(facts))
"""


@pytest.mark.parametrize("seed", range(25))
def test_any_order_and_any_batches_make_the_same_table(rows: Rows, schema: str, postgres, seed: int) -> None:
    straight = materialised(postgres.url, schema, "straight", [[fact] for fact in FACTS])
    random = Seeded(seed)
    shuffled = random.shuffled([*FACTS, *FACTS[: seed % 5]])
    batches: list[list[Fact]] = []
    while shuffled:
        size = 1 + random.below(6)
        batches.append(shuffled[:size])
        shuffled = shuffled[size:]

    found = materialised(postgres.url, schema, "kept", batches)

    assert found == straight
    assert [fact for fact in found if fact[0] != "d"] == [
        ("a", 5, True, "a5"),
        ("b", 5, False, "b5"),
        ("c", 5, False, "c5"),
        ("e", 2, True, "gone"),
    ]


def materialised(url: str, schema: str, table: str, batches: Sequence[Sequence[Fact]]) -> list[Fact]:
    """What is in the table after each batch has been upserted."""
    facts = Facts(("account", "version", "gone", "content"), ("account",), "version", "gone")
    target, staged = sql.Identifier(table), sql.Identifier("staged")
    with psycopg.connect(url, options=f"-c search_path={schema}") as connection:
        columns = "(account text {}, version bigint, gone boolean, content text)"
        connection.execute(f"create table {table} {columns.format('primary key')}")
        connection.execute(f"create temporary table staged {columns.format('')}")
        for batch in batches:
            connection.execute("truncate staged")
            connection.cursor().executemany("insert into staged values (%s, %s, %s, %s)", batch)
            connection.execute(facts.only_greatest(staged))
            connection.execute(facts.write(target, staged))
            assert connection.execute(facts.missing(target, staged)).fetchone() == (0,)
        return connection.execute(sql.SQL("select * from {} order by account").format(target)).fetchall()


def test_an_older_row_does_not_come_back_to_life_behind_a_tombstone(job, rows: Rows) -> None:
    small = versioned(job)
    small.feed([event("a", 0, 3.0, "gone"), event("b", 1, 2.0, "new"), event("b", 1, 1.0, "old")])
    small.feed([event("a", 2, 2.0, "old"), event("b", 3, 1.0, "older"), event("c", 4, 1.0, "first")])
    small.run()

    assert rows("select id, version, gone, client from kept order by id") == [
        ("a", 3, True, "gone"),
        ("b", 2, False, "new"),
        ("c", 1, False, "first"),
    ]
    assert rows("select batch, rows from streamproof_ledger order by batch") == [(0, 3), (1, 3)]


def test_a_row_without_a_version_is_refused(job, rows: Rows) -> None:
    small = versioned(job)
    small.feed([event("a", 0, None), event("b", 1)])

    assert "no value in version" in str(small.stopped(SinkError))
    assert rows("select count(*) from kept") == [(0,)]


@pytest.mark.parametrize(
    ("type_", "version", "deleted", "said"),
    [
        ("string", "version", "gone", 'version = "version" is of type string'),
        ("double", "version", "gone", 'version = "version" is of type double'),
        ("bigint", "version", "client", 'deleted = "client" is of type string'),
        ("bigint", "revision", "gone", 'version = "revision" is no column'),
    ],
)
def test_columns_that_do_not_say_which_fact_is_newer_are_refused(job, type_, version, deleted, said) -> None:
    small = versioned(job, type_, version=version, deleted=deleted)
    small.feed([event("a", 0)])

    assert said in str(small.stopped(ConfigurationError))


def versioned(job, type_: str = "bigint", **sink: str) -> SmallJob:
    keys = {"version": "version", "deleted": "gone", **sink}
    return job(VERSIONED.replace("VERSION", type_), create=True, mode="upsert", key=["id"], **keys)
