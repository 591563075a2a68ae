"""State that is never freed: the small jobs that have the mistake, and their twins."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import found, keeping, ours, plain, severities

ONCE = "def once(clicks):\n    return clicks{}.{}\n"
MARK = '.withWatermark("at", "1 minute")'
JOIN = """
def paid(clicks, payments):
    left = clicks.withWatermark("clicked", "20 seconds")
    right = payments.withWatermark("paid", "20 seconds")
    return left.join(right, {})
"""
PROCESSOR = """
class Seen(StatefulProcessor):
    def init(self, handle):
        self.seen = handle.{state}

    def handleInputRows(self, key, rows, timers):
        {frees}
        yield from ()

def seen(clicks):
    return clicks.groupBy("user").transformWithState(Seen(), "user string", "append", "none")
"""
GROUPS = """
def total(key, frames, state):
    state.{does}
    yield from ()

def totals(clicks):
    return clicks.groupBy("user").applyInPandasWithState(total, "user string", "n int", "update", "{timeout}")
"""


@pytest.mark.parametrize("call", ['dropDuplicates(["id"])', "dropDuplicates()", "distinct()"])
def test_a_deduplication_without_a_watermark(tmp_path, call):
    assert severities(plain(tmp_path, ONCE.format("", call), "once"), Code.UNBOUNDED_STATE) == [Severity.WARN]


def test_a_deduplication_whose_columns_lack_the_event_time(tmp_path):
    (one,) = found(plain(tmp_path, ONCE.format(MARK, 'dropDuplicates(["id"])'), "once"), Code.UNBOUNDED_STATE)

    assert "at is not among its columns" in one.symptom.what


@pytest.mark.parametrize("call", ['dropDuplicates(["id", "at"])', "dropDuplicates()", 'dropDuplicatesWithinWatermark(["id"])'])
def test_a_deduplication_that_forgets(tmp_path, call):
    assert not found(plain(tmp_path, ONCE.format(MARK, call), "once"), Code.UNBOUNDED_STATE)


def test_a_table_may_be_deduplicated(tmp_path):
    text = """
    def named(clicks, users):
        return clicks.join(users.dropDuplicates(["user"]), "user")
    """

    assert not found(plain(tmp_path, text, "named"), Code.UNBOUNDED_STATE)


@pytest.mark.parametrize("condition", ['"click"', '["click"]', 'F.expr("c.click = p.click")', "left.click == right.click"])
def test_a_join_of_streams_without_a_bound(tmp_path, condition):
    assert severities(plain(tmp_path, JOIN.format(condition), "paid"), Code.UNBOUNDED_STATE) == [Severity.WARN]


@pytest.mark.parametrize(
    "condition",
    [
        'F.expr("c.click = p.click AND paid BETWEEN clicked AND clicked + INTERVAL 1 MINUTE")',
        "(left.click == right.click) & (right.paid >= left.clicked)",
        'left.paid.between(F.col("clicked"), F.col("until"))',
        '["click", "window"]',
    ],
)
def test_a_join_with_a_bound(tmp_path, condition):
    assert not found(plain(tmp_path, JOIN.format(condition), "paid"), Code.UNBOUNDED_STATE)


def test_a_join_with_a_table(tmp_path):
    text = 'def named(clicks, users):\n    return clicks.withWatermark("at", "1 minute").join(users, "user")\n'

    assert not found(plain(tmp_path, text, "named"), Code.UNBOUNDED_STATE)


@pytest.mark.parametrize(
    ("state", "frees", "severity"),
    [
        ('getMapState("seen", "id string", "n int")', "pass", [Severity.WARN]),
        ('getListState("seen", "id string")', "pass", [Severity.WARN]),
        ('getValueState("last", "n int")', "pass", [Severity.NOTE]),
        ('getMapState("seen", "id string", "n int", 60000)', "pass", []),
        ('getMapState("seen", "id string", "n int", ttlDurationMs=60000)', "pass", []),
        ('getMapState("seen", "id string", "n int")', 'self.seen.removeKey(("a",))', []),
    ],
)
def test_a_processor(tmp_path, state, frees, severity):
    assert severities(plain(tmp_path, PROCESSOR.format(state=state, frees=frees), "seen"), Code.UNBOUNDED_STATE) == severity


@pytest.mark.parametrize(
    ("does", "timeout", "severity"),
    [("update((1,))", "NoTimeout", [Severity.NOTE]), ("remove()", "NoTimeout", []), ("update((1,))", "ProcessingTimeTimeout", [])],
)
def test_groups_with_state(tmp_path, does, timeout, severity):
    assert severities(plain(tmp_path, GROUPS.format(does=does, timeout=timeout), "totals"), Code.UNBOUNDED_STATE) == severity


@pytest.mark.parametrize(("mode", "severity"), [("complete", [Severity.WARN]), ("update", [])])
def test_windows_in_complete_mode(tmp_path, mode, severity):
    text = f"""
    rows = spark.readStream.json("/in").withWatermark("at", "1 minute")
    rows.groupBy(F.window("at", "1 minute")).count().writeStream.outputMode("{mode}").start()
    """

    assert severities(plain(tmp_path, text), Code.UNBOUNDED_STATE) == severity


def test_a_job_of_ours_that_says_never(tmp_path):
    kept = keeping("keyed()", for_ever="what it keeps of each user")

    assert severities(ours(tmp_path, keeping=[kept]), Code.UNBOUNDED_STATE) == [Severity.NOTE]
    assert not found(ours(tmp_path, keeping=[keeping("keyed()")]), Code.UNBOUNDED_STATE)


CLASS = """
class Base:
    def source(self):
        return self.spark.readStream.format("rate").load()

class Job(Base):
    def __init__(self, spark):
        self.spark = spark
        {keeps}

    @property
    def clicks(self):
        return self.source()

    def run(self):
        rows = {rows}
        rows.writeStream.format("delta").option("checkpointLocation", "/c").start("/out")

Job(spark).run()
"""


@pytest.mark.parametrize(
    ("keeps", "rows"),
    [
        ("pass", 'self.source().dropDuplicates(["value"])'),
        ("pass", 'super().source().dropDuplicates(["value"])'),
        ("pass", 'self.clicks.dropDuplicates(["value"])'),
        ("pass", 'Job(self.spark).source().dropDuplicates(subset=["value"])'),
        ("self.rows = self.source()", 'self.rows.dropDuplicates(["value"])'),
        ('self.rows = self.source().dropDuplicates(["value"])', "self.rows"),
    ],
)
def test_the_stream_of_a_class(tmp_path, keeps, rows):
    assert severities(plain(tmp_path, CLASS.format(keeps=keeps, rows=rows)), Code.UNBOUNDED_STATE) == [Severity.WARN]


def test_the_checkpoint_of_a_class(tmp_path):
    text = """
    class Job:
        def __init__(self):
            self.place = "/tmp/c"
            self.writer = spark.readStream.json("/in").writeStream.format("parquet")

        def run(self):
            self.writer.option("checkpointLocation", self.place).start()

    Job().run()
    """
    patient = plain(tmp_path, text)

    assert severities(patient, Code.CHECKPOINT_CHANGES) == [Severity.WARN]
    assert not found(patient, Code.CHECKPOINT_MISSING)
    assert severities(plain(tmp_path, text.replace('"checkpointLocation", self.place', "1, 2")), Code.CHECKPOINT_MISSING) == [
        Severity.WARN
    ]
