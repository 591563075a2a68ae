"""PostgreSQL in a proof: a schema for each scenario."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar
from urllib.parse import parse_qsl, quote, urlsplit

from streamproof.config import ServiceSink
from streamproof.errors import LabError
from streamproof.prove.services.kind import Given, Kind, OwnPlace, Reader, Store
from streamproof.prove.services.names import own_name


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


class Schema(Store):
    """A schema, where tables are made and looked for first."""

    def url(self, server: str, scenario: str, number: int) -> str:
        return f"{server}{'&' if '?' in server else '?'}options={quote(f'-c search_path=store_{own_name(scenario)}')}"

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


class OwnDatabase(OwnPlace):
    """A database: tables that name their schema are the scenario's own too."""

    words = ("postgres", "postgres.host", "postgres.port", "postgres.user", "postgres.database")
    means, client = "a database of PostgreSQL", ("psycopg", "postgres")
    example = "DSN={postgres}"

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


class Postgres(Kind):
    """A server of PostgreSQL."""

    name, called = "postgres", "PostgreSQL"
    given, store, own_place = GivenPostgres, Schema(), OwnDatabase()
    batches_wait = True

    def bound(self, sink: ServiceSink, scenario: str, output: str, urls: Mapping[str, str]) -> ServiceSink:
        return sink.model_copy(update={"url": urls["postgres"], "table": f"{scenario}.{output}", "create": True})

    @property
    def reader(self) -> Reader:
        from streamproof.prove.services.tables import Tables

        return Tables()
