"""The endpoint of metrics as somebody asks it by HTTP: what it answers, whom, and on which address."""

import contextlib
import http.client
import json
import socket
import urllib.error
import urllib.request

import pytest

from streamproof.errors import ConfigurationError
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.values import Values
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedStarted
from unit.observe.test_metrics import ENDED, STARTED


def port_of(endpoint):
    return int(endpoint.url.split(":")[2].split("/")[0])


def test_health_and_readiness_of_a_plain_job():
    def asked(endpoint, page):
        try:
            with urllib.request.urlopen(endpoint.url.replace("/metrics", page), timeout=5) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as problem:
            return problem.code, problem.read()

    values = Values()
    with Endpoint("clicks", "127.0.0.1:0", values) as endpoint:
        assert asked(endpoint, "/health")[0] == 200
        assert asked(endpoint, "/ready")[0] == 503, "no query has started"
        values(STARTED)
        assert asked(endpoint, "/ready")[0] == 200
        values(WatchedStarted("backfill", "run-2", "id-2"))
        values(WatchedEnded("backfill", "run-2"))
        assert asked(endpoint, "/ready")[0] == 200, "it has read everything, and the other one runs"
        values(WatchedStarted("late", "run-3", "id-3"))
        values(WatchedEnded("late", "run-3", "ZeroDivisionError"))
        code, said = asked(endpoint, "/ready")
        assert (code, json.loads(said)["reason"]) == (503, "late has died.")
        assert [each["doing"] for each in json.loads(said)["queries"]] == ["running", "ended", "died"]
        values(WatchedStarted("late", "run-4", "id-3"))
        assert asked(endpoint, "/ready")[0] == 200, "it was started again"
        values(WatchedEnded("late", "run-4"))
        values(ENDED)
        code, said = asked(endpoint, "/ready")
        assert (code, json.loads(said)["reason"]) == (503, "sums, backfill, late has ended.")
        assert asked(endpoint, "/else")[0] == 404


def test_a_port_that_is_taken_is_said():
    with Endpoint("clicks", "0", Values()) as endpoint:
        port = str(port_of(endpoint))
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}: address already in use"):
            Endpoint("clicks", port, Values())


def test_a_port_is_free_once_the_endpoint_is_gone_though_a_process_that_was_forked_has_its_socket():
    with Endpoint("clicks", "0", Values()) as endpoint:
        port = str(port_of(endpoint))
        forked = endpoint._server.socket.dup()

    with forked, Endpoint("clicks", port, Values()) as again:
        assert urllib.request.urlopen(again.url, timeout=5).status == 200


def test_it_is_shown_by_ipv6_too():
    with Endpoint("clicks", "[::1]:0", Values()) as endpoint:
        assert endpoint.url.startswith("http://[::1]:")
        assert urllib.request.urlopen(endpoint.url, timeout=5).status == 200


def request(endpoint, method, page, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port_of(endpoint), timeout=5)
    with contextlib.closing(connection):
        connection.request(method, page, headers=headers)
        answer = connection.getresponse()
        return answer.status, int(answer.headers["Content-Length"]), answer.read()


@pytest.mark.parametrize("page", ["/metrics", "/health", "/ready", "/else"])
def test_whoever_asks_for_the_head_gets_what_a_get_says_without_its_content(page):
    with Endpoint("clicks", "0", Values()) as endpoint:
        code, length, content = request(endpoint, "GET", page)
        assert request(endpoint, "HEAD", page)[:2] == (code, length)
        with socket.create_connection(
            ("127.0.0.1", port_of(endpoint)), timeout=5
        ) as asking:  # a client for HTTP would skip the content
            asking.sendall(f"HEAD {page} HTTP/1.0\r\n\r\n".encode())
            assert asking.makefile("rb").read().partition(b"\r\n\r\n")[2] == b""
    assert len(content) == length


@pytest.mark.parametrize("page", ["/metrics", "/health", "/ready"])
def test_a_page_of_another_site_cannot_read_it_by_a_name_of_its_own(page):
    with Endpoint("clicks", "0", Values()) as endpoint:
        assert request(endpoint, "GET", page, Host="evil.example")[0] == 421
        assert request(endpoint, "GET", page, Host="localhost:9464")[0] in (200, 503)
    with Endpoint("clicks", "0.0.0.0:0", Values()) as endpoint:  # other machines reach it by any name
        assert request(endpoint, "GET", page, Host="box.example")[0] in (200, 503)


@pytest.mark.parametrize(
    ("problem", "said"), [(ConnectionResetError(), ""), (ValueError("ann"), "could not be shown: ValueError.")]
)
def test_a_client_that_goes_away_is_no_trace_on_the_screen(problem, said, capsys, caplog):
    class Broken(Values):
        def now(self, metric):
            raise problem

    with Endpoint("clicks", "0", Broken()) as endpoint, contextlib.suppress(http.client.RemoteDisconnected):
        request(endpoint, "GET", "/ready")

    assert capsys.readouterr().err == ""
    assert [record.getMessage().partition("metrics ")[2] for record in caplog.records] == ([said] if said else [])


@pytest.mark.parametrize("address", ["", "host", "host:", ":70000", "9464x", "-1"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ConfigurationError, match="is no address to show metrics on"):
        Endpoint("clicks", address, Values())
