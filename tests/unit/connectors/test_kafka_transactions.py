"""A transaction that the brokers aborted for its age is told from one that another publisher has taken over."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from streamproof.connectors.kafka.client import Said, sink_error
from streamproof.connectors.kafka.ledger import Ledger
from streamproof.connectors.kafka.transactions import behind_age, timeout_seconds
from streamproof.errors import SinkError, StreamproofError, TwoDrivers

FENCED = KafkaException(KafkaError(KafkaError.INVALID_PRODUCER_EPOCH, "Producer attempted an operation with an old epoch"))


def error(problem: KafkaException) -> StreamproofError:
    return sink_error(Said.by(problem), "kafka://h:1/trades")


@pytest.mark.parametrize(("options", "seconds"), [({}, 300.0), ({"transaction.timeout.ms": "900000"}, 900.0)])
def test_a_transaction_may_be_open_for_as_long_as_the_options_say(options: dict[str, str], seconds: float) -> None:
    assert timeout_seconds(Ledger("h:1", "trades", options)) == seconds


def test_r6_one_that_was_open_for_too_long_is_no_second_driver() -> None:
    found = error(behind_age(FENCED, 301, 300))

    assert type(found) is SinkError
    assert "open for 301 s, and 300 s are allowed" in found.message
    assert 'Raise options = { "transaction.timeout.ms"' in (found.remedy or "")


def test_r7_one_that_was_fenced_in_time_is_a_second_driver() -> None:
    assert type(error(behind_age(FENCED, 299, 300))) is TwoDrivers


def test_a_timeout_that_brokers_do_not_allow_is_to_be_lowered() -> None:
    refused = KafkaException(KafkaError(KafkaError.INVALID_TRANSACTION_TIMEOUT, "larger than the max value"))

    assert 'Lower options = { "transaction.timeout.ms"' in (error(behind_age(refused, 1, 1_800)).remedy or "")
