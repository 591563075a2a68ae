"""Records of a topic as a table, without a broker: what becomes of those that are none."""

from streamproof.config import KafkaTable
from streamproof.connectors.kafka.lookup import table_of

TABLE = KafkaTable.model_validate(
    {"connector": "kafka", "servers": "broker:9092", "topic": "limits", "schema": "id int, condition string", "key": "id"}
)


def records(spark, *pairs):
    made = [(key.encode(), None if value is None else value.encode(), offset) for offset, (key, value) in enumerate(pairs)]
    return spark.createDataFrame(made, "key binary, value binary, offset bigint")


def test_a_key_that_is_no_number_is_counted_and_left_out(spark):
    found = table_of(
        records(
            spark, ("1", '{"condition": "v > 1"}'), ("none", '{"condition": "true"}'), ("2", '{"condition": "v > 2"}'), ("2", None)
        ),
        TABLE,
    )

    assert found.unread == 1
    assert [tuple(row) for row in found.current.collect()] == [(1, "v > 1")]
