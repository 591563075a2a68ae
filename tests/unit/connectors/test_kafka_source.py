"""What Spark's reader of Kafka is told, whatever a source has among its options (R9, R27)."""

from streamproof.config import KafkaSource
from streamproof.connectors.kafka.reading import _options


def test_r27_records_that_are_lost_stop_the_reader_whatever_options_say():
    """Past the configuration, which refuses them: an option is one of Kafka's client, and none of the reader."""
    source = KafkaSource(connector="kafka", servers="s:1", topic="t", format="json")
    source = source.model_copy(update={"options": {"failOnDataLoss": "false", "failondataloss": "false"}})

    told = _options(source)

    assert told["failOnDataLoss"] == "true"
    assert [key for key in told if key.lower() == "failondataloss"] == ["failOnDataLoss"]
    assert told["kafka.isolation.level"] == "read_committed"
