"""Whether a service answers, asked in its own protocol; each question takes two seconds at most."""

import socket
import struct
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

_SECONDS = 2
_REQUEST = "x-amz-request-id"
"""The header that each answer of S3 has."""
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)
"""The first request of every Kafka client, protocol version 0: its length, its key, its version, a correlation id, no client id."""
_WHO = b"user\0streamproof\0database\0postgres\0\0"
_STARTUP = struct.pack(">ii", len(_WHO) + 8, 3 << 16) + _WHO
"""The first message of every PostgreSQL client, protocol 3.0: its length, the version, who it is."""


def by_http(url: str) -> bool:
    """Whether the address answers with success."""
    try:
        with urlopen(url, timeout=_SECONDS) as response:  # noqa: S310 -- a service of our own
            return bool(200 <= response.status < 300)
    except (URLError, OSError):
        return False


def by_s3(url: str) -> bool:
    """Whether a store of S3's kind answers; it refuses whoever does not sign, and that is an answer."""
    try:
        with urlopen(url, timeout=_SECONDS) as response:  # noqa: S310 -- a service of our own
            return _REQUEST in response.headers
    except HTTPError as refused:
        return _REQUEST in refused.headers
    except (URLError, OSError):
        return False


def by_kafka(address: str) -> bool:
    """Whether a broker answers its clients' first request; it does once the cluster has let it in."""
    head = _said(address, _API_VERSIONS, 10)
    return head is not None and len(head) == 10 and struct.unpack(">iih", head)[1:] == (1, 0)


def by_postgres(address: str) -> bool:
    """Whether the server takes a session; one that is starting up or shutting down says an error."""
    return _said(address, _STARTUP, 1) == b"R"


def by_redis(address: str) -> bool:
    """Whether the server says PONG; one that is reading its file says an error."""
    return _said(address, b"PING\r\n", 7) == b"+PONG\r\n"


def by_connection(address: str) -> bool:
    """Whether a connection is taken, for what has no question."""
    return _said(address, b"", 0) is not None


def _said(address: str, question: bytes, length: int) -> bytes | None:
    """The first bytes of the answer; None where there is no connection or no answer."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=_SECONDS) as connection:
            connection.sendall(question)
            return connection.recv(length) if length else b""
    except OSError:
        return None
