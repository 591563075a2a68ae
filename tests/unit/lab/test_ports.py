"""Ports for services: free, different, and none that the system gives to others by itself."""

import socket

import pytest

from streamproof.errors import LabError
from streamproof.lab import process
from streamproof.lab.process import free_ports


def test_ports_are_different_and_below_those_that_the_system_gives_to_clients():
    found = free_ports(20)

    assert len(set(found)) == 20
    assert all(1024 < port < 32768 for port in found)


def test_a_port_that_somebody_listens_on_is_not_given(monkeypatch):
    first, second = free_ports(2)
    monkeypatch.setattr(process, "_PORTS", [first, second])

    with socket.create_server(("127.0.0.1", first)):
        assert free_ports(1) == [second]
        with pytest.raises(LabError, match="no 2 free ports"):
            free_ports(2)
