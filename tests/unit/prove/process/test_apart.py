"""A proof touches nothing real: what the kernel keeps from it, tried in processes of their own, from Python and from C."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from streamproof.errors import StreamproofError
from streamproof.prove.process import apart, served

HEAD = """
import ctypes, os, socket, subprocess, sys, tempfile
from pathlib import Path
from streamproof.prove.process import apart
c = ctypes.CDLL(None, use_errno=True)
class Address(ctypes.Structure):
    _fields_ = [("family", ctypes.c_ushort), ("port", ctypes.c_ushort), ("host", ctypes.c_uint32), ("rest", ctypes.c_char * 8)]
def reached_from_c(port):
    made = c.socket(2, 1, 0)
    return c.connect(made, ctypes.byref(Address(2, socket.htons(port), socket.htonl(0x7f000001), b"")), 16) == 0
def reached(place, family=socket.AF_INET):
    with socket.socket(family) as made:
        return made.connect_ex(place) == 0
apart.enter(network={network})
real, port = Path(sys.argv[1]), int(sys.argv[2])
"""


@pytest.fixture
def listener() -> Iterator[int]:
    """A server of this machine that the proof has not started."""
    with socket.create_server(("127.0.0.1", 0)) as real:
        yield real.getsockname()[1]


@pytest.fixture
def real(tmp_path: Path) -> Path:
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "kept.txt").write_text("kept")
    return folder


def run(script: str, *arguments: object, network: bool = True, **environment: str) -> list[str]:
    command = [sys.executable, "-c", HEAD.format(network=network) + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("not allowed here"):
        pytest.skip(done.stdout)
    return done.stdout.splitlines()


ALLOWED = """
if not apart.state().files:
    print("not allowed here:", apart.state().why)
    sys.exit()
"""


def test_a_server_of_this_machine_is_not_reached_from_python_nor_from_c(real, listener, tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "database.sock"))
        server.listen()
        tried = f"""
print(reached(("127.0.0.1", port)), reached_from_c(port), reached({str(tmp_path / "database.sock")!r}, socket.AF_UNIX))
with socket.create_server(("127.0.0.1", 0)) as own:
    print(reached(own.getsockname()), reached_from_c(own.getsockname()[1]))
"""
        assert run(ALLOWED + tried, real, listener) == ["False False False", "True True"]


def test_a_server_that_comes_later_is_hidden_before_anything_runs(real, listener, tmp_path):
    place = tmp_path / "later.sock"
    helper = f"""
import subprocess as _processes
_started = []
def start(script):
    made = _processes.Popen([sys.executable, "-c", script], stdout=_processes.PIPE)
    made.stdout.readline()
    _started.append(made)
    return Path({str(place)!r}).is_socket()
def stop():
    _started.pop().kill()
"""
    tried = f"""
starts = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind({str(place)!r}); s.listen(); print(flush=True); time.sleep(30)"
print(apart.do_outside(start, starts))
apart.hide_servers()
print(reached({str(place)!r}, socket.AF_UNIX))
apart.do_outside(stop)
"""
    script = HEAD.replace("apart.enter(", helper.replace("{", "{{").replace("}", "}}") + "apart.enter(")
    command = [sys.executable, "-c", script.format(network=True) + ALLOWED + tried, str(real), str(listener)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.stdout.startswith("not allowed here"):
        pytest.skip(done.stdout)

    assert done.stdout.splitlines() == ["True", "False"], done.stderr


def test_the_memory_of_the_machine_is_no_place_for_a_report_and_one_for_what_goes_with_the_proof(real, listener):
    tried = """
from streamproof.errors import EnvironmentProblem
apart.writable(Path("/dev/shm/streamproof-scratch"))
try:
    apart.require_lasting(Path("/dev/shm/streamproof-report"))
    print("taken")
except EnvironmentProblem as refused:
    print("of its own" in str(refused))
"""
    assert run(ALLOWED + tried, real, listener) == ["True"]


def test_a_network_that_is_wanted_stays_while_files_are_kept(real, listener):
    tried = """
print(reached_from_c(port), apart.state().network)
print(c.unlink(str(real / "kept.txt").encode()))
"""
    assert run(ALLOWED + tried, real, listener, network=False) == ["True False", "-1"]


def test_real_files_are_neither_written_nor_removed_from_python_c_or_another_program(real, listener):
    tried = """
for write in (lambda: (real / "new.txt").write_text("x"), lambda: (real / "kept.txt").unlink(), lambda: os.chmod(real, 0o700)):
    try:
        write()
        print("done")
    except OSError as refused:
        print(refused.errno)
print(c.open(str(real / "new.txt").encode(), 0o101, 0o644), c.unlink(str(real / "kept.txt").encode()))
print(subprocess.run(["rm", "-rf", str(real)], stderr=subprocess.DEVNULL).returncode)
"""
    assert run(ALLOWED + tried, real, listener) == ["30", "30", "30", "-1 -1", "1"]
    assert [path.name for path in real.iterdir()] == ["kept.txt"]


def test_what_a_proof_needs_can_be_written_and_is_there_for_others(real, listener, tmp_path):
    tried = f"""
own = Path({str(tmp_path)!r}) / "job" / ".streamproof"
apart.writable(own)
(own / "report.json").write_text("found")
print((own / "report.json").read_text(), Path(tempfile.mkdtemp()).is_dir(), os.getuid(), open("/dev/null", "w").write("x"))
import multiprocessing
multiprocessing.get_context("spawn").Lock()
print(apart.do_outside(len, "four"), tempfile.gettempdir())
"""
    first, second = run(ALLOWED + tried, real, listener)

    assert first == f"found True {os.getuid()} 1"
    assert (tmp_path / "job" / ".streamproof" / "report.json").read_text() == "found"
    called, temporary = second.split()
    assert called == "4"
    assert not Path(temporary).exists()


def test_a_system_without_namespaces_is_said_and_left_as_it_is(real, listener):
    said = run("print(apart.state().why, reached_from_c(port))", real, listener, **{apart.SWITCH: "off"})

    assert said == [f"{apart.SWITCH} is off True"]


def test_threads_that_ask_outside_at_the_same_time_get_their_own_answers(monkeypatch):
    ours, its = socket.socketpair()
    monkeypatch.setattr(apart, "_helper", ours)

    def answer() -> None:
        for _ in range(24):
            _, (asked,) = apart.receive(its)
            time.sleep(0.005)
            apart.send(its, (asked, None))

    threading.Thread(target=answer, daemon=True).start()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(apart.do_outside, abs, number) for number in range(24)]
        assert [each.result(20) for each in asked] == list(range(24))


def test_where_the_process_outside_has_ended_it_is_said(monkeypatch):
    ours, its = socket.socketpair()
    monkeypatch.setattr(apart, "_helper", ours)
    its.close()

    with pytest.raises(StreamproofError, match="has ended, and did not answer"):
        apart.do_outside(abs, 1)
    assert not apart.can_ask_outside()


def _tells(*, told: int, listener, end) -> object:
    for number in range(told):
        listener(number)
    return apart.state()


def _raises(*, listener, end) -> object:
    raise OSError(30, "no")


def test_a_function_is_called_in_a_process_that_is_set_apart(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import test_apart as importable

    heard: list[int] = []
    found = served.call(importable._tells, {"told": 3}, heard.append, network=True)

    assert heard == [0, 1, 2]
    assert found.network is found.files
    with pytest.raises(OSError, match="no"):
        served.call(importable._raises, {}, None, network=True)
    served._end_all()


def test_between_calls_it_ends_without_a_word_and_removes_its_temporary_files(monkeypatch, capfd, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    import test_apart as importable

    for _ in range(5):
        served.call(importable._tells, {"told": 1}, None, network=True)
        served._end_all()

    assert capfd.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []
