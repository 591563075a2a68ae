"""A job or a configuration that cannot work: the message says where, what was found and what to do; nothing is lost, and doing it works."""

import pytest

from spark.small_job import KEPT, Binding, event
from streamproof.errors import ConfigurationError, JobDefinitionError


def asking(chain: str, sides: str = "") -> str:
    return f"\n@sp.job\ndef small(events: sp.Stream) -> sp.Outputs:\n    kept = {chain}\n    return sp.Outputs(kept=kept{sides})\n"


WINDOW = 'window(sp.tumbling("30 seconds")'


@pytest.mark.parametrize(
    ("chain", "where"),
    [
        ('events.require(v="vv > 0")', "require()"),
        ('events.filter("vv > 0", name="some")', "filter(name='some')"),
        ('events.filter(F.col("vv") > 0, name="some")', "filter(name='some')"),
        ('events.deduplicate("id", "vv")', "deduplicate()"),
        (f'events.{WINDOW}, by="vv").aggregate(n=F.count("*"))', "window(by=...)"),
        (f'events.{WINDOW}).aggregate(n=F.sum("vv"))', "aggregate()"),
        ('events.transform(lambda rows: rows.select("vv"))', "transform()"),
    ],
)
def test_a_column_that_does_not_exist(small_job, chain, where):
    job = small_job(asking(chain), Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    error = job.stopped(JobDefinitionError)

    place = f"{job.folder / 'job.py'} line 9: " if where == "transform()" else ""  # a function of the user's that was called
    assert error.message == f'{place}{where} needs the column "vv", which is not there. Did you mean "v"?'
    assert "id, client, v, ts" in error.required
    assert "_" not in error.required
    assert not (job.checkpoint() / "offsets").exists()


@pytest.mark.parametrize("chain", ['events.deduplicate("id")', f'events.{WINDOW}).aggregate(n=F.count("*"))'])
def test_no_event_time_where_one_is_needed(small_job, chain):
    job = small_job(asking(chain), Binding(event_time="", sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    error = job.stopped(JobDefinitionError)

    assert "the source events, which declares no event time" in error.message
    assert '[source.events]: event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }' in error.remedy


def test_a_condition_that_is_no_condition(small_job):
    job = small_job(asking('events.require(v="v +")'), Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])
    assert "require()" in job.stopped(JobDefinitionError).message


def test_a_condition_of_another_type(small_job):
    job = small_job(asking('events.require(v="v + 1")'), Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])
    assert "require()" in job.stopped(JobDefinitionError).message


def test_an_unknown_output(small_job):
    job = small_job(KEPT, Binding(sinks={"kept": "parquet", "rejectd": "json"}))

    error = job.stopped(ConfigurationError)

    assert '[sink.rejectd] is bound, and the job has no output "rejectd". Did you mean "rejected"?' in error.message
    assert error.required == "The job's outputs are kept, rejected."


def test_an_output_without_a_sink(small_job):
    job = small_job(KEPT, Binding(sinks={}))
    error = job.stopped(ConfigurationError)
    assert "output kept has no sink" in error.message
    assert "[sink.kept]" in error.remedy


def test_a_failing_transform_says_what_failed(small_job):
    job = small_job(asking("events.transform(lambda rows: 1 / 0)"), Binding(sinks={"kept": "parquet"}))
    error = job.stopped(JobDefinitionError)
    assert "transform()" in error.message
    assert "division by zero" in error.message


@pytest.mark.parametrize(
    ("chain", "who"),
    [
        (
            'events.transform(lambda rows: rows.withColumn("_Reason", F.lit("mine")))',
            "The function given to transform() makes a column _Reason",
        ),
        (f'events.{WINDOW}).aggregate(_trace=F.count("*"))', "aggregate() makes a column _trace"),
    ],
)
def test_a_column_with_a_name_of_our_own(small_job, chain, who):
    """Our hidden column would take its place and be dropped with it."""
    job = small_job(asking(chain), Binding(sinks={"kept": "parquet"}))
    job.feed([event("e1", 1)])

    error = job.stopped(JobDefinitionError)

    assert error.message == f"{who}, which is a name of Streamproof's own."


def test_a_parquet_file_with_a_column_with_a_name_of_our_own(small_job):
    job = small_job(KEPT, Binding(format="parquet", schema=None))
    job.feed_parquet({"id": ["e1"], "client": ["a"], "v": [1.0], "ts": [1], "_trace": ["mine"]})

    error = job.stopped(ConfigurationError)

    assert error.message == "[source.events] has a column _trace, which is a name of Streamproof's own."
    assert error.remedy.startswith("Declare a schema without _trace")


@pytest.mark.parametrize("name", ["_instant", "_Original", "_corrupt"])
@pytest.mark.parametrize("form", ["json", "parquet"])
def test_a_source_with_a_column_with_a_name_of_our_own(small_job, name, form):
    job = small_job(KEPT, Binding(format=form, schema=f"id string, client string, v double, ts long, {name} string"))

    error = job.stopped(ConfigurationError)

    assert error.message == f"[source.events] has a column {name}, which is a name of Streamproof's own."


def test_two_outputs_in_one_folder_are_refused(small_job):
    job = small_job(KEPT)
    config = job.folder / "streamproof.toml"
    config.write_text(config.read_text().replace("out/rejected", "out/kept"))
    job.feed([event("e1", 1), event("bad", 1, v=-1)])

    error = job.stopped(ConfigurationError)

    assert "the outputs kept and rejected both go to" in error.message


@pytest.mark.parametrize(
    ("type_", "required"), [("map<int, string>", "The keys of a map are texts"), ("array<varchar(3)>", "A text is a string")]
)
def test_a_type_that_json_is_not_read_with_is_refused(small_job, type_, required):
    job = small_job(KEPT, Binding(schema=f"id string, client string, v double, ts long, more {type_}"))

    error = job.stopped(ConfigurationError)

    assert error.message.startswith("[source.events] schema has more ")
    assert required in error.required


@pytest.mark.parametrize(
    ("setting", "why"),
    [("spark.sql.files.ignoreMissingFiles", "vanished"), ("spark.sql.adaptive.streaming.stateless.enabled", "could leave twice")],
)
def test_a_setting_that_the_guarantees_stand_on_is_not_switched_off(small_job, setting, why):
    job = small_job(KEPT, Binding(spark={setting: "true"}))
    job.feed([event("e1", 1)])

    error = job.stopped(ConfigurationError)

    assert setting in error.message
    assert why in str(error)


def test_filters_may_have_any_name_also_on_both_sides_of_a_union(small_job):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    some = events.filter("v > 0", name="counted_x.leave")
    kept = some.filter("v > 1", name="small (EU)").filter("v > 2", name="small (US)").filter("v > 3", name="divert_x(%) ü")
    return sp.Outputs(kept=kept)
"""
    job = small_job(text, Binding(sinks={"kept": "json"}))
    job.feed([event(str(number), number, v=float(number)) for number in range(6)])

    result = job.run()

    assert (result.accounts[0].adds_up, result.account.filtered, result.account.emitted) == (True, 4, 2)
    assert {key: count for key, count in job.manifest(0).counts.items() if key.startswith("filtered.")} == {
        "filtered.counted_x.leave": 1,
        "filtered.small (EU)": 1,
        "filtered.small (US)": 1,
        "filtered.divert_x(%) ü": 1,
    }
