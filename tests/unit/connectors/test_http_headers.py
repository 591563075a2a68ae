"""What an API is sent beside a body: the configuration counts, whatever a record has brought along."""

from streamproof.connectors.http.calling import Calling
from streamproof.connectors.steps import UNWATCHED


def sent(extra: dict[str, bytes], headers: dict[str, str]) -> dict[str, str]:
    calling = Calling(
        url="http://api",
        method="POST",
        headers=headers,
        lookup="",
        ask_first=False,
        timeout=1.0,
        attempts=1,
        concurrency=1,
        extra=tuple(extra),
        output="calls",
        batch=0,
        steps=UNWATCHED,
    )
    return calling._headers("k", tuple(extra.values()))


def test_a_record_cannot_set_what_the_configuration_or_the_connection_sets_however_it_is_written():
    brought = {"authorization": b"stolen", "IDEMPOTENCY-KEY": b"other", "content-length": b"5", "traceparent": b"00-a"}

    found = sent(brought, {"Authorization": "Bearer t"})

    assert found == {
        "Content-Type": "application/json",
        "traceparent": "00-a",
        "Authorization": "Bearer t",
        "Idempotency-Key": "k",
    }
