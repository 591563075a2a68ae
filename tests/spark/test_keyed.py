"""Declared state of a key on real Spark: in the stream, through deaths, and as a batch."""

import pytest

from full_tables import full
from spark.small_job import Binding, dies, event
from streamproof.config import load
from streamproof.errors import DataError, JobDefinitionError, PlanChanged, StreamproofError
from streamproof.replay.bounded.run import run_bounded

JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    kept = events.keyed(
        {key},
        state={state},
        on_row={on_row},
        on_timer={on_timer},
        ttl="{ttl}",
    )
    return sp.Outputs(kept=kept, late=kept.late{more})
"""
BOUND = Binding(sinks={"kept": "parquet", "late": "json"})
COUNT = (
    'sp.step(set={"n": "n + 1", "total": "total + v"}, emit=sp.emit("client", "id", "n", "total", "before.n AS was", when="n > 1"))'
)
SILENT = 'sp.step(set={"n": "n + 1", "silence": "greatest(silence, ts + INTERVAL 10 SECONDS)"})'
FIRES = '{"silence": sp.step(set={"n": "0L"}, emit=sp.emit("client", "before.n AS n", "timer AS since"))}'


def asked(key='"client"', state='{"n": "0L", "total": "0D"}', on_row=COUNT, on_timer="None", ttl="20 seconds", more=""):
    return JOB.format(key=key, state=state, on_row=on_row, on_timer=on_timer, ttl=ttl, more=more)


def shown(rows, *names):
    return sorted(tuple(row[name] for name in names) for row in rows)


BATCHES = [
    [event("e3", 3, v=3.0), event("e1", 1, v=1.0), event("f1", 2, client="f"), event("e2", 2, v=2.0)],
    [event("e4", 4, v=4.0), event("e5", 25, v=5.0)],
    [event("e6", 24.5, v=6.0), event("f2", 26, client="f")],
]


@pytest.mark.parametrize("reverse", [True, *full(False)])
def test_each_row_meets_the_state_of_its_key_in_the_order_of_event_times(small_job, reverse):
    job = small_job(asked(), BOUND)
    for rows in BATCHES:
        job.feed([*reversed(rows)] if reverse else rows)

    (found,) = job.run().accounts

    assert [shown(job.rows("kept", batch=f"{batch:06d}"), "id", "n", "total", "was") for batch in range(3)] == [
        [("e2", 2, 3.0, 1), ("e3", 3, 6.0, 2)],
        [("e4", 4, 10.0, 3)],
        [("e6", 2, 11.0, 1)],
    ]
    assert (found.adds_up, found.account.emitted, found.account.absorbed) == (True, 4, 4)


@pytest.mark.parametrize("reverse", [True, *full(False)])
def test_a_column_can_decide_between_rows_of_one_time(small_job, reverse):
    job = small_job(asked(ttl='20 seconds", order_by="id'), BOUND)
    rows = [event(f"e{number}", 1, v=float(number)) for number in range(6)]
    job.feed([*reversed(rows)] if reverse else rows)

    job.run()

    assert shown(job.rows("kept"), "id", "n") == [(f"e{number}", number + 1) for number in range(1, 6)]


def test_a_timer_fires_when_the_watermark_is_there_and_the_key_is_then_forgotten(small_job):
    job = small_job(asked(state='{"n": "0L"}', on_row=SILENT, on_timer=FIRES, ttl="5 seconds"), BOUND)
    for rows in ([event("e1", 0), event("e2", 3)], [event("z1", 23, client="z")], [event("e3", 30), event("z2", 30, client="z")]):
        job.feed(rows)

    (found,) = job.run().accounts

    assert shown(job.rows("kept"), "client", "n") == [("a", 2)]
    assert (found.adds_up, found.account.emitted, found.account.absorbed) == (True, 0, 5)


def test_lists_maps_and_side_outputs(small_job):
    state = '{"last": sp.list_of("double", at_most=2), "seen": sp.map_of("string", "bigint", at_most=2)}'
    on_row = """sp.step(
            set={"last[]": "v", "seen[id]": "coalesce(seen[id], 0) + 1"},
            emit=[
                sp.emit("id", "last", "size(seen) AS ids", when="v < 4"),
                sp.emit("id", "each AS v", each="last", when="v > 2", to="each"),
            ],
        )"""
    more = ', each=kept.tagged("each"), lost=kept.overflow("last"), gone=kept.overflow("seen")'
    sinks = {**BOUND.sinks, "each": "json", "lost": "parquet", "gone": "json"}
    job = small_job(asked(state=state, on_row=on_row, more=more), Binding(sinks=sinks))
    job.feed([event("a", 1, v=1.0), event("b", 2, v=2.0)])
    job.feed([event("a", 3, v=3.0), event("c", 4, v=4.0)])

    (found,) = job.run().accounts

    assert shown(job.rows("kept"), "id", "ids") == [("a", 1), ("a", 2), ("b", 2)]
    assert sorted((row["id"], list(row["last"])) for row in job.rows("kept")) == [
        ("a", [1.0]),
        ("a", [2.0, 3.0]),
        ("b", [1.0, 2.0]),
    ]
    assert shown(job.rows("each"), "id", "v") == [("a", 2.0), ("a", 3.0), ("c", 3.0), ("c", 4.0)]
    assert shown(job.rows("lost"), "value") == [(1.0,), (2.0,)]
    assert shown(job.rows("gone"), "key", "value") == [("b", 1)]
    assert (found.adds_up, found.account.emitted, found.account.tagged, found.account.absorbed) == (True, 3, 1, 0)


def test_a_key_that_is_null_leaves_before_any_state(small_job):
    job = small_job(asked(more=", rejected=events.rejected"), Binding(sinks={**BOUND.sinks, "rejected": "json"}))
    job.text = job.text.replace("rejected=events.rejected", "rejected=kept.rejected")
    job.write()
    job.feed([event("e1", 0, client=None), event("e2", 1), event("e3", 2)])

    (found,) = job.run().accounts

    assert [row["reason"] for row in job.rows("rejected")] == ["key client (is null)"]
    assert (found.adds_up, found.account.rejected, found.account.emitted, found.account.absorbed) == (True, 1, 1, 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"state": '{"n": "0", "total": "0D"}', "on_row": COUNT.replace('"n + 1"', '"n + 1L"')}, "is bigint, and the field is int"),
        *full(
            ({"on_row": COUNT.replace('"n + 1"', '"n + rand()"')}, "it is not deterministic"),
            ({"on_row": COUNT.replace('"n + 1"', '"n + v"')}, "is double, and the field is bigint"),
            ({"on_row": COUNT.replace('"total + v"', '"total + w"')}, '"w", which is not there'),
            ({"on_row": COUNT.replace('"total + v"', '"sum(v)"')}, "it has an aggregate in it"),
            ({"on_row": COUNT.replace('"n > 1"', '"n"')}, "is bigint"),
            ({"state": '{"n": "0L", "v": "0D", "total": "0D"}'}, "keyed() has a field v, and the rows have a column of that name"),
            ({"state": '{"n": "0L", "total": "v"}'}, "names v, which is not there"),
            ({"on_row": COUNT.replace('"n + 1"', '"n +"')}, 'on_row: n, "n +"'),
            ({"state": '{"n": "0L", "total": "0D", "held": sp.list_of("strng", at_most=2)}'}, "strng"),
        ),
    ],
)
def test_an_expression_that_does_not_fit_is_refused_by_its_place(small_job, change, said):
    job = small_job(asked(**change), BOUND)
    job.feed(BATCHES[0])

    assert said in job.stopped(JobDefinitionError).message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"state": '{"n": "0", "total": "0D"}'}, "field n: 0 int now, 0L bigint before"),
        *full(
            ({"ttl": "30 seconds"}, "keyed ttl: 30 seconds now, 20 seconds before"),
            ({"on_row": COUNT.replace('"n + 1"', '"n + 2"')}, "on_row sets n: n + 2 now, n + 1 before"),
        ),
    ],
)
def test_r25_another_field_is_another_state(small_job, change, said):
    job = small_job(asked(), BOUND)
    job.feed(BATCHES[0])
    job.run()
    job.text = asked(**change)
    job.write()

    assert said in job.stopped(PlanChanged).message


@pytest.mark.full
def test_what_rows_are_given_can_change_under_the_same_state(small_job):
    job = small_job(asked(), BOUND)
    job.feed(BATCHES[0])
    job.run()
    job.text = asked(on_row=COUNT.replace('"n > 1"', '"n > 3"'))
    job.write()
    job.feed(BATCHES[1])

    assert all(found.adds_up for found in job.run().accounts)
    assert shown(job.rows("kept", batch="000002"), "id", "n") + shown(job.rows("kept", batch="000001"), "id", "n") == [("e4", 4)]


def test_a_division_by_zero_stops_the_job_by_the_name_of_its_field(small_job):
    job = small_job(asked(on_row=COUNT.replace('"total + v"', '"total + 1 / v"')), BOUND)
    job.feed([event("e1", 0, v=0.0)])

    assert "DIVIDE_BY_ZERO in total + 1 / v" in job.stopped(StreamproofError).message


def test_a_timer_that_sets_itself_back_stops_the_job(small_job):
    fires = FIRES.replace('{"n": "0L"}', '{"silence": "timer"}')
    job = small_job(asked(state='{"n": "0L"}', on_row=SILENT, on_timer=fires), BOUND)
    for rows in ([event("e1", 0)], [event("z1", 40, client="z")], [event("z2", 41, client="z")]):
        job.feed(rows)

    assert "the timer silence" in job.stopped(DataError).message


def test_a_timer_that_is_set_before_the_watermark_is_due_at_once(small_job):
    past = SILENT.replace("greatest(silence, ts + INTERVAL 10 SECONDS)", "ts - INTERVAL 1 HOUR")
    job = small_job(asked(state='{"n": "0L"}', on_row=past, on_timer=FIRES), BOUND)
    for rows in ([event("z1", 60, client="z")], [event("e1", 70)], [event("z2", 71, client="z"), event("e2", 72)]):
        job.feed(rows)

    (found,) = job.run().accounts

    by_batch = [shown(job.rows("kept", batch=f"{batch:06d}"), "client", "n") for batch in range(3)]
    assert by_batch == [[], [("a", 1), ("z", 1)], [("a", 1), ("z", 1)]]  # the first batch has no watermark yet
    assert (found.adds_up, found.account.absorbed) == (True, 4)


def test_r8_state_changes_once_however_the_process_dies(small_job):
    job = small_job(
        asked(state='{"n": "0L"}', on_row=SILENT.replace("})", '}, emit=sp.emit("client", "n", "id"))'), ttl="never"), BOUND
    )
    job.text = job.text.replace('"silence": "greatest(silence, ts + INTERVAL 10 SECONDS)"', "")
    job.write()
    for begin in range(4):
        job.feed([event(f"e{begin}{number}", 5 * begin + number) for number in range(6)])
    dies(job, "rename", "/out/kept/batch=000002$")
    dies(job, "create", "/commits/")

    (found,) = job.run().accounts

    assert sorted(row["n"] for row in job.rows("kept")) == list(range(1, 25))
    assert (found.adds_up, found.account.emitted) == (True, 24)


@pytest.mark.full
def test_bytes_that_are_no_utf8_and_old_days_stay_as_they_are(small_job, spark):
    binding = Binding(
        format="parquet", sinks=BOUND.sinks, schema="id string, client string, ts long, day date, price decimal(20,4)"
    )
    on_row = 'sp.step(set={"was": "id"}, emit=sp.emit("client", "id", "before.was AS was", "day", "price"))'
    job = small_job(asked(state='{"was": "CAST(NULL AS STRING)"}', on_row=on_row), binding)
    for number in (1, 2):
        made = spark.sql(
            f"select cast(x'ff4{number}' as string) id, cast(x'fe' as string) client, {1767603600000 + number}L ts, "
            "date'1582-10-10' day, 10.5000BD price"
        )
        made.selectExpr("id", "client", "ts", "day", "cast(price as decimal(20,4)) price").write.mode("append").parquet(
            str(job.folder / "data")
        )

    job.run()

    rows = spark.read.parquet(str(job.out("kept"))).selectExpr("hex(id) i", "hex(was) w", "hex(client) c", "string(day) d", "price")
    assert sorted((r.i, r.w, r.c, r.d, str(r.price)) for r in rows.collect()) == [
        ("FF41", None, "FE", "1582-10-10", "10.5000"),
        ("FF42", "FF41", "FE", "1582-10-10", "10.5000"),
    ]


@pytest.mark.full
def test_as_a_batch_all_rows_of_a_key_are_in_one_order(small_job, spark):
    job = small_job(asked(), BOUND)
    for rows in BATCHES:
        job.feed(rows)

    result = run_bounded(load(job.folder), spark=spark, to=str(job.folder / "once"))

    rows = spark.read.parquet(str(job.folder / "once" / "kept")).collect()
    assert shown((row.asDict() for row in rows), "id", "n") == [("e2", 2), ("e3", 3), ("e4", 4), ("e5", 2)]
    (found,) = result.accounts
    assert (found.adds_up, found.account.emitted, found.account.absorbed) == (True, 4, 4)
