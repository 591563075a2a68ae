"""What comes from outside, settings of Spark and the locale of the machine, changes nothing, or stops the run before it begins (R27)."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark.small_job import KEPT, SUMS, WINDOWED, Binding, assert_readable, event, run_apart
from streamproof.errors import ConfigurationError
from streamproof.runtime.spark.session import STREAMING
from streamproof.runtime.spark.settings import SETTINGS, Setting, Where, guard

OTHERS = {
    "spark.sql.streaming.multipleWatermarkPolicy": "max",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.files.ignoredPathSegmentRegex": "^001",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.streaming.aggregation.stateFormatVersion": "1",
    "spark.sql.streaming.join.stateFormatVersion": "1",
    "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion": "1",
    "mapreduce.input.linerecordreader.line.maxlength": "200",
    **{setting.key: "LEGACY" for setting in SETTINGS if "Rebase" in setting.key},
}
"""Another value of those settings that are not true or false."""


def other(setting: Setting) -> str:
    return OTHERS.get(setting.key, "false" if setting.value == "true" else "true")


def named(setting: Setting) -> str:
    return setting.key.removeprefix("spark.sql.")


@pytest.fixture
def outside(spark: SparkSession) -> Iterator[Callable[[Setting], SparkSession]]:
    """`outside(setting)`: a session of a query in which somebody else has set another value."""
    undo: list[Callable[[], None]] = []

    def session(setting: Setting) -> SparkSession:
        made = spark.newSession()
        if setting.where is Where.SESSION:
            made.conf.set(setting.key, other(setting))
        elif setting.where is Where.PARSER:
            # Spark reads a schema's text by the active session, which may be that of an earlier test.
            SparkSession._get_j_spark_session_class(spark._jvm).setActiveSession(spark._jsparkSession)
            spark.conf.set(setting.key, other(setting))
            undo.append(lambda: spark.conf.set(setting.key, setting.value))
        elif setting.where is Where.HADOOP:
            hadoop = spark.sparkContext._jsc.hadoopConfiguration()
            hadoop.set(setting.key, other(setting))
            undo.append(lambda: hadoop.set(setting.key, setting.value))
        else:
            process = spark.sparkContext._jsc.sc().conf()
            process.set(setting.key, other(setting))
            undo.append(lambda: process.set(setting.key, setting.value))
        return made

    yield session
    for each in undo:
        each()


def in_force(spark: SparkSession, setting: Setting) -> str:
    if setting.where is Where.HADOOP:
        return str(spark._jsparkSession.sessionState().newHadoopConf().get(setting.key))
    return str(spark.conf.get(setting.key))


@pytest.mark.parametrize("setting", [each for each in SETTINGS if each.forced], ids=named)
def test_r27_what_a_session_can_have_is_set_and_noted(outside, setting):
    session = outside(setting)
    assert in_force(session, setting) == other(setting)

    notes = guard(session, {})

    assert in_force(session, setting) == setting.value
    assert [note.partition(":")[0] for note in notes] == [
        f"{setting.key} was {other(setting)} from outside; this job sets {setting.value}"
    ]


@pytest.mark.parametrize("setting", [each for each in SETTINGS if not each.forced], ids=named)
def test_r27_what_a_session_cannot_have_is_refused(outside, setting):
    with pytest.raises(ConfigurationError) as refused:
        guard(outside(setting), {})

    assert refused.value.message == f"{setting.key} is {other(setting)} in this Spark session."
    assert setting.reason in refused.value.required
    assert "spark-defaults.conf" in refused.value.remedy
    assert_readable(refused.value)


@pytest.mark.parametrize("setting", [each for each in SETTINGS if each.choice], ids=named)
def test_a_job_may_choose_what_its_rows_mean(outside, setting):
    session = outside(setting)

    assert guard(session, {setting.key: other(setting)}) == []
    assert setting.where is Where.PARSER or in_force(session, setting) == other(setting)


def test_where_nobody_has_set_anything_spark_has_the_values_we_stand_on(spark):
    session = spark.newSession()
    for setting in SETTINGS:
        if setting.where is Where.SESSION:
            session.conf.unset(setting.key)

    assert guard(session, {}) == []
    assert {
        setting.key: session.conf.get(setting.key)
        for setting in SETTINGS
        if setting.where is Where.SESSION and setting.key not in STREAMING
    } == {setting.key: setting.value for setting in SETTINGS if setting.where is Where.SESSION and setting.key not in STREAMING}


def test_a_setting_is_found_by_its_older_name(spark):
    session = spark.newSession()
    session.conf.unset("spark.sql.parquet.datetimeRebaseModeInRead")
    session.conf.set("spark.sql.legacy.parquet.datetimeRebaseModeInRead", "LEGACY")

    assert len(guard(session, {})) == 1
    assert session.conf.get("spark.sql.parquet.datetimeRebaseModeInRead") == "CORRECTED"


def defaults(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """A spark-defaults.conf, and the variable by which Spark finds it."""
    folder.mkdir()
    (folder / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    return {"SPARK_CONF_DIR": str(folder)}


@pytest.mark.full
def test_r27_a_corrupt_file_stops_the_run_whatever_spark_defaults_say(small_job, tmp_path):
    job = small_job(KEPT, Binding(format="parquet", spark={"spark.master": "local[1]"}))
    for file in ("first", "third"):
        job.feed_parquet({"id": [f"{file} {row}" for row in range(100)], "client": ["a"] * 100, "v": [1.0] * 100, "ts": range(100)})
        if file == "first":
            job.feed_bytes(b"PAR1" + bytes(40) + b"PAR1", "parquet")

    anywhere = {"spark.sql.files.ignoreCorruptFiles": "true", "spark.files.ignoreCorruptFiles": "true"}
    ended = run_apart(job, defaults(tmp_path / "conf", anywhere))

    assert ended.returncode == 1, ended.stdout
    assert "002.parquet" in ended.stderr
    assert {identity.split()[0] for identity in job.ids()} == {"first"}, "what comes behind it waits"


@pytest.mark.full
def test_r27_a_run_with_every_setting_from_outside_ends_like_one_without(small_job, tmp_path):
    job = small_job(SUMS, Binding(**{**vars(WINDOWED), "spark": {"spark.master": "local[1]", "spark.sql.shuffle.partitions": "2"}}))
    job.feed([event("a", 0), event("b", 100)])
    job.feed([event("c", 30), event("a long line" * 20, 85), event("d", 200)])
    job.feed([event("e", 125), event("e2", 171), event("f", 300)])
    settings = {setting.key: other(setting) for setting in SETTINGS if setting.where is Where.SESSION}
    hadoop = {f"spark.hadoop.{setting.key}": other(setting) for setting in SETTINGS if setting.where is Where.HADOOP}

    ended = run_apart(job, defaults(tmp_path / "conf", {**settings, **hadoop}))

    assert ended.returncode == 0, ended.stderr
    assert "emitted 7 + open 1 + late 0" in ended.stdout
    noted = {line.split()[1] for line in ended.stdout.splitlines() if "from outside" in line}
    assert noted == {setting.key for setting in SETTINGS if setting.forced and setting.key not in STREAMING}


@pytest.mark.full
def test_the_names_of_files_do_not_depend_on_the_locale(small_job):
    job = small_job(KEPT, Binding(spark={"spark.master": "local[1]"}))
    job.feed([event("a", 0), event("refused", 1, v=-1.0)])

    ended = run_apart(job, {"JAVA_TOOL_OPTIONS": "-Duser.language=ar -Duser.country=EG"})

    assert ended.returncode == 0, ended.stderr
    assert (job.ids(), job.ids("rejected")) == (["a"], ["refused"])
