"""The server of the live page, asked by a real HTTP client over real sockets."""

import contextlib
import errno
import json
import logging
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace

import httpx
import pytest

from streamproof.cli import live
from streamproof.errors import ConfigurationError, MissingExtra, PortTaken, SinkUnavailable
from streamproof.observe import addresses
from streamproof.observe.live import readers, server
from streamproof.observe.live.access import COOKIE, VARIABLE, Access, access_to
from streamproof.observe.live.board import RunBoard
from streamproof.observe.live.server import LivePage, bound
from unit.observe.live_samples import Clock, Story, batch, started

TOKEN = "a-token-of-some-length"


@contextlib.contextmanager
def shown(access: Access | None = None, *, problem: BaseException | None = None) -> Iterator[SimpleNamespace]:
    """A page that is served: `.url`, `.story` to tell events, `.ask(path)`."""
    clock = Clock()
    board = RunBoard("small", clock)
    with contextlib.suppress(*([type(problem)] if problem else [])), LivePage(board, bound("0"), access or Access()) as page:
        client = httpx.Client(base_url=page.url, timeout=10, trust_env=False)
        yield SimpleNamespace(url=page.url, clock=clock, board=board, story=Story(clock, [board]), ask=client.get, client=client)
        if problem is not None:
            raise problem


def pictures(lines: Iterator[str]) -> Iterator[dict]:
    """The pictures of a stream of server-sent events."""
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_the_page_is_one_file_that_asks_nobody_else():
    with shown() as page:
        answer = page.ask("/")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "connect-src 'self'" in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in answer.text
    assert "only reads" in answer.text


def test_whoever_comes_gets_the_present_picture_first_and_then_each_that_changes():
    with shown() as page:
        page.story.tell(*started(), *batch(0))
        with page.client.stream("GET", "/pictures") as answer:
            found = pictures(answer.iter_lines())
            first = next(found)
            page.story.tell(*batch(1))
            then = next(each for each in found if each["queries"][0]["committed"] == 2)

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (first["of"], first["job"], first["queries"][0]["committed"]) == ("run", "small", 1)
    assert then["queries"][0]["account"]["input"] == 2_000


def test_a_page_that_comes_back_gets_what_it_has_missed_in_one_picture_at_once(monkeypatch):
    monkeypatch.setattr(readers, "TICK_SECONDS", 60)
    monkeypatch.setattr(readers, "LEAST_SECONDS", 60)
    with shown() as page:
        page.story.tell(*started())
        with page.client.stream("GET", "/pictures") as answer:
            next(pictures(answer.iter_lines()))
        for number in range(30):
            page.story.tell(*batch(number))
        with page.client.stream("GET", "/pictures") as answer:
            again = next(pictures(answer.iter_lines()))

    assert again["queries"][0]["committed"] == 30


def test_a_picture_comes_although_nothing_happens(monkeypatch):
    monkeypatch.setattr(readers, "TICK_SECONDS", 0.05)
    with shown() as page, page.client.stream("GET", "/pictures") as answer:
        found = pictures(answer.iter_lines())
        next(found)
        page.clock.pass_(77)
        assert next(each for each in found if each["began_seconds"] == 77)


@pytest.mark.parametrize(
    ("problem", "word"),
    [(None, "ended"), (SinkUnavailable("no answer", remedy="Start it."), "stopped")],
    ids=["well", "by an error"],
)
def test_the_last_picture_says_how_the_run_ended_and_then_the_stream_is_over(problem, word):
    found: list[dict] = []
    got = threading.Event()

    def look(page: SimpleNamespace) -> None:
        with page.client.stream("GET", "/pictures") as answer:
            for each in pictures(answer.iter_lines()):
                found.append(each)
                got.set()

    with shown(problem=problem) as page:
        page.story.tell(*started(), *batch(0))
        reader = threading.Thread(target=look, args=[page])
        reader.start()
        assert got.wait(10)
    reader.join(10)

    assert not reader.is_alive()
    assert (found[-1]["word"], found[-1]["queries"][0]["committed"]) == (word, 1)
    assert found[-1]["ended"]
    assert [each["todo"] for each in found[-1]["troubles"]] == (["Start it."] if problem else [])


def test_nothing_answers_once_the_run_is_over():
    with shown() as page:
        assert page.ask("/picture.json").json()["job"] == "small"

    with pytest.raises(httpx.ConnectError):
        page.ask("/picture.json")


def test_a_browser_that_reads_nothing_holds_up_neither_events_nor_others_nor_the_end(monkeypatch):
    monkeypatch.setattr(server, "SEND_SECONDS", 0.3)
    monkeypatch.setattr(readers, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(readers, "LEAST_SECONDS", 0.0)
    small = readers.message
    monkeypatch.setattr(readers, "message", lambda picture: small(picture) + b": " + b"x" * 400_000 + b"\n\n")
    with shown() as page:
        page.story.tell(*started())
        asleep = socket.create_connection(("127.0.0.1", httpx.URL(page.url).port))
        asleep.sendall(b"GET /pictures HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with page.client.stream("GET", "/pictures") as answer:
            found = pictures(answer.iter_lines())
            for _ in range(100):  # 40 MB: more than the sockets on the way take
                next(found)
            page.story.tell(*batch(0))
            assert any(each["queries"][0]["committed"] == 1 for _, each in zip(range(10), found, strict=False))
        asleep.settimeout(10)
        received = 0
        while received < 40_000_000 and (chunk := asleep.recv(1 << 16)):
            received += len(chunk)
        asleep.close()
        assert received < 20_000_000, "it was dropped, and got no more than the sockets held"


def test_pages_beyond_the_most_are_turned_away(monkeypatch):
    monkeypatch.setattr(readers, "MOST", 1)
    with shown() as page, page.client.stream("GET", "/pictures") as answer:
        open_one = pictures(answer.iter_lines())
        next(open_one)
        further = page.ask("/pictures")

    assert further.status_code == 503
    assert "Close one" in further.text


def test_whoever_asks_for_the_head_of_the_stream_waits_for_nothing():
    with shown() as page:
        assert page.client.head("/pictures").headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize(
    "other",
    ['prefs={"theme":"dark"}', "consent=a b", "x[y]=1", 'id=1; sess="a;b"', "name=J\u00f6rg", "alone", "=", "streamproof_live=old"],
)
@pytest.mark.parametrize("order", [1, -1])
def test_cookies_of_other_pages_of_this_host_do_not_keep_anybody_out(other, order):
    headers = {"host": "box:9465", "cookie": "; ".join([other, f"streamproof_live_9465={TOKEN}"][::order])}

    assert Access(TOKEN).admits(headers)
    assert not Access("another-token-than-that").admits(headers)


@pytest.mark.parametrize("host", ["127.0.0.1:9465", "localhost:9465", "LOCALHOST", "[::1]:9465", "[::1]", "127.0.0.2:80"])
def test_names_of_this_machine_are_answered(host):
    assert Access().is_at({"host": host})


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:9465", "localhost.evil.example", "", "127.0.0.1.evil.example:80", "10.0.0.7"]
)
def test_a_name_of_another_machine_is_not(host):
    assert not Access().is_at({"host": host})


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_it_only_reads(method):
    with shown() as page:
        assert page.client.request(method, "/").status_code == 405


def test_a_port_that_is_taken_is_said_with_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken) as error:
            bound(str(port))

    assert f"The live page cannot be shown on 127.0.0.1:{port}: address already in use." in str(error.value)
    assert f"give another port: --live {port + 1}." in str(error.value)
    assert error.value.exit_code == 75


@pytest.mark.parametrize(
    ("host", "port", "proposed"),
    [
        ("127.0.0.1", 9463, "9466"),
        ("127.0.0.1", 9464, "9466"),
        ("127.0.0.1", 9465, "9466"),
        ("127.0.0.1", 8000, "8001"),
        ("127.0.0.1", 65_535, "0"),
        ("0.0.0.0", 8000, "0.0.0.0:8001"),
        ("::1", 8000, "[::1]:8001"),
    ],
)
def test_the_port_that_is_proposed_is_another_one_than_that_of_the_metrics_or_the_page(host, port, proposed, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(socket, "create_server", refused)

    with pytest.raises(PortTaken) as error:
        addresses.listening(host, port, server.WANTED)

    assert f"--live {proposed}." in error.value.remedy
    assert addresses.parsed(proposed, server.WANTED)[0] == host


@pytest.mark.parametrize("address", ["x", "70000", "host:", "1.2.3.4:x", "-1", "²"])
def test_what_is_no_address_is_said(address):
    with pytest.raises(ConfigurationError, match="is no address to show live page on"):
        bound(address)


def test_an_address_of_another_machine_is_said():
    with pytest.raises(ConfigurationError, match=r"cannot be shown on 203\.0\.113\.7:0") as error:
        bound("203.0.113.7:0")

    assert error.value.exit_code == 2, "a restart mends nothing"


def test_a_missing_library_is_said_before_the_job_starts(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)

    with pytest.raises(MissingExtra, match=r"streamproof\[live\]"):
        live.place("0", tmp_path)


# -- who may look ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/pictures", "/picture.json", "/nothing"])
def test_without_the_token_nothing_is_shown_and_it_says_what_to_do(path):
    with shown(Access(TOKEN, "in .streamproof/live-token")) as page:
        plain, form = page.ask(path), page.ask(path, headers={"Accept": "text/html"})

    for answer in (plain, form):
        assert answer.status_code == 401
        assert "small" not in answer.text
        assert "Authorization: Bearer" in answer.text
        assert "in .streamproof/live-token where the job runs" in answer.text
    assert '<input name="token"' in form.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer"},
        {"Cookie": f"{COOKIE}_PORT={TOKEN[:-1]}"},
        {"Cookie": f"{COOKIE}={TOKEN}"},
        {"Cookie": f"{COOKIE}_1={TOKEN}"},
        {"Cookie": f"other={TOKEN}"},
        {"Cookie": "\x01=;;="},
        {"Authorization": "Bearer ä".encode("latin-1")},
    ],
)
def test_what_is_not_the_token_is_refused(headers):
    with shown(Access(TOKEN)) as page:
        port = page.url.rpartition(":")[2].strip("/")
        given = {key: value.replace("PORT", port) if isinstance(value, str) else value for key, value in headers.items()}
        assert page.ask("/picture.json", headers=given).status_code == 401
        assert page.ask("/?token=wrong").status_code == 401


def test_with_the_token_it_is_shown_and_the_token_leaves_the_address_for_a_cookie():
    with shown(Access(TOKEN)) as page:
        bearer = page.ask("/picture.json", headers={"Authorization": f"Bearer {TOKEN}"})
        entered = page.ask("/", params={"token": TOKEN, "x": "1"})
        cookie = entered.headers["set-cookie"].lower()
        with page.client.stream("GET", "/pictures") as answer:  # the client has kept the cookie, as a browser does
            first = next(pictures(answer.iter_lines()))

    assert bearer.json()["job"] == "small"
    assert (entered.status_code, entered.headers["location"]) == (303, "/?x=1")
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert first["job"] == "small"


def test_the_token_is_in_no_log_and_in_no_answer(caplog, capfd):
    with caplog.at_level(logging.DEBUG), shown(Access(TOKEN)) as page:
        page.ask("/", params={"token": TOKEN})
        page.ask("/", params={"token": f"{TOKEN}x"})
        seen = page.ask("/").text + page.ask("/picture.json").text + page.ask("/nothing").text

    said = capfd.readouterr()
    logged = [one.getMessage() for one in caplog.records if not one.name.startswith("http")]  # those are the client's
    assert TOKEN not in "".join(logged) + said.out + said.err + seen + repr(Access(TOKEN))
    assert "GET" not in said.out + said.err


def test_a_page_of_another_site_that_gives_its_name_our_address_reads_nothing():
    with shown() as page:
        assert page.ask("/picture.json", headers={"Host": "evil.example"}).status_code == 421
        assert page.ask("/picture.json", headers={"Host": "localhost:9465"}).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.1"])
def test_on_this_machine_alone_it_takes_no_token(tmp_path, host):
    assert access_to(host, tmp_path) == Access()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "example.org"])
def test_a_token_is_made_and_kept_for_its_owner_alone(tmp_path, monkeypatch, host):
    monkeypatch.delenv(VARIABLE, raising=False)
    first, again = access_to(host, tmp_path), access_to(host, tmp_path)
    path = tmp_path / ".streamproof" / "live-token"

    assert first.token == again.token == path.read_text().strip()
    assert len(first.token) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert access_to(host, tmp_path).token != first.token, "others could have read it"


def test_a_token_of_the_environment_goes_first_and_must_not_be_short(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, TOKEN)
    assert access_to("0.0.0.0", tmp_path) == Access(TOKEN, f"in {VARIABLE}")
    monkeypatch.setenv(VARIABLE, "short")

    with pytest.raises(ConfigurationError) as error:
        access_to("0.0.0.0", tmp_path)

    assert "short" not in str(error.value)
    assert "At least 16" in str(error.value)


def test_a_token_that_cannot_be_kept_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / ".streamproof").write_text("a file")

    with pytest.raises(ConfigurationError, match="cannot be kept") as error:
        access_to("0.0.0.0", tmp_path)

    assert VARIABLE in str(error.value)


def test_the_token_is_compared_in_a_time_that_tells_nothing(monkeypatch):
    asked = []
    monkeypatch.setattr("hmac.compare_digest", lambda one, other: asked.append((one, other)) or one == other)

    assert not Access(TOKEN).knows("x")
    assert Access(TOKEN).knows(TOKEN)
    assert asked == [(b"x", TOKEN.encode()), (TOKEN.encode(), TOKEN.encode())]


def test_a_clock_that_jumps_is_on_the_page():
    with shown() as page:
        page.story.tell(*started())
        page.clock.jump(timedelta(hours=3))
        page.story.tell(*batch(0))
        assert page.ask("/picture.json").json()["jump"]["seconds"] == 10_800


def test_the_run_goes_on_where_the_server_is_gone():
    with shown() as page:
        page.story.tell(*started())
    page.story.tell(*batch(0))

    assert page.board.now()["queries"][0]["committed"] == 1
