"""An output with several sinks is staged once and published to each: one query, one account, one watermark (K7, R8)."""

import shutil

import pytest

from full_tables import full
from spark.small_job import KEPT, SUMS, Binding, dies, event
from streamproof.core.account import Account
from streamproof.errors import ConfigurationError, OutputInUse, StagedRowsGone, StoreEmptied, WrongCheckpoint

FILES = {"connector": "files", "format": "parquet"}
BOTH = Binding(
    sinks={},
    tables={
        "sink.kept.table": {**FILES, "path": "out/table"},
        "sink.kept.lines": {**FILES, "path": "out/lines", "format": "json"},
        "sink.rejected.a": {**FILES, "path": "out/rejected-a", "format": "json"},
        "sink.rejected.b": {**FILES, "path": "out/rejected-b"},
    },
)


def read(job, name, folder):
    return sorted(row["id"] for row in job.rows(name, job.folder / "out" / folder))


def test_k7_each_sink_has_every_row_once(small_job):
    job = small_job(KEPT, BOTH)
    job.feed([event("e1", 1), event("bad", 2, v=-1)])
    job.feed([event("e2", 3)])

    result = job.run()

    assert read(job, "kept", "table") == read(job, "kept", "lines") == ["e1", "e2"]
    assert read(job, "rejected", "rejected-a") == read(job, "rejected", "rejected-b") == ["bad"]
    assert result.account == Account(emitted=2, rejected=1)
    assert [(each.name, each.format, each.rows) for each in result.outputs] == [
        ("kept.table", "parquet", 2),
        ("kept.lines", "json", 2),
        ("rejected.a", "json", 1),
        ("rejected.b", "parquet", 1),
    ]
    assert not list(job.folder.glob("checkpoint-*/_staging/*")), "what every sink has taken is dropped"
    assert job.run().account == result.account


@pytest.mark.parametrize("missing", ["table", *full("lines")])
def test_k7_a_crash_between_two_publications_doubles_nothing(small_job, missing):
    job = small_job(KEPT, BOTH)
    job.feed([event("e1", 1)])
    dies(job, "rename", f"/out/{missing}/batch=000000$")
    assert (read(job, "kept", "table") == ["e1"]) is (missing == "lines")

    job.feed([event("e2", 2)])
    assert job.run().account == Account(emitted=2)

    assert read(job, "kept", "table") == read(job, "kept", "lines") == ["e1", "e2"]


def test_k7_one_query_decides_what_is_late(small_job):
    tables = {
        "sink.sums.one": {**FILES, "path": "out/one"},
        "sink.sums.two": {**FILES, "path": "out/two"},
    }
    job = small_job(SUMS, Binding(sinks={"late": "json", "rejected": "json"}, tables=tables))
    job.feed([event("e1", 1)])
    job.feed([event("e2", 100)])
    job.feed([event("e3", 101)])
    job.feed([event("e4", 2), event("e5", 200)])

    result = job.run()

    assert len(result.accounts) == 1
    assert result.account == Account(emitted=3, open_state=1, late=1)
    one, two = (job.rows("sums", job.folder / "out" / name) for name in ("one", "two"))
    assert one == two


def test_k7_torn_and_missing_batches_are_told_for_each_sink(small_job):
    job = small_job(KEPT, BOTH)
    for number in range(3):
        job.feed([event(f"e{number}", number)])
    job.run()
    shutil.move(job.folder / "out/lines/batch=000001", job.folder / "away")
    assert f"Of {job.folder / 'out/lines'} batch 1 is gone" in job.stopped(StoreEmptied).message
    shutil.move(job.folder / "away", job.folder / "out/lines/batch=000001")

    shutil.rmtree(job.folder / "out/lines/batch=000002")
    job.stopped(StagedRowsGone)
    job.run(replay_last=True)
    assert read(job, "kept", "table") == read(job, "kept", "lines") == ["e0", "e1", "e2"]


def test_k7_a_sink_that_is_taken_away_while_a_batch_is_open_is_named(small_job):
    job = small_job(KEPT, BOTH)
    job.feed([event("e1", 1)])
    dies(job, "rename", "/out/lines/batch=000000$")
    job.binding = Binding(sinks={"kept": "parquet"})
    job.write()

    assert "for the output kept.table" in job.stopped(WrongCheckpoint).message


ONE, TWO = ({**FILES, "path": f"out/{name}"} for name in ("one", "two"))


def bound_anew(job, **tables):
    job.binding = Binding(
        sinks={"rejected": "json"}, tables={f"sink.{name.replace('_', '.')}": table for name, table in tables.items()}
    )
    job.write()


def test_k7_a_sink_that_is_added_later_gets_rows_from_then_on(small_job):
    job = small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept.one": ONE}))
    job.feed([event("e1", 1)])
    job.run()
    bound_anew(job, kept_one=ONE, kept_two=TWO)
    job.feed([event("e2", 2)])

    assert job.run().account == Account(emitted=2)

    assert (read(job, "kept", "one"), read(job, "kept", "two")) == (["e1", "e2"], ["e2"])
    bound_anew(job, kept_two=TWO)
    job.feed([event("e3", 3)])
    job.run()
    assert (read(job, "kept", "one"), read(job, "kept", "two")) == (["e1", "e2"], ["e2", "e3"])


def test_k7_an_output_with_one_sink_gets_several_where_it_was(small_job):
    job = small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept": ONE}))
    job.feed([event("e1", 1)])
    job.run()
    bound_anew(job, kept_one=ONE, kept_two=TWO)
    for number in (2, 3):
        job.feed([event(f"e{number}", number)])
        job.run()

    assert (read(job, "kept", "one"), read(job, "kept", "two")) == (["e1", "e2", "e3"], ["e2", "e3"])


def test_k7_one_of_several_sinks_that_is_bound_elsewhere_is_told(small_job):
    job = small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept.one": ONE, "sink.kept.two": TWO}))
    job.feed([event("e1", 1)])
    job.run()
    bound_anew(job, kept_one=ONE, kept_two={**TWO, "path": "out/elsewhere"})

    assert "has published kept.two at" in job.stopped(OutputInUse).message


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"sink.kept.own": {"connector": "sinks.py:Mine", "path": "out/own"}}, "a sink class of your own"),
        ({"sink.kept.lines": {**FILES, "path": "out/table"}}, "both go to"),
        ({"sink.kept.lines": {**FILES, "path": "out/lines", "formt": "json"}}, "[sink.kept.lines] has no key"),
        ({"sink.kep.lines": {**FILES, "path": "out/lines"}}, 'the job has no output "kep". Did you mean "kept"?'),
    ],
    ids=["own class", "one folder", "a key", "an output"],
)
def test_k7_mistakes_in_the_configuration_are_named(small_job, table, said):
    tables = {"sink.kept.table": {**FILES, "path": "out/table"}, **table}
    job = small_job(KEPT, Binding(sinks={}, tables=tables))

    assert said in str(job.stopped(ConfigurationError))
