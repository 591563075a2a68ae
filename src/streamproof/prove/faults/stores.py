"""Faults on Redis and on an API: killed, emptied, overloaded."""

import redis

from streamproof.core.phases import Side
from streamproof.lab.api import PaymentsApi
from streamproof.lab.redis import Redis
from streamproof.prove.faults.fault import OUTAGE_SECONDS, ServiceFault, Struck

_EVERY = 1_000_000_000


def _restart(struck: Struck) -> None:
    server = struck.services["redis"]
    assert isinstance(server, Redis), "the lab's service of this name"
    server.kill()
    server.restart()


def _empty(struck: Struck) -> None:
    """Takes everything out, and keeps it as a backup would."""
    with redis.Redis.from_url(struck.services["redis"].url) as connection:
        struck.kept["backup"] = {key: connection.dump(key) for key in connection.scan_iter()}
        connection.flushall()


def _bring_back(struck: Struck) -> None:
    """The remedy that the job names where it has noticed and stopped; what went on without noticing is left as it is."""
    if not struck.stopped:
        return
    with redis.Redis.from_url(struck.services["redis"].url) as connection:
        for key, value in struck.kept.get("backup", {}).items():
            connection.restore(key, 0, value, replace=True)


def _behave(mode: str, struck: Struck) -> None:
    api = struck.services["api"]
    assert isinstance(api, PaymentsApi), "the lab's service of this name"
    api.behave(mode, _EVERY)
    struck.later(lambda: _well(struck))


def _well(struck: Struck) -> None:
    api = struck.services["api"]
    assert isinstance(api, PaymentsApi), "the lab's service of this name"
    api.behave("well", 0)


FAULTS = (
    ServiceFault("redis-restarted", "redis", "Redis is killed with kill -9 and starts again", _restart),
    ServiceFault("redis-emptied", "redis", "Redis is emptied", _empty, _bring_back),
    ServiceFault(
        "api-overloaded",
        "api",
        f"the API answers every call with 429 for {OUTAGE_SECONDS:g} seconds",
        lambda struck: _behave("429", struck),
        _well,
        sides=(Side.AFTER,),
    ),
    ServiceFault(
        "api-broken",
        "api",
        f"the API answers every call with 500 for {OUTAGE_SECONDS:g} seconds",
        lambda struck: _behave("500", struck),
        _well,
        sides=(Side.AFTER,),
    ),
)
