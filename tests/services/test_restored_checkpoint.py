"""From a topic to a table: the checkpoint is destroyed and restored, and each row is in the table once."""

from collections.abc import Callable

import pytest

from services.conftest import TABLE, Rows
from services.topics import made, sent
from spark.small_job import KEPT, Binding, SmallJob, event
from streamproof.core.notes import NoteCode
from streamproof.lab import KafkaCluster, Postgres
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.restore import restore

pytestmark = [pytest.mark.service, pytest.mark.full]


def test_each_record_of_a_topic_is_in_the_table_once_after_a_restore(
    small_job: Callable[..., SmallJob], kafka: KafkaCluster, postgres: Postgres, schema: str, rows: Rows, tmp_path
):
    """The batches since the backup are cut as nobody would plan them again: all that is in the topic would be one."""
    rows(f"create table kept ({TABLE})")
    topic = made(kafka.url)
    small = small_job(
        KEPT,
        Binding(
            sinks={"rejected": "json"},
            tables={
                "source.events": {"connector": "kafka", "servers": kafka.url, "topic": topic},
                "sink.kept": {"connector": "postgres", "url": postgres.url, "table": f"{schema}.kept"},
            },
        ),
    )

    def run_with(name: str):
        sent(kafka.url, topic, [event(name, 0), event(f"{name}-bad", 1, -1.0)])
        return small.run()

    run_with("a")
    made_of = back_up(small.checkpoint(), tmp_path / "second")
    for name in ("b", "c", "d"):
        run_with(name)
    damaged = small.checkpoint().rename(tmp_path / "damaged")

    done = restore(tmp_path / "second", small.checkpoint(), plans_of=damaged)
    result = run_with("e")

    assert len(done.again) == 3 == done.again[-1] - made_of.batch
    assert NoteCode.AS_PLANNED in [note.code for note in result.notes]
    assert rows("select id from kept order by id") == [(name,) for name in "abcde"]
    assert rows("select count(*) from streamproof_ledger") == [(5,)]
    assert len(small.rows("rejected")) == 5
    assert (result.accounts[0].input, result.accounts[0].adds_up) == (10, True)
