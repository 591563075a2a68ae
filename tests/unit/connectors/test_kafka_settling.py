"""Who does not know a topic yet is asked again, for a while."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from streamproof.connectors.kafka import settling
from streamproof.connectors.kafka.client import once_known
from streamproof.connectors.kafka.settling import settled


def test_a_broker_that_does_not_know_a_topic_yet_is_asked_again():
    answers = iter(["unknown", "unknown", "known"])

    assert settled(lambda: next(answers), lambda answer: answer == "unknown") == "known"


def test_a_topic_that_stays_unknown_is_said_to_be(monkeypatch):
    monkeypatch.setattr(settling, "SETTLES_SECONDS", 0.0)

    assert settled(lambda: "unknown", lambda answer: answer == "unknown") == "unknown"


def test_another_answer_is_not_asked_for_again():
    answers = iter(["known"])

    assert settled(lambda: next(answers), lambda answer: answer == "unknown") == "known"


@pytest.mark.parametrize(
    "code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE]
)
def test_a_topic_that_was_just_made_is_asked_for_again(code):
    answers = iter([KafkaException(KafkaError(code)), "known"])

    assert once_known(lambda: said_by(answers)) == "known"


def test_a_refusal_is_not_asked_for_again():
    answers = iter([KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)), "known"])

    with pytest.raises(KafkaException):
        once_known(lambda: said_by(answers))


def said_by(answers):
    answer = next(answers)
    if isinstance(answer, KafkaException):
        raise answer
    return answer
