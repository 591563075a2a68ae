"""State outside the checkpoint: in the driver's memory, in a store, in a file of a sink's own."""

import pytest

from streamproof.doctor.finding import Code, Severity
from unit.doctor.patients import of_batch, of_sink, plain, severities

STOP, WARN, NOTE = Severity.STOP, Severity.WARN, Severity.NOTE


@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ("TOTALS[1] = 2", [WARN]),  # it is not in the text what it is
        ("TOTALS.update(rows.collect())", [WARN]),
        ("hits.inc()", [WARN]),
        ('store.incr("k")', [WARN]),
        ("def put(found, row):\n    found.append(row)\nput([], rows)", []),
        ("global COUNT\nCOUNT += rows.count()", [STOP]),
        ('store.hincrby("k", "f", 1)', [STOP]),
        ("totals = {}\ntotals[1] = 2", []),
        ("found = []\nfound.append(rows.count())", []),
        ('store.hset("k", "f", 1)', []),
    ],
)
def test_what_is_added_up_is_in_the_checkpoint_or_not(tmp_path, does, severity):
    assert severities(of_batch(tmp_path, does), Code.STATE_OUTSIDE) == severity


@pytest.mark.parametrize(
    ("read", "severity"), [('s.read(f"{p}/_totals.json")', [STOP]), ('s.read(f"{p}/_other.json")', []), ("{}", [])]
)
def test_a_sink_that_adds_to_a_file_of_its_own(tmp_path, read, severity):
    does = f'totals = {read}\ns.write(f"{{p}}/_totals.json", totals)'

    assert severities(of_sink(tmp_path, does), Code.STATE_OUTSIDE) == severity


MADE = """
{made}

def save(rows, batch):
    {does}

spark.readStream.json("/in").writeStream.foreachBatch(save).option("checkpointLocation", "/c").start()
"""


@pytest.mark.parametrize(
    ("made", "does", "severity"),
    [
        ("totals = {}", "totals[1] = 2", [STOP]),
        ("totals = {}", "totals.setdefault(1, []).append(2)", [STOP]),
        ("from collections import defaultdict\ntotals = defaultdict(int)", "totals[1] += 2", [STOP]),
        ("from collections import Counter\ntotals = Counter()", "totals.update(rows.collect())", [STOP]),
        ("from datasketches import hll_sketch\nusers = hll_sketch(12)", "users.update(1)", [WARN]),
        ("from delta.tables import DeltaTable\nt = DeltaTable.forPath(spark, '/t')", 't.update("a = 1", {})', []),
        ("total = 0", "global total\ntotal = total + rows.count()", [STOP]),
        ("total = 0", "global total\ntotal = max(total, rows.count())", [STOP]),
        ("all_rows = None", "global all_rows\nall_rows = all_rows.union(rows)", [STOP]),
        ("newest = 0", "global newest\nnewest = batch", []),
        ("session = None", "global session\nsession = session or connect()", []),
        ("class Totals: pass", "Totals.rows += rows.count()", [STOP]),
        ("totals = {}\ndef add(key):\n    totals[key] = 1", "add(batch)", [STOP]),
        ("import os", 'os.environ["BATCH"] = str(batch)', []),
        ("import redis\nr = redis.Redis()", 'r.incr("n")', [STOP]),
        ("from redis import Redis", 'Redis().incr("n")', [STOP]),
        ("from prometheus_client import Counter\nhits = Counter('a', 'b')", "hits.inc()", []),
        ("from prometheus_client import Counter\nhits = Counter('a', 'b', ['t'])", "hits.labels('x').inc(rows.count())", []),
        ("import statsd\nclient = statsd.StatsClient()", "client.incr('batches')", []),
        ("from datadog import statsd", "statsd.increment('batches')", []),
        ("from opentelemetry import metrics\nhits = metrics.get_meter('a').create_counter('b')", "hits.add(1)", []),
    ],
)
def test_it_matters_what_a_thing_is_made_by(tmp_path, made, does, severity):
    assert severities(plain(tmp_path, MADE.format(made=made, does=does.replace("\n", "\n    "))), Code.STATE_OUTSIDE) == severity


CLASS = """
import redis
from prometheus_client import Counter

class Job:
    names = {{}}

    def __init__(self, spark, session):
        self.spark, self.session = spark, session
        self.total = 0
        self.seen = set()
        self.hits = Counter("a", "b")
        self.store = redis.Redis()

    def note(self, batch):
        self.seen.add(batch)

    def save(self, rows, batch):
        {does}

    def run(self):
        self.spark.readStream.json("/in").writeStream.foreachBatch({given}).option("checkpointLocation", "/c").start()

Job(spark, None).run()
"""


@pytest.mark.parametrize("given", ["self.save", "lambda rows, batch: self.save(rows, batch)"])
@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ("self.total += rows.count()", [STOP]),
        ("self.total = self.total + rows.count()", [STOP]),
        ("self.seen.add(batch)", [STOP]),
        ("self.names[batch] = 1", [STOP]),
        ("self.note(batch)", [STOP]),
        ("self.store.incr('n')", [STOP]),
        ("self.session.add(rows)", [WARN]),
        ("self.hits.inc()", []),
        ("self.newest = batch", []),
        ("found = set()\n        found.add(batch)", []),
    ],
)
def test_what_a_class_keeps(tmp_path, given, does, severity):
    assert severities(plain(tmp_path, CLASS.format(given=given, does=does)), Code.STATE_OUTSIDE) == severity
