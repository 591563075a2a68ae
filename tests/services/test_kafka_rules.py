"""A topic of rules: the newest of each key counts, a record without a value takes one away, and what is aborted never was."""

import json

import pytest

from services.topics import made, sent
from spark.small_job import Binding, event
from streamproof.errors import StreamproofError

pytestmark = pytest.mark.service
JOB = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    return sp.Outputs(kept=events.rules("limits", rule="rule", when="condition", into="hits"))
"""


@pytest.mark.full
def test_rules_of_a_topic_change_between_batches(small_job, kafka):
    topic = made(kafka.url)
    table = {
        "connector": "kafka",
        "servers": kafka.url,
        "topic": topic,
        "schema": "rule string, condition string",
        "key": "rule",
        "refresh": "0 seconds",
    }
    job = small_job(JOB, Binding(sinks={"kept": "parquet"}, tables={"table.limits": table}))

    def say(rule, *conditions):
        values = [
            None if condition is None else json.dumps({"rule": rule, "condition": condition}).encode() for condition in conditions
        ]
        sent(kafka.url, topic, values, key=rule.encode())

    def hear(event):
        if event.kind == "batch-staged" and event.batch == 0:
            say("big", "v >", "v > 3")
            say("all", None)
        if event.kind == "batch-staged" and event.batch == 1:
            say("big", "v > 5", "v >")

    say("big", "v > 9", "v > 5")
    say("all", "true")
    for number in range(3):
        job.feed([event(f"{number}", number, v=4.0)])

    result = job.run(listener=hear)

    assert {row["id"]: row["hits"] for row in job.rows("kept")} == {"0": ["all"], "1": ["big"], "2": []}
    assert result.accounts[0].adds_up


def test_a_topic_that_is_not_there_is_refused(small_job, kafka):
    table = {
        "connector": "kafka",
        "servers": kafka.url,
        "topic": "no-such-rules",
        "schema": "rule string, condition string",
        "key": "rule",
    }
    job = small_job(JOB, Binding(sinks={"kept": "parquet"}, tables={"table.limits": table}))
    job.feed([event("1", 0)])

    with pytest.raises(StreamproofError, match="no-such-rules"):
        job.run()
