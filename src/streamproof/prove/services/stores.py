"""Stores that a job connects to by itself: in each scenario an environment variable holds the URL of an empty one of its own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from urllib.parse import quote, urlsplit


class Store(ABC):
    """One kind of service as a store of a job's own."""

    @abstractmethod
    def url(self, server: str, scenario: str, number: int) -> str:
        """What a scenario connects to; `number` is less than the number of scenarios that are there at a time, and some."""

    @abstractmethod
    def open(self, url: str) -> None:
        """Makes it, empty."""

    @abstractmethod
    def close(self, url: str) -> None:
        """Removes it."""


class Database(Store):
    """A numbered database of Redis."""

    def url(self, server: str, scenario: str, number: int) -> str:
        return f"{server.rpartition('/')[0]}/{number}"

    def open(self, url: str) -> None:
        from streamproof.connectors.redis.writing import client

        with client(url) as connection:
            connection.flushdb()

    def close(self, url: str) -> None:
        self.open(url)


class Schema(Store):
    """A schema of PostgreSQL, where tables are made and looked for first."""

    def url(self, server: str, scenario: str, number: int) -> str:
        return f"{server}{'&' if '?' in server else '?'}options={quote(f'-c search_path=store_{_name(scenario)}')}"

    def open(self, url: str) -> None:
        self._does(url, "CREATE SCHEMA IF NOT EXISTS {}")

    def close(self, url: str) -> None:
        self._does(url, "DROP SCHEMA IF EXISTS {} CASCADE")

    @staticmethod
    def _does(url: str, statement: str) -> None:
        import psycopg
        from psycopg import sql

        with psycopg.connect(url) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(sql.SQL(statement).format(sql.Identifier(urlsplit(url).query.rpartition("%3D")[2])))


class Path(Store):
    """A path of the stand-in for an API."""

    def url(self, server: str, scenario: str, number: int) -> str:
        return f"{server}/{_name(scenario)}"

    def open(self, url: str) -> None:
        """Nothing has to be made."""

    def close(self, url: str) -> None:
        """It goes with the proof."""


STORES: Mapping[str, Store] = {"redis": Database(), "postgres": Schema(), "api": Path()}
"""By the name of the service."""


def _name(scenario: str) -> str:
    return "".join(character if character.isalnum() else "_" for character in scenario.lower())
