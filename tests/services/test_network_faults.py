"""A fault on the network has fired when the job has met it, and not when it was only set."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from services.conftest import needs
from streamproof.lab import Redis, Toxiproxy
from streamproof.lab.process import until
from streamproof.lab.toxiproxy import Proxy
from streamproof.prove.faults import fault, network
from streamproof.prove.faults.fault import ServiceFault, Struck

pytestmark = pytest.mark.service

FAULTS = [each for each in network.faults() if each.service == "redis"]


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    needs("redis", "toxiproxy")
    folder: Path = tmp_path_factory.mktemp("lab")
    with Redis(folder / "redis") as server, Toxiproxy(folder / "toxiproxy") as proxy:
        yield proxy.line("redis", server.url.split("/")[2])


@pytest.fixture
def struck(line: Proxy) -> Struck:
    return Struck(services={}, lines={"redis": [line]}, bound=None, second_driver=lambda: None)


def pinged(line: Proxy) -> None:
    with redis.Redis.from_url(f"redis://{line.address}/0", retry=None) as client, suppress(redis.RedisError):
        client.ping()


@pytest.fixture(scope="module")
def answers(line: Proxy) -> int:
    """What one such connection carries, both ways."""
    before = line.carried()
    pinged(line)
    seen = [before]

    def stands() -> bool:
        seen.append(line.carried())
        return seen[-1] > before and len(seen) > 20 and seen[-1] == seen[-20]

    until(stands, "the connection to be counted", 10)
    return seen[-1] - before


@pytest.mark.parametrize("of", FAULTS, ids=lambda each: each.name)
def test_a_fault_on_a_line_that_is_used_is_met(of: ServiceFault, line, struck):
    with redis.Redis.from_url(f"redis://{line.address}/0", retry=None) as client:
        client.ping()
        of.strike(struck)
        with suppress(redis.RedisError):
            client.ping()
        struck.end()
        of.mend(struck)  # before the connection ends: clients of HTTP keep theirs

    assert of.met(struck)


@pytest.mark.parametrize("of", FAULTS, ids=lambda each: each.name)
def test_a_fault_on_a_line_that_nobody_uses_while_it_lasts_is_not_met(of: ServiceFault, line, struck, answers, monkeypatch):
    monkeypatch.setattr(network, "_SETTLED_SECONDS", 0.1)
    before = line.carried()
    pinged(line)
    with redis.Redis.from_url(f"redis://{line.address}/0", retry=None) as of_another_job:
        of_another_job.ping()
        of.make_ready(struck)
        until(lambda: line.carried() >= before + 2 * answers, "both connections to be counted", 5)
        of.strike(struck)
        struck.end()
        of.mend(struck)
    pinged(line)  # the network is well again
    of.mend(struck)

    assert not of.met(struck)


def test_a_fault_on_a_line_that_ends_by_itself_is_asked_for_then(line, struck, monkeypatch):
    monkeypatch.setattr(fault, "OUTAGE_SECONDS", 0.0)
    partition = next(each for each in FAULTS if each.name == "redis-partition")
    with redis.Redis.from_url(f"redis://{line.address}/0", retry=None) as client:
        client.ping()
        partition.strike(struck)
        assert struck._timer is not None
        struck._timer.join()
        assert client.ping()

    assert partition.met(struck)
