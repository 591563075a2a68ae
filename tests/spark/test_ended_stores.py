"""State stores that a run of a job leaves open in the JVM of a proof: closed once its query has ended, so that open files stay bounded."""

from collections.abc import Sequence

from spark.small_job import SUMS, WINDOWED, event
from streamproof.prove.process.engine import Engine


def test_state_stores_are_closed_once_their_query_has_ended_and_not_before(small_job, spark, connectors: Sequence[str], tmp_path):
    engine = Engine("tests", {}, jars=connectors)
    _close_all(engine)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/1.json").write_text('{"value": 1}\n')
    rows = spark.readStream.schema("value long").json(str(tmp_path / "in")).groupBy("value").count()
    running = rows.writeStream.format("noop").outputMode("update").option("checkpointLocation", str(tmp_path / "running")).start()
    try:
        running.processAllAvailable()
        ended = small_job(SUMS, WINDOWED)
        ended.feed([event("a", 0)])
        ended.run()

        assert [engine.close_ended_stores(0) for _ in range(3)] == [0, 2, 0], "one for each of two partitions, seen twice"
        (tmp_path / "in/2.json").write_text('{"value": 1}\n')
        running.processAllAvailable()  # its stores are still there
        assert sum(progress["numInputRows"] for progress in running.recentProgress) == 2
    finally:
        running.stop()
    assert [engine.close_ended_stores(seconds) for seconds in (0, 3_600, 0)] == [0, 0, 2]


def _close_all(engine: Engine) -> None:
    """Those of the tests before."""
    for _ in range(2):
        engine.close_ended_stores(0)
