"""A proof touches nothing real: the socket guard, tried in a process of its own."""

import socket
import subprocess
import sys

import pytest

from streamproof.prove.process import guard

SCRIPT = """
import socket
from streamproof.prove.process import guard
guard.install(guard.Limits({allowed!r}))
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


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ("guard.Limits()", "refused"),
        ("guard.Limits(ports=guard.ports_of([f'redis://127.0.0.1:{port}/0']))", "reached"),
        ("guard.Limits(own_network=True)", "reached"),
        ("guard.Limits(hosts=('127.0.0.1',))", "reached"),
    ],
)
def test_of_this_machine_only_what_the_proof_has_started_is_reached(limits, found):
    script = f"""
import asyncio, socket, sys
from streamproof.prove.process import guard
port = int(sys.argv[1])
guard.install({limits})
def tried(connect):
    try:
        connect()
        return "reached"
    except guard.HostRefused:
        return "refused"
print(*(tried(connect) for connect in (
    lambda: socket.create_connection(("127.0.0.1", port)),
    lambda: socket.socket().connect_ex(("127.0.0.1", port)),
    lambda: asyncio.run(asyncio.open_connection("127.0.0.1", port)),
)))
with socket.create_server(("127.0.0.1", 0)) as own:
    print(tried(lambda: socket.create_connection(own.getsockname())))
"""
    with socket.create_server(("127.0.0.1", 0)) as real:
        done = subprocess.run(
            [sys.executable, "-c", script, str(real.getsockname()[1])], capture_output=True, text=True, check=True, timeout=60
        )

    assert done.stdout.split() == [found, found, found, "reached"]


WRITES = {
    "open": "open(real / 'new.txt', 'w')",
    "append": "open(real / 'kept.txt', 'a')",
    "pathlib": "(real / 'kept.txt').write_text('x')",
    "os.open": "os.open(real / 'new.txt', os.O_CREAT | os.O_RDWR)",
    "remove": "(real / 'kept.txt').unlink()",
    "rename": "os.rename(real / 'kept.txt', own / 'kept.txt')",
    "mkdir": "os.makedirs(real / 'a' / 'b')",
    "rmdir": "os.rmdir(real)",
    "rmtree": "shutil.rmtree(real)",
    "rmtree that ignores errors": "shutil.rmtree(real, ignore_errors=True)",
    "rmtree of what is not there yet": "shutil.rmtree(real / 'checkpoint', ignore_errors=True)",
    "copy": "shutil.copy(own / 'mine.txt', real / 'mine.txt')",
    "move": "shutil.move(own / 'mine.txt', real)",
    "symlink": "os.symlink(own, real / 'link')",
    "through a link": "open(own / 'link' / 'new.txt', 'w')",
    "chmod": "os.chmod(real / 'kept.txt', 0o600)",
    "truncate": "os.truncate(real / 'kept.txt', 0)",
    "sqlite": "sqlite3.connect(real / 'new.db')",
    "gzip": "gzip.open(real / 'new.gz', 'wb')",
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_write_to_a_real_place_is_refused_with_the_line_of_the_job_also_where_it_goes_on(write, tmp_path):
    real, own = tmp_path / "real", tmp_path / "own"
    real.mkdir()
    own.mkdir()
    (real / "kept.txt").write_text("kept")
    (own / "mine.txt").write_text("mine")
    (own / "link").symlink_to(real)
    job = tmp_path / "job.py"
    job.write_text(
        f"import gzip, os, shutil, sqlite3, tempfile\nfrom pathlib import Path\n"
        f"def run(real, own):\n    open(own / 'a', 'w').close(); os.makedirs(own / 'b' / 'c'); shutil.rmtree(own / 'b')\n"
        f"    os.makedirs(real, exist_ok=True); (real / 'kept.txt').read_text(); open('/dev/null', 'w').close()\n"
        f"    try:\n        {write}\n    except OSError:\n        pass\n"
    )
    script = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import job
from streamproof.prove.process import guard
real, own = Path(sys.argv[1]) / "real", Path(sys.argv[1]) / "own"
guard.install(guard.Limits(folders=(str(own),), record=str(own / "refused")))
job.run(real, own)
print(guard.refused(str(own / "refused")))
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("job.py line 7: the job writes or removes ")
    assert "--set NAME={folder}/..." in done.stdout
    assert [path.name for path in real.iterdir()] == ["kept.txt"]
    assert (real / "kept.txt").read_text() == "kept"


def test_a_host_that_is_allowed_by_name_is_not_refused() -> None:
    assert connect("name.invalid", ("name.invalid",)).startswith("tried")


def test_a_host_that_is_allowed_may_be_reached_by_its_address(monkeypatch):
    """Clients of HTTP and Redis resolve a name themselves, and connect to what it stands for."""
    monkeypatch.setattr(
        guard.socket, "getaddrinfo", lambda name, _: [(2, 1, 6, "", ("192.0.2.7", 0))] if name == "cache.test" else []
    )

    assert guard._with_addresses(["cache.test", "other.test"]) == {"cache.test", "other.test", "192.0.2.7"}
