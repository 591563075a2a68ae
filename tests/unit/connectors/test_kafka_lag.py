"""A broker that does not tell its end offsets: the lag is unknown, which is said, and nothing else is."""

from types import SimpleNamespace

import pytest

from streamproof.connectors.kafka import lag
from streamproof.core.notes import NoteCode
from streamproof.runtime.watching.lag import lag_of
from streamproof.runtime.watching.measures import Measures

SOURCE = SimpleNamespace(options={}, servers="broker:9092", topic=["trades"], read="committed", start="earliest")


def test_it_is_a_note_that_names_the_source_and_the_broker(monkeypatch):
    monkeypatch.setattr(
        lag._jvm, "kafka_offsets", lambda *_: "TimeoutException: Timed out waiting for a node assignment. Call: listOffsets"
    )

    told = lag.lag_of(None, "trades", SOURCE, [])

    assert told.code is NoteCode.LAG_UNKNOWN
    assert told.startswith("How far [source.trades] is behind could not be asked of broker:9092: ")


def test_the_run_has_the_note_and_the_lag_of_its_other_sources():
    silent = SimpleNamespace(lag=lambda *_: lag.Note(NoteCode.LAG_UNKNOWN, "no answer"))
    answers = SimpleNamespace(lag=lambda *_: ["a lag"])
    notes: list = []

    assert lag_of(None, [silent, answers], [], notes) == ["a lag"]
    assert notes == ["no answer"]


@pytest.mark.parametrize("latest", [None, {}, ""], ids=["none", "empty", "a text"])
def test_a_batch_of_which_spark_knows_no_end_shows_no_lag_and_all_else(latest):
    """Absent, and never 0: 0 would say that everything is read."""
    from streamproof.runtime.watching.events import BatchCommitted

    measures = Measures([SimpleNamespace(lag_when_planned=lambda *_: pytest.fail("nothing is known to work it out from"))])
    progress = {"durationMs": {"triggerExecution": 700}, "sources": [{"endOffset": {"trades": {"0": 5}}, "latestOffset": latest}]}

    event = measures.complete(BatchCommitted("sums", 0, {}, {}, None, {}), progress)

    assert (event.lag, event.total_ms) == ((), 700)
