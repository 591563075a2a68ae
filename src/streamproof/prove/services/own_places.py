"""Places of each scenario's own in services that a plain PySpark job calls by itself: a database, a numbered one of Redis, topics.

The job finds them by words in braces, in its arguments and its environment: `{postgres}` is the URL of the scenario's database.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from streamproof.prove.services.services import Services, own_name
from streamproof.prove.services.stores import Database

TOPIC = "kafka.topic:"
"""What the word for a topic begins with: `{kafka.topic:totals}`."""


class OwnPlace(ABC):
    """One kind of service: what its words are, and how the place of a scenario is made and removed."""

    words: ClassVar[Sequence[str]]
    """What may stand in braces, without the topics."""
    means: ClassVar[str]
    """What a scenario has there, for people."""
    client: ClassVar[tuple[str, str]]
    """The library that makes it, and the extra that brings it."""

    @abstractmethod
    def values(self, server: str, scenario: str, number: int, topics: Sequence[str]) -> dict[str, str]:
        """By word what stands for it in a scenario; `number` is less than the number of scenarios that are there at a time, and some."""

    @abstractmethod
    def open(self, server: str, values: Mapping[str, str]) -> None:
        """Makes the place, empty."""

    @abstractmethod
    def close(self, server: str, values: Mapping[str, str]) -> None:
        """Removes it."""


class OwnDatabase(OwnPlace):
    """A database of PostgreSQL: tables that name their schema are the scenario's own too."""

    words = ("postgres", "postgres.host", "postgres.port", "postgres.user", "postgres.database")
    means, client = "a database of PostgreSQL", ("psycopg", "postgres")

    def values(self, server: str, scenario: str, number: int, topics: Sequence[str]) -> dict[str, str]:
        parts, database = urlsplit(server), f"scenario_{own_name(scenario)}"
        return {
            "postgres": parts._replace(path=f"/{database}").geturl(),
            "postgres.host": str(parts.hostname),
            "postgres.port": str(parts.port),
            "postgres.user": str(parts.username),
            "postgres.database": database,
        }

    def open(self, server: str, values: Mapping[str, str]) -> None:
        self.close(server, values)
        self._does(server, "CREATE DATABASE {}", values)

    def close(self, server: str, values: Mapping[str, str]) -> None:
        self._does(server, "DROP DATABASE IF EXISTS {} WITH (FORCE)", values)

    @staticmethod
    def _does(server: str, statement: str, values: Mapping[str, str]) -> None:
        import psycopg
        from psycopg import sql

        with psycopg.connect(server, autocommit=True, options="-c client_min_messages=warning") as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(values["postgres.database"])))


class OwnNumber(OwnPlace):
    """A numbered database of Redis."""

    words = ("redis", "redis.host", "redis.port", "redis.database")
    means, client = "a numbered database of Redis", ("redis", "redis")

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


class OwnTopics(OwnPlace):
    """Topics of Kafka. All scenarios share the servers, so each topic has a name of its own, and is made before the job starts."""

    words = ("kafka",)
    means, client = "topics of Kafka", ("confluent_kafka", "kafka")

    def values(self, server: str, scenario: str, number: int, topics: Sequence[str]) -> dict[str, str]:
        return {"kafka": server, **{f"{TOPIC}{topic}": f"{own_name(scenario)}.{topic}" for topic in topics}}

    def open(self, server: str, values: Mapping[str, str]) -> None:
        from streamproof.prove.services.topics import make

        make(server, self._topics(values))

    def close(self, server: str, values: Mapping[str, str]) -> None:
        from streamproof.prove.services.topics import remove

        remove(server, self._topics(values))

    @staticmethod
    def _topics(values: Mapping[str, str]) -> list[str]:
        return [name for word, name in values.items() if word.startswith(TOPIC)]


PLACES: Mapping[str, OwnPlace] = {"postgres": OwnDatabase(), "redis": OwnNumber(), "kafka": OwnTopics()}
"""By the name of the service."""


@dataclass(frozen=True)
class OwnPlaces:
    """The places of all scenarios of a proof.

    Parameters
    ----------
    services
        Those that run.
    topics
        Of Kafka, what the job calls its topics.
    """

    services: Services
    topics: Sequence[str] = ()

    def values(self, scenario: str) -> dict[str, str]:
        """What stands for the words in a scenario: the same at each of its starts."""
        servers = self._servers
        if not servers:
            return {}
        number = self.services.number(scenario)
        return {
            word: value
            for name, server in servers.items()
            for word, value in PLACES[name].values(server, scenario, number, self.topics).items()
        }

    def open(self, scenario: str) -> None:
        """Makes the places of a scenario, empty."""
        values = self.values(scenario)
        for name, server in self._servers.items():
            PLACES[name].open(server, values)

    def close(self, scenario: str) -> None:
        """Removes them."""
        values = self.values(scenario)
        for name, server in self._servers.items():
            PLACES[name].close(server, values)
        self.services.release(scenario)

    @property
    def _servers(self) -> Mapping[str, str]:
        return self.services.urls() if self.services.names else {}
