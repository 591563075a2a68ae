"""Faults on PostgreSQL: the server closes the connection; the server is killed and comes back."""

import psycopg

from streamproof.core.phases import Side
from streamproof.errors import LabError
from streamproof.lab.postgres import Postgres
from streamproof.prove.faults.fault import Aim, ServiceFault, Struck

_TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE xact_start IS NOT NULL AND state = 'idle in transaction'"


def _close_connection(struck: Struck) -> None:
    """Ends the backends that wait within a transaction: the step's own is one."""
    with psycopg.connect(struck.services["postgres"].url) as connection:
        if not connection.execute(_TERMINATE).fetchall():
            raise LabError("No transaction was under way.")


def _restart(struck: Struck) -> None:
    server = struck.services["postgres"]
    assert isinstance(server, Postgres), "the lab's service of this name"
    server.kill()
    server.restart()


FAULTS = (
    ServiceFault(
        "connection-lost",
        "postgres",
        "PostgreSQL closes the connection within the transaction",
        _close_connection,
        aim=Aim((Side.BEFORE,), own_sinks=False),  # whether their steps lie in a transaction is not known
    ),
    ServiceFault("database-restarted", "postgres", "PostgreSQL is killed with kill -9 and starts again", _restart),
)
