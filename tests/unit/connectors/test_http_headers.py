"""What an API is sent beside a body: the configuration counts, whatever a record has brought along."""

import h11
import pytest

from streamproof.connectors.http.calling import Calling
from streamproof.connectors.steps import UNWATCHED


def sent(extra: dict[str, bytes], headers: dict[str, str], key: str = "k") -> dict[str, str]:
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
    return calling._headers(key, tuple(extra.values()))


def test_a_record_cannot_set_what_the_configuration_or_the_connection_sets_however_it_is_written():
    brought = {"authorization": b"stolen", "IDEMPOTENCY-KEY": b"other", "content-length": b"5", "traceparent": b"00-a"}

    found = sent(brought, {"Authorization": "Bearer t"})

    assert found == {
        "Content-Type": "application/json",
        "traceparent": "00-a",
        "Authorization": "Bearer t",
        "Idempotency-Key": "k",
    }


@pytest.mark.parametrize("brought", [b" 00-a", b"00-a ", b"00\na", "ä".encode(), b" "])
def test_what_has_no_place_in_a_header_is_not_sent(brought):
    assert "traceparent" not in sent({"traceparent": brought}, {})


@pytest.mark.parametrize(
    ("key", "header"),
    [("a b", "a b"), ("ABC ", "ABC%20"), ("  a", "%20%20a"), (" ", "%20"), ("a%20", "a%2520"), ("a\n", "a%0A"), ("ä", "%C3%A4")],
)
def test_any_key_can_be_sent_and_no_two_as_one(key, header):
    assert sent({}, {}, key)["Idempotency-Key"] == header
    h11.Request(method="POST", target="/", headers=[("host", "api"), *sent({}, {}, key).items()])  # raises where it is none
