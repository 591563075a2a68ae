"""Services that run already, named by their URLs, in the place of those that a proof would start."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from streamproof.errors import ConfigurationError, LabError

_HTTP_SECONDS = 10.0
_NOT_THERE = 404


@dataclass(frozen=True)
class Given(ABC):
    """A service at a URL; clients of services raise what they like."""

    url: str
    example: ClassVar[str]
    schemes: ClassVar[tuple[str, ...]]
    port: ClassVar[int]

    @abstractmethod
    def ask(self) -> None:
        """Asks for what a proof needs there."""

    @abstractmethod
    def leave(self, begins: str) -> None:
        """Removes what has a name that begins so."""

    @property
    def readable(self) -> bool:
        """Whether the URL is one server's, and says nothing that would lead past it."""
        try:
            parts = urlsplit(self.url)
            return parts.scheme in self.schemes and bool(parts.hostname) and "," not in parts.netloc and parts.port != 0
        except ValueError:
            return False

    @property
    def servers(self) -> list[tuple[str, int]]:
        parts = urlsplit(self.url)
        return [(str(parts.hostname), parts.port or self.port)]

    @property
    def shown(self) -> str:
        """The URL without its password."""
        parts = urlsplit(self.url)
        user, at, server = parts.netloc.rpartition("@")
        query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key != "password"])
        return parts._replace(netloc=f"{user.partition(':')[0]}{at}{server}", query=query).geturl()


class GivenKafka(Given):
    """Brokers, without login."""

    example, port = "host:9092,host:9092", 9092

    @property
    def readable(self) -> bool:
        try:
            parts = [urlsplit(f"//{each}") for each in self.url.split(",")]
            return all(each.hostname and each.port and each.netloc == each.geturl()[2:] for each in parts) and " " not in self.url
        except ValueError:
            return False

    @property
    def servers(self) -> list[tuple[str, int]]:
        parts = [urlsplit(f"//{each}") for each in self.url.split(",")]
        return [(str(each.hostname), each.port or self.port) for each in parts]

    @property
    def shown(self) -> str:
        return self.url

    def ask(self) -> None:
        from streamproof.connectors.kafka.client import topics

        topics(self.url, {})

    def leave(self, begins: str) -> None:
        from streamproof.connectors.kafka.client import topics
        from streamproof.prove.services.topics import remove

        left = [name for name in topics(self.url, {}) if name.startswith(begins)]
        if left:
            remove(self.url, left)


class GivenPostgres(Given):
    """A database whose user may create schemas."""

    example, schemes, port = "postgresql://user@host:5432/database", ("postgresql", "postgres"), 5432
    _ELSEWHERE: ClassVar[Collection[str]] = ("host", "hostaddr", "port", "service", "options")

    @property
    def readable(self) -> bool:
        return super().readable and not any(key in self._ELSEWHERE for key, _ in parse_qsl(urlsplit(self.url).query))

    def ask(self) -> None:
        import psycopg

        with psycopg.connect(self.url) as connection:
            found = connection.execute("SELECT has_database_privilege(current_database(), 'CREATE')").fetchone()
        if found != (True,):
            raise LabError("its user may not create schemas")

    def leave(self, begins: str) -> None:
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.url, options="-c client_min_messages=warning") as connection:
            named = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s) OR starts_with(nspname, %s)"
            for (schema,) in connection.execute(named, (begins, f"store_{begins}")).fetchall():
                connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))


class GivenRedis(Given):
    """A server of Redis."""

    example, schemes, port = "redis://host:6379/0", ("redis",), 6379

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


class GivenRegistry(Given):
    """A schema registry, without login."""

    example, schemes, port = "http://host:8081", ("http",), 80

    def ask(self) -> None:
        self._subjects()

    def leave(self, begins: str) -> None:
        import httpx

        for subject in self._subjects():
            if subject.startswith(begins):
                for query in ("", "?permanent=true"):
                    answer = httpx.delete(f"{self.url.rstrip('/')}/subjects/{subject}{query}", timeout=_HTTP_SECONDS)
                    if answer.status_code != _NOT_THERE:
                        answer.raise_for_status()

    def _subjects(self) -> list[str]:
        import httpx

        answer = httpx.get(f"{self.url.rstrip('/')}/subjects", timeout=_HTTP_SECONDS)
        return [str(subject) for subject in answer.raise_for_status().json()]


KINDS: Mapping[str, type[Given]] = {
    "kafka": GivenKafka,
    "postgres": GivenPostgres,
    "redis": GivenRedis,
    "registry": GivenRegistry,
}
"""By the name of the service."""


def required(given: Mapping[str, str], needed: Collection[str], stores: Collection[str]) -> None:
    """That each is one that the job needs, that a proof can keep apart what it has there, and that it answers.

    Raises
    ------
    ConfigurationError, LabError
        Where one cannot be given, or does not answer.
    """
    for name, url in given.items():
        _usable(name, url, needed, stores)
        try:
            KINDS[name](url).ask()
        except Exception as problem:  # noqa: BLE001 -- clients of services raise what they like
            said = str(problem).strip().splitlines() or [type(problem).__name__]
            raise LabError(
                f"{name} at {KINDS[name](url).shown} cannot be used for a proof: {said[0].rstrip('.')}.",
                remedy=f"Look whether it runs and is reached from here, or leave --service {name} out: one is started for the proof.",
            ) from None


def _usable(name: str, url: str, needed: Collection[str], stores: Collection[str]) -> None:
    if name == "api":
        raise ConfigurationError(
            "An API cannot be given to a proof.",
            required="What a job made it do is read from the lab's stand-in.",
            remedy="Leave --service api out: the stand-in is started for the proof.",
        )
    if name not in KINDS:
        raise ConfigurationError(f'"{name}" is no service that can be given.', required=f"Those are {', '.join(KINDS)}.")
    if not KINDS[name](url).readable:
        raise ConfigurationError(
            f"The address that is given for {name} cannot be read.",
            required=f'It is written "--service {name}={KINDS[name].example}"; it names its server there and nowhere else.',
        )
    if name not in needed:
        raise ConfigurationError(
            f"The job is not bound to {name}.",
            required=f"It is bound to {', '.join(needed) or 'no service'}.",
            remedy="--profile NAME chooses another binding.",
        )
    if name == "redis" and name in stores:
        raise ConfigurationError(
            "A Redis that runs already cannot hold a job's own stores in a proof.",
            required="Each scenario has a numbered database, which is emptied.",
            remedy="Leave --service redis out: one is started for the proof.",
        )


def hosts(given: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts of them all."""
    return tuple(dict.fromkeys(host for name, url in given.items() for host, _ in KINDS[name](url).servers))


def server(name: str, url: str) -> str:
    """The host and port of a service that has one."""
    host, port = KINDS[name](url).servers[0]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def left(given: Mapping[str, str], begins: str) -> list[str]:
    """Removes what a proof has made in them; says what could not be removed, and why."""
    problems = []
    for name, url in given.items():
        try:
            KINDS[name](url).leave(begins)
        except Exception as problem:  # noqa: BLE001 -- the others are tried all the same
            said = str(problem).strip().splitlines() or [type(problem).__name__]
            problems.append(f"What the proof made in {name}, with names that begin with {begins}, could not be removed: {said[0]}")
    return problems
