"""Redis in a proof: a prefix for each scenario; a numbered database for what a job keeps by itself."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from streamproof.config import RedisSink, ServiceSink
from streamproof.prove.services.kind import Given, Kind, OwnPlace, Reader, Store

_A_DAY = timedelta(days=1)


class GivenRedis(Given):
    """A server. A store of a job's own is a numbered database, which is emptied: others may have theirs there."""

    example, schemes, port = "redis://host:6379/0", ("redis",), 6379
    why_no_stores = "Each scenario has a numbered database, which is emptied."

    def ask(self) -> None:
        from streamproof.connectors.redis.writing import client

        with client(self.url) as connection:
            connection.ping()

    def leave(self, begins: str) -> None:
        from streamproof.connectors.redis.sink import COUNTS, LEDGER
        from streamproof.connectors.redis.writing import DELETED, client

        with client(self.url) as connection:
            for before in ("", LEDGER, COUNTS, DELETED):
                keys = list(connection.scan_iter(f"{before}{begins}*", count=1_000))
                if keys:
                    connection.delete(*keys)


class Database(Store):
    """A numbered database."""

    def url(self, server: str, scenario: str, number: int) -> str:
        return f"{server.rpartition('/')[0]}/{number}"

    def open(self, url: str) -> None:
        from streamproof.connectors.redis.writing import client

        with client(url) as connection:
            connection.flushdb()

    def close(self, url: str) -> None:
        self.open(url)


class OwnNumber(OwnPlace):
    """A numbered database."""

    words = ("redis", "redis.host", "redis.port", "redis.database")
    means, client = "a numbered database of Redis", ("redis", "redis")
    example = "REDIS={redis}"

    def values(self, server: str, scenario: str, number: int, topics: Sequence[str]) -> dict[str, str]:
        url = Database().url(server, scenario, number)
        parts = urlsplit(url)
        return {
            "redis": url,
            "redis.host": str(parts.hostname),
            "redis.port": str(parts.port),
            "redis.database": parts.path.removeprefix("/"),
        }

    def open(self, server: str, values: Mapping[str, str]) -> None:
        Database().open(values["redis"])

    def close(self, server: str, values: Mapping[str, str]) -> None:
        Database().close(values["redis"])


class Redis(Kind):
    """A server of Redis."""

    name, called = "redis", "Redis"
    given, store, own_place = GivenRedis, Database(), OwnNumber()
    batches_wait = True

    def bound(self, sink: ServiceSink, scenario: str, output: str, urls: Mapping[str, str]) -> ServiceSink:
        assert isinstance(sink, RedisSink), "a sink of this service"
        lives = max(sink.ttl, _A_DAY) if sink.ttl else None  # keys that expire before they are looked at would pass for lost
        return sink.model_copy(update={"url": urls["redis"], "prefix": f"{scenario}:{output}:", "ttl": lives})

    @property
    def reader(self) -> Reader:
        from streamproof.prove.services.hashes import Hashes

        return Hashes()
