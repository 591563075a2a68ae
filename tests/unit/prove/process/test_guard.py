"""A proof touches nothing real: the socket guard, tried in a process of its own."""

import subprocess
import sys

import pytest

from streamproof.prove.process import guard

SCRIPT = """
import socket
from streamproof.prove.process import guard
guard.install({allowed!r})
made = socket.socket()
made.settimeout(0.01)
try:
    made.connect(({host!r}, 9))
except guard.HostRefused as refused:
    print("refused", refused.remedy)
except OSError as other:
    print("tried")
"""


def connect(host: str, allowed: tuple[str, ...] = ()) -> str:
    script = SCRIPT.format(host=host, allowed=allowed)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("host", ["192.0.2.1", "example.invalid"])
def test_another_host_is_refused_with_the_flag_that_allows_it(host: str) -> None:
    said = connect(host)

    assert said.startswith("refused")
    assert f"--allow-host {host}" in said


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_not_refused(host: str) -> None:
    assert connect(host).startswith("tried")


def test_a_host_that_is_allowed_by_name_is_not_refused() -> None:
    assert connect("name.invalid", ("name.invalid",)).startswith("tried")


def test_a_host_that_is_allowed_may_be_reached_by_its_address(monkeypatch):
    """Clients of HTTP and Redis resolve a name themselves, and connect to what it stands for."""
    monkeypatch.setattr(
        guard.socket, "getaddrinfo", lambda name, _: [(2, 1, 6, "", ("192.0.2.7", 0))] if name == "cache.test" else []
    )

    assert guard._with_addresses(["cache.test", "other.test"]) == {"cache.test", "other.test", "192.0.2.7"}
