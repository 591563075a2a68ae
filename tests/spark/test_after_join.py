"""What stands after a join of two streams on real Spark: it takes every row that the join gives, those without a partner too, and drops none."""

import pytest

from full_tables import full
from spark.small_job import event
from spark.test_join import BATCHES, OTHERS, Binding, both, dies, load, other, run_bounded
from spark.test_lookup import PRICES, prices
from streamproof.errors import PlanChanged

JOB = """
@sp.job
def small(events: sp.Stream, others: sp.Stream) -> sp.Outputs:
    paid = events.join(others, on="client", between=("-10 seconds", "30 seconds"), how="{how}")
    sums = paid.window(sp.tumbling("10 seconds"), by={by}).aggregate(
        rows=F.sort_array(F.collect_list(F.concat_ws("|", "id", "id_right"))), paid=F.sum("paid"), v=F.sum("v"){more}
    )
    return sp.Outputs(sums=sums, late=sums.late_left)
"""


def asked(how="inner", by="()", more=""):
    return JOB.format(how=how, by=by, more=more)


def bound():
    return Binding(sinks={"sums": "parquet", "late": "json"}, tables={"source.others": OTHERS})


def windows(job, batch):
    rows = job.rows("sums", batch=f"{batch:06d}")
    return {row["window_start"].second + 60 * row["window_start"].minute: list(row["rows"]) for row in rows}


def by_batch(job):
    found = {batch: windows(job, batch) for batch in range(6)}
    return {batch: rows for batch, rows in found.items() if rows}


FULL = {
    2: {100: ["l1|r1", "l2|r3", "l3", "l4|r1", "l4|r4", "r2"]},
    4: {190: ["l7|r5", "l7|r8"], 200: ["l5"]},
}
"""The watermark that leaves the join is 30.001 s behind that of the batch: 159.999 in batch 2, 360.999 in batch 4. l5 comes out in batch 4, with
the window that it is in.
"""


@pytest.mark.parametrize(
    ("how", "sides", "emitted", "unmatched"),
    [("full", ("l3", "l5", "r2"), 15, 0), ("inner", (), 12, 3), *full(("left", ("l3", "l5"), 14, 1), ("right", ("r2",), 13, 2))],
)
def test_r10_a_window_after_a_join_holds_every_row_of_it(small_job, how, sides, emitted, unmatched):
    job = small_job(asked(how), bound())
    for left, right in BATCHES:
        both(job, left, right)

    (found,) = job.run().accounts

    alone = {"l3", "l5", "r2"} - set(sides)
    wanted = {batch: {start: [row for row in rows if row not in alone] for start, rows in of.items()} for batch, of in FULL.items()}
    assert by_batch(job) == {batch: {start: rows for start, rows in of.items() if rows} for batch, of in wanted.items()}
    account = found.account
    # l8, r7 and r9 wait in the join, and the row of l8 and r7 in a window: of both records.
    assert (account.emitted, account.open_state, account.late, account.unmatched) == (emitted, 5, 2, unmatched)
    assert (found.input, found.expanded, found.adds_up) == (17, emitted + 7 + unmatched - 17, True)
    assert (found.open, found.open_are) == (1, "window")


def test_a_row_that_comes_out_in_the_batch_that_its_window_is_due_in_is_in_it(small_job):
    """r1 leaves when the watermark is at 110, which is in batch 2: its window ends with that batch, where the watermark is at 130.001."""
    job = small_job(asked("full"), bound())
    both(job, [event("l1", 100)], [other("r1", 99.999, "x")])
    both(job, [event("l2", 140.001, client="c")], [other("r2", 140, "d"), other("r3", 140.001, "d")])
    both(job, [event("l3", 150.002, client="c")], [other("r4", 150.002, "e")])
    both(job, [event("l4", 300, client="c")], [other("r5", 300, "e")])

    (found,) = job.run().accounts

    assert by_batch(job) == {2: {90: ["r1"]}, 3: {100: ["l1"]}, 4: {140: ["l2", "r2", "r3"], 150: ["l3", "r4"]}}
    assert found.adds_up


def test_r4_a_batch_that_is_done_again_gives_the_same_windows_and_counts(small_job):
    job = small_job(asked("full"), bound())
    for left, right in BATCHES:
        both(job, left, right)
    dies(job, "rename", "checkpoint/sums/commits/4$")

    (found,) = job.run().accounts

    assert by_batch(job) == FULL
    assert (found.account.emitted, found.account.open_state, found.expanded, found.adds_up) == (15, 5, 5, True)


@pytest.mark.full
def test_the_key_of_a_window_may_be_of_either_side(small_job):
    job = small_job(asked("full", by='("client", "id_right")'), bound())
    for left, right in BATCHES:
        both(job, left, right)
    job.run()

    rows = {(row["client"], row["id_right"]): list(row["rows"]) for row in job.rows("sums", batch="000002")}
    assert rows == {
        ("a", "r1"): ["l1|r1", "l4|r1"],
        ("a", "r4"): ["l4|r4"],
        ("b", "r3"): ["l2|r3"],
        (None, None): ["l3"],
        (None, "r2"): ["r2"],
    }


def test_a_batch_of_all_there_is_gives_the_same_windows(small_job, tmp_path):
    job = small_job(asked("full"), bound())
    for left, right in BATCHES:
        both(job, left, right)

    result = run_bounded(load(job.folder), spark=job.spark, to=str(tmp_path / "once"))

    rows = job.spark.read.parquet(str(tmp_path / "once" / "sums")).collect()
    assert sorted(tuple(row["rows"]) for row in rows)[0] == ("l1|r1", "l2|r3", "l3", "l4|r1", "l4|r4", "r2")
    (found,) = result.accounts
    assert (found.account.total, found.adds_up) == (found.input + found.expanded, True)


def test_r25_another_window_after_the_join_is_refused_on_an_old_checkpoint(small_job):
    job = small_job(asked(), bound())
    both(job, [event("l1", 100)], [other("r1", 100)])
    job.run()
    job.text = asked(more=', n=F.count("*")')
    job.write()

    assert "aggregate n" in str(job.stopped(PlanChanged))


ONCE = """
@sp.job
def small(events: sp.Stream, others: sp.Stream) -> sp.Outputs:
    paid = events.join(others, on="client", between=("-10 seconds", "30 seconds"), how="full").deduplicate("client", within="{within}")
    return sp.Outputs(paid=paid, again=paid.duplicates, late=paid.late_right)
"""


def once_bound():
    return Binding(sinks={"paid": "parquet", "again": "json", "late": "json"}, tables={"source.others": OTHERS})


def named(job, output, batch):
    return sorted(f"{row['id'] or ''}|{row['id_right'] or ''}" for row in job.rows(output, batch=f"{batch:06d}"))


def test_r12_a_deduplication_after_a_join_remembers_by_the_watermark_that_leaves_it(small_job):
    """The key of l1 is forgotten once that is at 165: after batch 3, where the watermark is at 195.001."""
    job = small_job(ONCE.format(within="65 seconds"), once_bound())
    both(job, [event("l1", 100)], [other("r1", 101)])
    both(job, [event("l2", 201, client="x")], [other("r2", 130), other("r3", 201, "y")])
    both(job, [event("l3", 205.001, client="z")], [other("r4", 205.001, "y")])
    both(job, [event("l4", 206)], [other("r5", 206)])
    both(job, [event("l5", 207)], [other("r6", 207, "w")])

    (found,) = job.run().accounts

    assert [named(job, "paid", batch) for batch in range(5)] == [["l1|r1"], [], [], [], ["l5|r5"]]
    assert [named(job, "again", batch) for batch in range(5)] == [[], ["l1|r2"], [], ["l4|r5"], []]
    assert (found.account.duplicate, found.duplicates_written, found.adds_up) == (4, 4, True)


@pytest.mark.full
def test_duplicates_after_a_join_that_nobody_asks_for_are_counted(small_job):
    text = ONCE.format(within="1 hour").replace(", again=paid.duplicates", "")
    job = small_job(text, Binding(sinks={"paid": "parquet", "late": "json"}, tables={"source.others": OTHERS}))
    for left, right in BATCHES:
        both(job, left, right)

    (found,) = job.run().accounts

    keys = [row["client"] for row in job.rows("paid")]
    assert len(keys) == len(set(keys))
    assert list(job.rows("paid")[0]) == ["id", "client", "v", "ts", "ts_right", "paid", "id_right"]
    assert found.account.emitted + found.account.duplicate == 17 + found.expanded - found.account.late - found.account.open_state
    assert found.account.duplicate > 2
    assert found.adds_up


@pytest.mark.full
def test_a_window_after_a_deduplication_after_a_join(small_job):
    text = ONCE.format(within="1 hour").replace(
        "    return sp.Outputs(paid=paid, again=paid.duplicates, late=paid.late_right)",
        '    sums = paid.window(sp.tumbling("10 seconds")).aggregate(n=F.count("*"), keys=F.sort_array(F.collect_list("client")))\n'
        "    return sp.Outputs(paid=sums, late=sums.late_right)",
    )
    job = small_job(text, Binding(sinks={"paid": "parquet", "late": "json"}, tables={"source.others": OTHERS}))
    for left, right in BATCHES:
        both(job, left, right)

    (found,) = job.run().accounts

    assert found.adds_up
    assert sorted((row["n"], list(row["keys"])) for row in job.rows("paid")) == [(1, ["c"]), (1, ["d"]), (3, ["a", "b"])]


@pytest.mark.full
def test_rows_that_a_lookup_before_the_join_found_none_for_are_no_rows_of_the_join(small_job):
    text = asked("left").replace("events.join(others,", 'events.lookup("prices", on="client").join(others,')
    job = small_job(
        text, Binding(sinks={"sums": "parquet", "late": "json"}, tables={"source.others": OTHERS, "table.prices": PRICES})
    )
    prices(job, {"a": 1.0, "b": 2.0})
    for left, right in BATCHES:
        both(job, left, right)

    (found,) = job.run().accounts

    assert (found.account.unmatched, found.account.late, found.adds_up) == (5, 2, True), (
        "l3, l5, l7 and l8 are in no row of the table"
    )
