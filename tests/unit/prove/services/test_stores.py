"""Stores that a job keeps by itself: a scenario finds its own again, scenarios that are there together have different ones."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from streamproof.prove.services import Services
from streamproof.prove.services.kinds import KINDS

SERVERS = {"redis": "redis://127.0.0.1:1/0", "postgres": "postgresql://streamproof@127.0.0.1:2/streamproof"}


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Services:
    for store in (kind.store for kind in KINDS.values() if kind.store is not None):
        monkeypatch.setattr(type(store), "open", lambda _, url: None)
        monkeypatch.setattr(type(store), "close", lambda _, url: None)
    running = {name: SimpleNamespace(url=url) for name, url in SERVERS.items()}
    return Services(Path(), tuple(SERVERS), {"TOTALS": "redis", "ROWS": "postgres"}, running=running)


def test_a_scenario_has_one_store_for_all_its_starts_and_shares_it_with_nobody(outside):
    first, second = outside.stores("s00001"), outside.stores("s00002")

    assert first == {
        "TOTALS": "redis://127.0.0.1:1/1",
        "ROWS": "postgresql://streamproof@127.0.0.1:2/streamproof?options=-c%20search_path%3Dstore_s00001",
    }
    assert not set(first.values()) & set(second.values())
    assert outside.stores("s00001") == first


def test_the_number_of_a_scenario_that_is_over_is_given_again_and_zero_is_nobodys(outside):
    for name in ("a", "b", "c"):
        outside.open_stores(name)
    outside.close_stores("b")

    assert outside.stores("d")["TOTALS"].endswith("/2")
    assert outside.stores("c")["TOTALS"].endswith("/3")
