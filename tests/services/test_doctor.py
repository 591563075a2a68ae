"""What the doctor is told by a real broker: partitions and retention of a topic; and what it says where nobody answers."""

from datetime import timedelta

import pytest

from services import topics
from streamproof.connectors.source import Holding
from streamproof.doctor.examine import examine
from streamproof.doctor.finding import Severity
from streamproof.doctor.gather import Asked, gather
from streamproof.doctor.patient import Part

pytestmark = pytest.mark.service
HOUR_MS = 3_600_000
JOB = """
[job]
entry = "job.py:job"

[source.clicks]
connector = "kafka"
servers = "{servers}"
topic = "{topic}"
format = "json"
schema = "click string"

[sink.out]
connector = "files"
path = "out"

[spark]
"spark.master" = "local[4]"
"""


def written(folder, servers, topic):
    (folder / "streamproof.toml").write_text(JOB.format(servers=servers, topic=topic))
    (folder / "job.py").write_text("import streamproof as sp\n\n@sp.job\ndef job(clicks):\n    return sp.Outputs(out=clicks)\n")
    return str(folder)


@pytest.mark.parametrize(
    ("settings", "keeps", "severity"),
    [
        ({"retention.ms": str(6 * HOUR_MS)}, timedelta(hours=6), [Severity.WARN]),
        ({"retention.ms": str(72 * HOUR_MS)}, timedelta(days=3), []),
        ({"retention.ms": "-1"}, None, []),
        ({"cleanup.policy": "compact"}, None, []),
    ],
)
def test_how_long_a_topic_keeps_records(kafka, tmp_path, settings, keeps, severity):
    topic = topics.made(kafka.url, 2, **settings)

    patient = gather(written(tmp_path, kafka.url, topic), Asked(services=True))

    assert patient.holdings["clicks"] == [Holding(topic, partitions=2, keeps=keeps)]
    found = examine(patient).findings
    assert [one.severity for one in found if one.code == "short-retention"] == severity
    assert [one.severity for one in found if one.code == "partitions"] == [Severity.NOTE]


def test_brokers_are_asked_only_where_the_user_says_so_and_may_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr("streamproof.connectors.kafka.client.SECONDS", 1)
    target = written(tmp_path, "localhost:1", "clicks")

    assert "was not asked" in gather(target, Asked()).missing[Part.SERVICES]
    assert "does not say what clicks holds" in gather(target, Asked(services=True)).missing[Part.SERVICES]
