"""Who does not know a topic yet is asked again, for a while."""

from streamproof.connectors.kafka import settling
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
