"""The newest row of each key on real Spark: whatever the order in which rows come, in the stream and as a batch."""

import pytest

from spark.small_job import SCHEMA, Binding, dies, event, instant
from streamproof.config import load
from streamproof.core.clock import to_micros
from streamproof.errors import JobDefinitionError, PlanChanged
from streamproof.prove.artifacts.reading import read_state
from streamproof.prove.artifacts.state_file import write_state
from streamproof.replay.bounded.run import run_bounded

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    newest = events.latest({key}, order_by="{order}", within="{within}")
    return sp.Outputs(newest=newest, late=newest.late)
"""
BOUND = Binding(sinks={"newest": "parquet", "late": "json"})


def asked(key='"client"', order="v", within="20 seconds"):
    return JOB.format(key=key, order=order, within=within)


def shown(rows):
    return sorted((row["client"], row["v"], row["id"]) for row in rows)


def at(second):
    return to_micros(instant(second))


def held(job, spark):
    """Of each key what its state holds of the newest row."""
    target = job.folder / "state.json"
    write_state(spark, str(job.checkpoint("newest")), None, target)
    return {key[0]: (rank.order, rank.time_us) for key, rank in read_state(target).operators[0].newest.items()}


BATCHES = [
    [event("e1", 0, v=2.0), event("e2", 1, v=5.0), event("e3", 2, v=4.0), event("f1", 3, client="f", v=None)],
    [event("e4", 4, v=3.0), event("e2", 1, v=5.0), event("f2", 1, client="f", v=-1.0)],
    [event("e5", 2, v=5.0), event("e6", 4, v=5.0), event("f3", 4, client="f", v=None)],
]
"""In the second batch a comes with an older row and a copy, and f with its first row that has a v. In the third the event time decides."""


@pytest.mark.parametrize("reverse", [False, True])
def test_a_row_goes_on_where_its_key_changes_and_the_others_are_counted(small_job, spark, reverse):
    job = small_job(asked(), BOUND)
    for rows in BATCHES:
        job.feed([*reversed(rows)] if reverse else rows)

    (found,) = job.run().accounts

    assert [shown(job.rows("newest", batch=f"{batch:06d}")) for batch in range(3)] == [
        [("a", 5.0, "e2"), ("f", None, "f1")],
        [("f", -1.0, "f2")],
        [("a", 5.0, "e6")],
    ]
    assert (found.adds_up, found.account.emitted, found.account.superseded, found.account.open_state) == (True, 4, 6, 0)
    assert held(job, spark) == {"a": (5.0, at(4)), "f": (-1.0, at(1))}


@pytest.mark.parametrize(("next_at", "ids"), [(20.0, ["e1", "z"]), (20.001, ["e1", "e2", "z"])])
def test_r12_a_key_is_forgotten_once_no_row_within_the_horizon_can_come(small_job, next_at, ids):
    job = small_job(asked(), BOUND)
    for rows in ([event("e1", 0, v=9.0)], [event("z", 30, client="z")], [event("e2", next_at, v=1.0)]):
        job.feed(rows)
        (found,) = job.run().accounts  # behind the second the watermark is 20

    assert (sorted(job.ids("newest")), [row["id"] for row in job.rows("late")]) == (ids, [] if "e2" in ids else ["e2"])
    assert found.adds_up


def test_an_older_row_lets_its_key_be_remembered_longer(small_job):
    job = small_job(asked(), BOUND)
    for rows in ([event("e1", 0, v=9.0)], [event("e2", 15, v=1.0)], [event("z", 30, client="z")], [event("e3", 34, v=2.0)]):
        job.feed(rows)

    (found,) = job.run().accounts

    assert sorted(job.ids("newest")) == ["e1", "z"]
    assert (found.adds_up, found.account.superseded) == (True, 2)


def test_rows_are_whole_and_old_days_and_odd_names_stay_as_they_are(small_job, spark):
    binding = Binding(
        sinks={"newest": "parquet", "late": "json"},
        schema="id string, client string, v double, ts long, deep struct<list:array<int>>, `odd name` string, day date, price decimal(20,4)",
    )
    job = small_job(asked(order="price"), binding)
    rest = {"deep": {"list": [1, None]}, "odd name": None, "day": "1582-10-10"}
    job.feed([{**event("a", 0), **rest, "price": "10.5000"}, {**event("b", 1), **rest, "price": "9.7"}])

    job.run()

    (row,) = job.rows("newest")
    assert (row["id"], row["deep"]["list"], row["odd name"], str(row["day"]), str(row["price"])) == (
        "a",
        [1, None],
        None,
        "1582-10-10",
        "10.5000",
    )
    assert held(job, spark) == {"a": ("10.5000", at(0))}
    files = spark.read.parquet(str(job.out("newest")))
    assert [name for name in files.columns if name.startswith("_")] == []
    assert files.schema["ts"].metadata == {}


@pytest.mark.parametrize(
    ("type_", "less", "greater", "kept"),
    [
        ("string", "z", "\u00e9", "\u00e9".encode().hex()),
        ("timestamp_ntz", "0999-12-31T23:00:00", "2026-03-29T02:30:00", 1_774_751_400_000_000),
    ],
)
def test_an_order_and_none_are_in_the_state_as_they_are_compared(small_job, spark, type_, less, greater, kept):
    job = small_job(asked(order="at"), Binding(sinks=BOUND.sinks, schema=f"{SCHEMA}, at {type_}"))
    job.feed([{**event("e1", 0), "at": greater}, {**event("e2", 1), "at": less}, event("f1", 2, client="f")])

    job.run()

    assert held(job, spark) == {"a": (kept, at(0)), "f": (None, at(2))}


@pytest.mark.full
def test_bytes_that_are_no_utf8_stay_as_they_are(small_job, spark):
    """Parquet files have such texts, and Java's own strings lose them."""
    job = small_job(
        asked(key='"client"', order="v"),
        Binding(format="parquet", sinks=BOUND.sinks, schema=SCHEMA + ", deep map<string, array<string>>"),
    )
    made = spark.sql(
        """
        select 'e1' id, cast(x'ff41' as string) client, 1.0d v, 1767603600000L ts,
            map(cast(x'fe' as string), array(cast(x'80' as string), null)) deep
        union all select 'e2', cast(x'fd41' as string), 1.0d, 1767603600000L, null
        """
    )
    made.write.mode("append").parquet(str(job.folder / "data"))

    (result,) = job.run().accounts
    assert (result.adds_up, result.account.emitted) == (True, 2)

    found = spark.read.parquet(str(job.out("newest"))).selectExpr(
        "id", "hex(client) c", "hex(map_keys(deep)[0]) k", "hex(map_values(deep)[0][0]) l"
    )
    assert sorted(map(tuple, found.collect())) == [("e1", "FF41", "FE", "80"), ("e2", "FD41", None, None)]


@pytest.mark.full
def test_r8_a_row_comes_once_however_the_process_dies(small_job):
    job = small_job(asked(key='"id"'), BOUND)
    for begin in range(4):
        job.feed([event(f"e{number}", 5 * begin + number, v=float(begin - copy)) for number in range(6) for copy in (0, 1)])
    dies(job, "rename", "/out/newest/batch=000002$")
    dies(job, "create", "/commits/")

    (found,) = job.run().accounts

    assert sorted((row["id"], row["v"]) for row in job.rows("newest")) == sorted(
        (f"e{number}", float(begin)) for begin in range(4) for number in range(6)
    )
    assert (found.adds_up, found.account.emitted, found.account.superseded) == (True, 24, 24)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"order": "ts"}, "latest order: ts timestamp now, v double before"),
        ({"within": "30 seconds"}, "latest within: 30 seconds now, 20 seconds before"),
    ],
)
def test_r25_another_order_or_horizon_is_another_state(small_job, change, said):
    job = small_job(asked(), BOUND)
    job.feed(BATCHES[0])
    job.run()
    job.text = asked(**change)
    job.write()

    assert said in job.stopped(PlanChanged).message


def test_a_column_that_has_no_order_is_refused(small_job):
    binding = Binding(sinks={"newest": "parquet", "late": "json"}, schema="id string, client string, v array<int>, ts long")
    job = small_job(asked(), binding)
    job.feed([{"id": "a", "client": "a", "v": [1], "ts": 0}])

    assert "the column is array<int>" in job.stopped(JobDefinitionError).message


@pytest.mark.full
def test_as_a_batch_each_key_has_its_newest_row(small_job, spark):
    job = small_job(asked(), BOUND)
    for rows in BATCHES:
        job.feed(rows)

    result = run_bounded(load(job.folder), spark=spark, to=str(job.folder / "once"))

    rows = spark.read.parquet(str(job.folder / "once" / "newest")).collect()
    assert shown(row.asDict() for row in rows) == [("a", 5.0, "e6"), ("f", -1.0, "f2")]
    (found,) = result.accounts
    assert (found.adds_up, found.account.emitted, found.account.superseded) == (True, 2, 8)
