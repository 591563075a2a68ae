"""No watermark: the small job that has the mistake, and its twin."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import found, keeping, ours, plain, severities

WINDOWS = """
def clicks_per_minute(clicks):
    timed = clicks.withColumn("at", F.to_timestamp("at")){mark}
    return timed.groupBy(F.window("at", "1 minute"), "user").count()
"""
SCRIPT = """
rows = spark.readStream.schema("at timestamp").json("/in")
minutes = rows{mark}.groupBy({by}).count()
minutes.writeStream.outputMode("update").option("checkpointLocation", "/c").start()
"""
MARK = '.withWatermark("at", "20 seconds")'


def test_a_window_without_a_watermark_and_with_one(tmp_path):
    (one,) = found(plain(tmp_path, WINDOWS.format(mark=""), "clicks_per_minute"), Code.NO_WATERMARK)

    assert one.severity == Severity.WARN
    assert (one.symptom.where.path.name, one.symptom.where.line) == ("plain.py", 7)
    assert not found(plain(tmp_path, WINDOWS.format(mark=MARK), "clicks_per_minute"), Code.NO_WATERMARK)


@pytest.mark.parametrize(
    "by", ['F.window("at", "1 minute")', 'F.session_window("at", "1 minute")', "F.window('at', '1 day').start"]
)
def test_of_a_script(tmp_path, by):
    assert severities(plain(tmp_path, SCRIPT.format(mark="", by=by)), Code.NO_WATERMARK) == [Severity.WARN]
    assert not found(plain(tmp_path, SCRIPT.format(mark=MARK, by=by)), Code.NO_WATERMARK)


def test_a_watermark_in_another_function_counts(tmp_path):
    text = """
    def timed(clicks):
        return clicks.withWatermark("at", "1 minute")

    def minutes(clicks):
        return clicks.transform(timed).groupBy(F.window("at", "1 minute")).count()
    """

    assert not found(plain(tmp_path, text, "minutes"), Code.NO_WATERMARK)


@pytest.mark.parametrize(
    "call", ['dropDuplicatesWithinWatermark(["id"])', 'groupBy("u").transformWithState(P(), "x int", "append", "eventTime")']
)
def test_what_spark_does_not_start_without_one(tmp_path, call):
    text = f"def once(clicks):\n    return clicks{{}}.{call}\n"

    assert severities(plain(tmp_path, text.format(""), "once"), Code.NO_WATERMARK) == [Severity.STOP]
    assert not found(plain(tmp_path, text.format(MARK), "once"), Code.NO_WATERMARK)


def test_a_batch_in_foreach_batch_needs_none(tmp_path):
    text = """
    def save(rows, batch):
        rows.groupBy(F.window("at", "1 minute")).count().write.mode("overwrite").parquet("/out")

    def main(spark):
        spark.readStream.json("/in").writeStream.foreachBatch(save).option("checkpointLocation", "/c").start()
    """

    assert not found(plain(tmp_path, text, "main"), Code.NO_WATERMARK)


def test_a_job_of_ours_without_event_time(tmp_path):
    (one,) = found(ours(tmp_path, source="", keeping=[keeping("deduplicate()")]), Code.NO_WATERMARK)

    assert one.severity == Severity.STOP
    assert "[source.clicks]" in str(one.symptom.where)
    assert not found(ours(tmp_path, keeping=[keeping("deduplicate()")]), Code.NO_WATERMARK)
    assert not found(ours(tmp_path, source=""), Code.NO_WATERMARK)


STEP = """
def timed(rows):
    return rows{mark}

class Counts:
    def __init__(self, rows):
        self.rows = rows

    def per_minute(self):
        return self.rows.groupBy(F.window("at", "1 minute")).count()

def per_minute(name, rows):
    rows = rows.withColumn("name", F.lit(name))
    return rows.groupBy(F.window("at", "1 minute")).count()

def transformed(rows):
    return rows.groupBy(F.window("at", "1 minute")).count()

rows = timed(spark.readStream.json("/in"))
{counts}.writeStream.option("checkpointLocation", "/c").start("/out")
"""


@pytest.mark.parametrize(
    "counts",
    ['per_minute("a", rows)', 'per_minute(rows=rows, name="a")', "rows.transform(transformed)", "Counts(rows).per_minute()"],
)
def test_a_step_in_a_function_of_its_own(tmp_path, counts):
    assert not found(plain(tmp_path, STEP.format(mark=MARK, counts=counts)), Code.NO_WATERMARK)
    assert severities(plain(tmp_path, STEP.format(mark="", counts=counts)), Code.NO_WATERMARK) == [Severity.WARN]


def test_a_step_in_a_function_of_its_own_is_of_a_stream(tmp_path):
    text = "def once(rows):\n    return rows.dropDuplicates(['id'])\nonce(spark.{}.json('/in')).writeStream.start('/out')\n"

    assert severities(plain(tmp_path, text.format("readStream")), Code.UNBOUNDED_STATE) == [Severity.WARN]
    assert not found(plain(tmp_path, text.format("read")), Code.UNBOUNDED_STATE)
