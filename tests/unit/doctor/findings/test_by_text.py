"""What only the text of a job says: for each mistake the small job that has it, and its twin."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import found, of_batch, of_sink, ours, plain, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE
SCRIPT = """
import {imports}
rows = spark.readStream.format("kafka"){reader}.load()
rows.writeStream.format("{format}"){writer}.start()
"""


def script(folder, writer='.option("checkpointLocation", "/c")', *, reader="", imports="os", target="parquet"):
    return plain(folder, SCRIPT.format(writer=writer, reader=reader, imports=imports, format=target))


@pytest.mark.parametrize(("target", "severity"), [("kafka", [NOTE]), ("console", [NOTE]), ("parquet", []), ("delta", [])])
def test_what_spark_s_own_sinks_keep(tmp_path, target, severity):
    assert severities(script(tmp_path, target=target), Code.NOT_IDEMPOTENT) == severity


@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ('self.rows(section).write.mode("append").save("/out")', [STOP]),
        ('if self.published(1):\n    return\nself.rows(section).write.mode("append").save("/out")', []),
    ],
)
def test_a_sink_of_ones_own_asks_whether_a_batch_is_published(tmp_path, does, severity):
    assert severities(of_sink(tmp_path, does), Code.NOT_IDEMPOTENT) == severity


@pytest.mark.parametrize(
    ("sink", "severity"),
    [("", [WARN]), ("idempotent = true", []), ('lookup = "http://api/{key}"', [])],
)
def test_an_api_takes_a_call_once(tmp_path, sink, severity):
    calls = f'[sink.calls]\nconnector = "http"\nurl = "http://api"\nkey = "click"\n{sink}'

    assert severities(ours(tmp_path, rest=calls), Code.NOT_IDEMPOTENT) == severity


@pytest.mark.parametrize(("guarantee", "severity"), [('guarantee = "at-least-once"', [NOTE]), ("", [])])
def test_a_topic_that_is_written_at_least_once(tmp_path, guarantee, severity):
    topic = f'[sink.more]\nconnector = "kafka"\nservers = "b:9092"\ntopic = "t"\n{guarantee}'

    assert severities(ours(tmp_path, rest=topic), Code.NOT_IDEMPOTENT) == severity


MARK = 'self.place.storage.create_atomic(f"{d}/_ledger.json", e)'
ROWS = 'self.rows(section).write.mode("overwrite").save(d)'


@pytest.mark.parametrize(
    ("does", "severity"),
    [(f"{MARK}\n{ROWS}", [STOP]), (f"{ROWS}\n{MARK}", []), (f"{MARK}\n{ROWS}\nself.place.storage.rename(h, d)", [])],
)
def test_the_ledger_comes_last(tmp_path, does, severity):
    assert severities(of_sink(tmp_path, does), Code.MARKED_DONE_FIRST) == severity


RETRY = """
import requests, time

def send(row):
    {loop}:
        try:
            requests.post("http://api", json=row)
            return
        except OSError:
            {then}
"""


@pytest.mark.parametrize(
    ("loop", "then", "severity"),
    [
        ("while True", "continue", [WARN]),
        ("while True", "pass", [WARN]),
        ("while True", "time.sleep(2)", []),
        ("while True", "raise", []),
        ("for attempt in range(5)", "continue", []),
    ],
)
def test_a_call_is_made_again_at_once(tmp_path, loop, then, severity):
    assert severities(plain(tmp_path, RETRY.format(loop=loop, then=then)), Code.RETRY_STORM) == severity


ASKS = """
import requests

def ask(key):
    return requests.get(f"http://users/{{key}}").json()

{function}

def named(clicks):
    return clicks.{call}
"""


@pytest.mark.parametrize(
    ("function", "call", "severity"),
    [
        ("asked = F.udf(lambda key: ask(key))", 'withColumn("name", F.udf(lambda key: ask(key))("user"))', [WARN]),
        ('@F.udf("string")\ndef asked(key):\n    return ask(key)', 'withColumn("name", asked("user"))', [WARN]),
        (
            "def all_of(frames):\n    for f in frames:\n        for k in f['u']:\n            ask(k)\n        yield f",
            'mapInPandas(all_of, "u string")',
            [WARN],
        ),
        ("def all_of(frames):\n    for f in frames:\n        yield ask(list(f['u']))", 'mapInPandas(all_of, "u string")', []),
        ('@F.udf("string")\ndef asked(key):\n    return key.upper()', 'withColumn("name", asked("user"))', []),
    ],
)
def test_a_service_is_called_for_each_row(tmp_path, function, call, severity):
    assert severities(plain(tmp_path, ASKS.format(function=function, call=call), "named"), Code.BLOCKING_LOOKUP) == severity


@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ("import requests\nfor row in rows.collect():\n    requests.post('http://api', json=row.asDict())", [WARN]),
        ("import requests\nrequests.post('http://api', json=[row.asDict() for row in rows.collect()])", []),
        ("for row in rows.collect():\n    print(row)", []),
    ],
)
def test_a_batch_calls_a_service_for_each_row(tmp_path, does, severity):
    assert severities(of_batch(tmp_path, does), Code.BLOCKING_LOOKUP) == severity


GROUPS = """
def visit(key, frames, state):
    {asks}
    state.setTimeoutTimestamp(5)
    yield from ()

def visits(clicks):
    return clicks.withWatermark("at", "1 minute").groupBy("u").applyInPandasWithState(visit, "u int", "n int", "append", "EventTimeTimeout")
"""


@pytest.mark.parametrize(("asks", "severity"), [("pass", [STOP]), ("now = state.getCurrentWatermarkMs()", [])])
def test_a_timeout_is_held_against_the_watermark(tmp_path, asks, severity):
    assert severities(plain(tmp_path, GROUPS.format(asks=asks), "visits"), Code.TIMER_IN_THE_PAST) == severity


@pytest.mark.parametrize(
    ("step", "severity"),
    [
        ('withColumn("at", F.current_timestamp()).groupBy(F.window("at", "1 minute")).count()', [WARN]),
        ('withColumn("at", F.expr("current_timestamp()")).withWatermark("at", "1 minute")', [WARN]),
        ('where("at < now() - INTERVAL 1 MINUTE")', [WARN]),
        ("filter(F.col('at') < F.current_timestamp())", [WARN]),
        ('withColumn("loaded_at", F.current_timestamp())', []),
        ('where("at < TIMESTAMP\'2026-01-01\'").groupBy(F.window("at", "1 minute")).count()', []),
    ],
)
def test_the_wall_clock_decides_or_not(tmp_path, step, severity):
    assert severities(plain(tmp_path, f"def job(clicks):\n    return clicks.{step}\n", "job"), Code.WALL_CLOCK) == severity


def test_the_wall_clock_in_the_event_time_of_a_job_of_ours(tmp_path):
    text = """
    def stamped(rows):
        return rows.withColumn("{}", F.current_timestamp())

    @sp.job
    def job(clicks):
        return sp.Outputs(out=clicks.transform(stamped))
    """

    assert severities(ours(tmp_path, text=text.format("at")), Code.WALL_CLOCK) == [WARN]
    assert not found(ours(tmp_path, text=text.format("loaded")), Code.WALL_CLOCK)


@pytest.mark.parametrize(
    ("path", "imports", "severity"),
    [
        ('f"/c/{uuid.uuid4()}"', "uuid", [STOP]),
        ('"/c/" + str(time.time())', "time", [STOP]),
        ("tempfile.mkdtemp()", "tempfile", [STOP]),
        ('f"/c/{datetime.datetime.now():%Y}"', "datetime", [STOP]),
        ('"/tmp/c"', "os", [WARN]),
        ('"file:///tmp/c"', "os", [WARN]),
        ('"/c/clicks"', "uuid", []),
        ('os.environ["CHECKPOINT"]', "os", []),
        ('"s3a://bucket/tmp/c"', "os", []),
    ],
)
def test_the_path_of_a_checkpoint(tmp_path, path, imports, severity):
    assert (
        severities(script(tmp_path, f'.option("checkpointLocation", {path})', imports=imports), Code.CHECKPOINT_CHANGES) == severity
    )


@pytest.mark.parametrize(("path", "severity"), [("/tmp/c", [WARN]), ("c", []), ("s3a://b/c", [])])
def test_the_checkpoint_of_a_job_of_ours(tmp_path, path, severity):
    assert severities(ours(tmp_path, job=f'checkpoint = "{path}"'), Code.CHECKPOINT_CHANGES) == severity


@pytest.mark.parametrize(
    ("writer", "target", "severity"),
    [
        ("", "parquet", [WARN]),
        ("", "console", []),
        ('.option("checkpointLocation", "/c")', "parquet", []),
        ('.options(checkpointLocation="/c")', "parquet", []),
        ('.options(**{"checkpointLocation": "/c"})', "parquet", []),
    ],
)
def test_a_query_names_a_checkpoint_or_not(tmp_path, writer, target, severity):
    assert severities(script(tmp_path, writer, target=target), Code.CHECKPOINT_MISSING) == severity


@pytest.mark.parametrize(
    ("deletes", "severity"),
    [
        ('shutil.rmtree("/lake/c")', [STOP]),
        ('shutil.rmtree("/lake")', [STOP]),
        ("shutil.rmtree(PLACE)", [STOP]),
        ('shutil.rmtree("/lake/cache")', []),
        ("pass", []),
    ],
)
def test_a_checkpoint_is_deleted_or_not(tmp_path, deletes, severity):
    text = f"""
    import shutil
    PLACE = "/lake/c"
    {deletes}
    spark.readStream.json("/in").writeStream.option("checkpointLocation", PLACE).start()
    """

    assert severities(plain(tmp_path, text), Code.CHECKPOINT_DELETED) == severity


@pytest.mark.parametrize(
    ("master", "path", "severity"),
    [
        ("spark://host:7077", "/c", [WARN]),
        ("k8s://host", "file:///c", [WARN]),
        ("yarn", "file:///c", [WARN]),
        ("yarn", "/c", []),
        ("spark://host:7077", "hdfs://nn/c", []),
        ("local[4]", "/c", []),
    ],
)
def test_a_checkpoint_of_one_machine(tmp_path, master, path, severity):
    text = f"""
    spark = SparkSession.builder.master("{master}").getOrCreate()
    spark.readStream.json("/in").writeStream.option("checkpointLocation", "{path}").start()
    """

    assert severities(plain(tmp_path, text), Code.LOCAL_CHECKPOINT) == severity


@pytest.mark.parametrize(
    ("master", "checkpoint", "severity"),
    [("spark://host:7077", "c", [WARN]), ("spark://host:7077", "s3a://b/c", []), ("local[*]", "c", [])],
)
def test_a_checkpoint_of_one_machine_in_a_configuration(tmp_path, master, checkpoint, severity):
    patient = ours(tmp_path, job=f'checkpoint = "{checkpoint}"', rest=f'[spark]\n"spark.master" = "{master}"')

    assert severities(patient, Code.LOCAL_CHECKPOINT) == severity


@pytest.mark.parametrize(
    ("reader", "severity"),
    [
        ('.option("failOnDataLoss", "false")', [WARN]),
        ('.option("failondataloss", False)', [WARN]),
        (".options(failOnDataLoss=False)", [WARN]),
        ('.option("ignoreMissingFiles", "true")', [WARN]),
        ('.option("failOnDataLoss", "true")', []),
        ("", []),
    ],
)
def test_data_loss_is_ignored_or_not(tmp_path, reader, severity):
    assert severities(script(tmp_path, reader=reader), Code.DATA_LOSS_IGNORED) == severity


@pytest.mark.parametrize(("value", "severity"), [("true", [WARN]), ("false", [])])
def test_missing_files_are_ignored_or_not(tmp_path, value, severity):
    patient = ours(tmp_path, rest=f'[spark]\n"spark.sql.files.ignoreMissingFiles" = "{value}"')

    assert severities(patient, Code.DATA_LOSS_IGNORED) == severity
