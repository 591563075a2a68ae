"""Connections to PostgreSQL, and what its errors mean for a sink."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from streamproof.connectors.ledgers import overtaken
from streamproof.connectors.sink import behind_us
from streamproof.core.formats import unknown
from streamproof.errors import ConfigurationError, RemedyAction, SinkError, SinkUnavailable, TwoDrivers, UnknownFormat

_CONNECT_SECONDS, _SILENCE_SECONDS = 10, 30
_LOCK_TIMEOUT = "30s"
_PASSING = ("08", "57P", "53", "25006", "40", "55P03")
"""SQLSTATE classes of what passes: connection, shutdown and start-up, resources, a read-only standby, deadlocks, locks."""
LEDGER = "streamproof_ledger"
DISCARDED, NO_KEY, OVERTAKEN, SWALLOWED, WENT_BACK = "discarded", "no key", "overtaken", "swallowed", "went back"
UNKNOWN_FORMAT = "unknown format"
"""What we say ourselves, where PostgreSQL would say a SQLSTATE."""
_REFUSED = re.compile(
    r"authentication failed|no pg_hba|role \S+ does not exist|database \S+ does not exist|not support SSL|certificate",
    re.IGNORECASE,
)
_COLUMN = re.compile(r"column (\w+)")


@dataclass(frozen=True)
class Said:
    """What PostgreSQL said, as it travels from a task to the driver: no values of rows are in it."""

    sqlstate: str
    message: str
    constraint: str = ""
    column: str = ""

    @classmethod
    def by(cls, problem: psycopg.Error) -> "Said":
        diagnosis = problem.diag
        column = diagnosis.column_name or ""
        if not column and diagnosis.context and (named := _COLUMN.search(diagnosis.context)):
            column = named[1]
        state = problem.sqlstate or ""
        # The words of data errors quote the data, those of a trigger what its author wanted.
        message = "" if state[:2] in ("22", "23", "P0") else (diagnosis.message_primary or str(problem)).strip()
        return cls(state, message, diagnosis.constraint_name or "", column)


def opened(url: str) -> psycopg.Connection:
    """A connection, in UTC, that does not wait for ever: not for an answer, not for a lock; what it commits outlives a crash of the server."""
    own = f"-c lock_timeout={_LOCK_TIMEOUT} -c timezone=UTC -c client_min_messages=warning"
    connection = psycopg.connect(
        url,
        connect_timeout=_CONNECT_SECONDS,
        application_name="streamproof",
        client_encoding="UTF8",  # COPY is given bytes: without it, those of a database in LATIN1 would be read as other characters
        options=f"{conninfo_to_dict(url).get('options') or ''} {own}".strip(),
        # A line that is cut without a word is noticed here in half a minute.
        tcp_user_timeout=_SILENCE_SECONDS * 1000,
        keepalives_idle=10,
        keepalives_interval=5,
        keepalives_count=3,
    )
    try:
        # Each statement sees what others have committed before it: the look for a newer batch comes after the claim.
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        connection.commit()
    except psycopg.Error:
        connection.close()
        raise
    return connection


@contextmanager
def connected(url: str, where: str) -> Iterator[psycopg.Connection]:
    """A connection whose block is one transaction, committed at its end.

    Raises
    ------
    SinkUnavailable
        If nobody answers, the connection is lost, or the database may not be written just now.
    SinkError
        Everything else that the database says.
    """
    try:
        with opened(url) as connection:
            yield connection
    except psycopg.Error as problem:
        raise sink_error(Said.by(problem), where) from None


def where_of(url: str, table: str) -> str:
    """The table as people and manifests name it: server, database and table, never the user or the password.

    Raises
    ------
    ConfigurationError
        If the URL is none that libpq takes.
    """
    try:
        found = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise _unreadable() from None
    # libpq takes what stands before the first "/" for the server: what follows can be the rest of a password.
    if "@" in f"{found.get('host')}{found.get('dbname')}" or not str(found.get("port") or "5432").replace(",", "").isdigit():
        raise _unreadable()
    return f"postgresql://{found.get('host') or 'localhost'}:{found.get('port') or 5432}/{found.get('dbname') or ''}/{table}"


def _unreadable() -> ConfigurationError:
    return ConfigurationError(
        "A url of a postgres sink cannot be read.",
        required='It is written as libpq takes it: "postgresql://user:password@host:5432/database".',
        remedy='In user and password write "@" as %40, ":" as %3A, "/" as %2F, "?" as %3F and "#" as %23.',
    )


def identifier(table: str) -> sql.Identifier:
    """A table's name, with its schema where it has one."""
    return sql.Identifier(*table.split("."))


def is_passing(said: Said) -> bool:
    """Whether what PostgreSQL said passes by itself: nobody answers, or it is starting, or has too much to do."""
    return not _REFUSED.search(said.message) if not said.sqlstate else said.sqlstate.startswith(_PASSING)


def sink_error(said: Said, where: str) -> SinkError | TwoDrivers | UnknownFormat:
    """The error for what PostgreSQL said, in one place."""
    if said.sqlstate == DISCARDED:
        return TwoDrivers(
            f"{where} does not take this batch: {said.message}, since the batch was computed anew and gave something else.",
            required="One driver works on a checkpoint at a time.",
            remedy="Stop the other driver. If there is none, run again with --replay-last: the batch is computed and staged anew.",
            action=RemedyAction.REPLAY_LAST,
        )
    if said.sqlstate == UNKNOWN_FORMAT:
        return unknown(said.message)
    if said.sqlstate == OVERTAKEN:
        return overtaken(where, said.message)
    if said.sqlstate == WENT_BACK:
        return behind_us(f"{where} knows nothing of {said.message}")
    if said.sqlstate == SWALLOWED:
        return SinkError(
            f"{where} {said.message}, and said nothing of the others: a trigger of the table swallows them.",
            required="Every row of a batch is written, or none. Nothing of this batch is published, and nothing is lost.",
            remedy="Let the trigger return the row; psql lists it by \\d. Rows that should not be written are rejected in the job with "
            "require(), and partitions are made by PARTITION BY.",
        )
    if said.sqlstate == NO_KEY:
        return SinkError(
            f"A row for {where} has no value in {said.column}, which is of its key or its version.",
            required="An upsert finds the row that it replaces by its key, and a version says which one is newer; a null says neither. Nothing "
            "of its batch is published, and nothing is lost.",
            remedy=f'Reject such rows in the job: require({said.column}="{said.column} is not null").',
        )
    state, message = said.sqlstate, said.message.splitlines()[0] if said.message else ""
    if state == "42P01" and LEDGER in message:
        return behind_us(f"{where} has no ledger any more ({message})")
    if not state and _REFUSED.search(said.message):
        reason = next(line for line in said.message.splitlines() if _REFUSED.search(line)).rpartition("failed: ")[2]
        return SinkError(
            f"{where} refuses the connection: {reason}",
            remedy="Mend user, password, database or sslmode in the url; a password belongs into the environment: ${env:...}.",
        )
    if state == "25006":
        return SinkUnavailable(
            f"{where} is read-only.",
            required="Nothing is lost: what it has not taken is kept with its manifests.",
            remedy="Bind the output to the primary server, or wait until it is writable.",
        )
    if not state or state.startswith(_PASSING):
        return SinkUnavailable(
            f"{where} cannot be written: {message or 'no answer'}",
            required="Nothing is lost: what it has not taken is kept with its manifests, and it catches up once it answers.",
        )
    if state == "42501":
        return SinkError(
            f"{where} cannot be written: {message}.",
            remedy="Grant this user SELECT, INSERT, UPDATE and DELETE there, CREATE on its schema, and for upserts TEMPORARY on the database.",
        )
    if state == "23505":
        return SinkError(
            f"A row for {where} violates the unique constraint {said.constraint}: a row of that key is there already.",
            required="Nothing of its batch is published, and nothing is lost.",
            remedy='Deduplicate in the job, or write with mode = "upsert" and that key.',
        )
    if state == "21000":
        return SinkError(
            f"A batch for {where} has several rows of one key.",
            required="An upsert takes one row of a key.",
            remedy="Say which counts: order_by = a column, the greatest value wins. Or deduplicate in the job.",
        )
    if state[:2] in ("22", "23"):
        of = f"the column {said.column}" if said.column else f"the constraint {said.constraint}" if said.constraint else "a column"
        return SinkError(
            f"A row for {where} does not fit {of} (SQLSTATE {state}).",
            required="Nothing of its batch is published, and nothing is lost.",
            remedy="Reject such rows in the job with require(), or widen the column.",
        )
    if state.startswith("P0"):
        return SinkError(
            f"A trigger or a function of the database refuses a row for {where} (SQLSTATE {state}).",
            required="Nothing of its batch is published, and nothing is lost.",
            remedy="Its words, which may hold values of rows, are in the server's log. Reject such rows in the job with require().",
        )
    return SinkError(f"{where} cannot be written: {message} (SQLSTATE {state})")
