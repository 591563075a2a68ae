"""Faults on Redis and on an API: killed, emptied, overloaded."""

import redis

from streamproof.core.phases import Side
from streamproof.errors import StoreEmptied
from streamproof.lab.api import PaymentsApi
from streamproof.lab.redis import Redis
from streamproof.prove.faults.fault import OUTAGE_SECONDS, Aim, ServiceFault, Struck

_EVERY = 1_000_000_000
_CALLS = ".call"
"""After the other steps of a batch there may be no call that could meet what the API does."""


def _restart(struck: Struck) -> None:
    server = struck.services["redis"]
    assert isinstance(server, Redis), "the lab's service of this name"
    server.kill()
    server.restart()


def _empty(struck: Struck) -> None:
    """Takes everything out, and keeps it as a backup would."""
    backup: dict[tuple[int, bytes], bytes] = {}
    for number in _databases(struck):
        with _database(struck, number) as connection:
            backup |= {(number, key): connection.dump(key) for key in connection.scan_iter()}
    struck.kept["backup"] = backup
    with _database(struck, 0) as connection:
        connection.flushall()


def _bring_back(struck: Struck) -> None:
    """The remedy that the job names where it has noticed and stopped; what went on without noticing is left as it is."""
    noticed = struck.stopped_by == StoreEmptied.code or (struck.stopped_by and struck.bound is None)  # a store of the job's own
    for (number, key), value in struck.kept.get("backup", {}).items() if noticed else ():
        with _database(struck, number) as connection:
            connection.restore(key, 0, value, replace=True)


def _database(struck: Struck, number: int) -> redis.Redis:
    return redis.Redis.from_url(struck.services["redis"].url, db=number)


def _databases(struck: Struck) -> list[int]:
    """Those that hold something: stores of a job's own are databases with numbers."""
    with _database(struck, 0) as connection:
        return [int(name.removeprefix("db")) for name in connection.info("keyspace")]


def _api(struck: Struck) -> PaymentsApi:
    api = struck.services["api"]
    assert isinstance(api, PaymentsApi), "the lab's service of this name"
    return api


def _behave(mode: str, struck: Struck) -> None:
    _api(struck).behave(mode, _EVERY)
    struck.later(lambda: _well(struck))


def _well(struck: Struck) -> None:
    _api(struck).behave("well", 0)


def _met(struck: Struck) -> bool:
    return _api(struck).met() > 0


FAULTS = (
    ServiceFault("redis-restarted", "redis", "Redis is killed with kill -9 and starts again", _restart),
    ServiceFault("redis-emptied", "redis", "Redis is emptied", _empty, _bring_back),
    ServiceFault(
        "api-overloaded",
        "api",
        f"the API answers every call with 429 for {OUTAGE_SECONDS:g} seconds",
        lambda struck: _behave("429", struck),
        _well,
        met=_met,
        aim=Aim((Side.AFTER,), among=_CALLS),
    ),
    ServiceFault(
        "api-broken",
        "api",
        f"the API answers every call with 500 for {OUTAGE_SECONDS:g} seconds",
        lambda struck: _behave("500", struck),
        _well,
        met=_met,
        aim=Aim((Side.AFTER,), among=_CALLS),
    ),
)
