"""A proof touches nothing real: a server on another port of this machine, and a folder beside the job, from Python, from C and from the JVM."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import streamproof as sp
from services.conftest import needs
from streamproof.errors import StreamproofError
from streamproof.prove.process import apart
from streamproof.prove.subjects.pyspark.preparation import Wanted

ONCE = "fault-free"


@pytest.fixture
def real(tmp_path: Path) -> Path:
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "kept.txt").write_text("kept")
    return folder


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Nobody may have connected to it in the end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening
        with pytest.raises(BlockingIOError):
            listening.accept()


def untouched(real: Path) -> bool:
    return [path.name for path in real.iterdir()] == ["kept.txt"] and (real / "kept.txt").read_text() == "kept"


def written(folder: Path, code: str) -> None:
    (folder / "job.py").write_text(code)
    (folder / "clicks.jsonl").write_text("".join(json.dumps({"id": n, "user": f"u{n % 3}"}) + "\n" for n in range(30)))


REFUSED = {
    "a checkpoint folder that is removed at the start": (
        "    shutil.rmtree(real, ignore_errors=True)\n    return clicks\n",
        "job.py line 3: the job writes or removes {real}",
    ),
    "a writer that is not bound": (
        "    write = lambda rows, n: rows.write.mode('append').xml(real + '/rows', rowTag='row')\n"
        "    clicks.writeStream.foreachBatch(write).start()\n",
        "job.py line 3: the job writes or removes {real}/rows",
    ),
    "a folder that Hadoop removes": (
        "    jvm = spark._jvm\n    path = jvm.org.apache.hadoop.fs.Path(real)\n"
        "    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)\n    return clicks\n",
        "job.py line 5: the job writes or removes {real}",
    ),
    "a file of Java's own": (
        "    spark._jvm.java.io.FileWriter(real + '/new.txt').close()\n    return clicks\n",
        "job.py line 3: the job writes or removes {real}/new.txt",
    ),
    "a function that runs in a task": (
        "    def noted(user):\n        open(real + '/new.txt', 'a').write(user)\n        return user\n"
        "    return clicks.withColumn('user', F.udf(noted)('user'))\n",
        "job.py line 4: the job writes or removes {real}/new.txt",
    ),
    "a socket of Python": (
        "    socket.create_connection(('127.0.0.1', port))\n    return clicks\n",
        "job.py line 3: the job tried to connect to 127.0.0.1:{port}",
    ),
    "a socket of the JVM": (
        "    spark._jvm.java.net.Socket('127.0.0.1', port)\n    return clicks\n",
        "job.py line 3: the job tried to connect to 127.0.0.1:{port}",
    ),
    "a client library in C": (
        "    import psycopg\n    psycopg.connect(f'postgresql://me@127.0.0.1:{{port}}/shop')\n    return clicks\n",
        "job.py line 4: the job calls psycopg.connect, which connects by C code",
    ),
}


@pytest.mark.parametrize(("body", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_without_namespaces_a_real_place_is_refused_with_the_line_of_the_job(body, said, real, server, tmp_path, monkeypatch):
    port = server.getsockname()[1]
    head = "import os, shutil, socket; from pyspark.sql import functions as F; real, port = os.environ['REAL'], int(os.environ['PORT'])\n"
    written(tmp_path, f"{head}def job(spark, clicks):\n{body.format(port=port)}")
    monkeypatch.chdir(tmp_path)
    wanted = Wanted("job.py:job", {"clicks": "clicks.jsonl"}, environment={"REAL": str(real), "PORT": str(port)}, as_is=True)

    with pytest.raises(StreamproofError) as refused:
        sp.prove(wanted.target, job=wanted, quick=True, batches=2, only=ONCE)

    assert said.format(real=real, port=port) in str(refused.value)
    assert "Make the path an argument" in str(refused.value) or "--allow-host" in str(refused.value)
    assert untouched(real)


TRIES = """
import ctypes, json, os, socket, subprocess
from pathlib import Path

from pyspark.sql import functions as F

real, port = os.environ["REAL"], int(os.environ["PORT"])


def attempts(place):
    c = ctypes.CDLL(None)
    yield "C", lambda: c.unlink(f"{real}/kept.txt".encode()) and 1 / 0
    yield "C", lambda: c.open(f"{real}/new.txt".encode(), 0o101, 0o644) < 0 and 1 / 0
    yield "another program", lambda: subprocess.run(["rm", "-rf", real], check=True, stderr=subprocess.DEVNULL)
    yield "another program", lambda: subprocess.run(["sh", "-c", f"echo x > {real}/new.txt"], check=True, stderr=subprocess.DEVNULL)
    yield "libpq", lambda: __import__("psycopg").connect(f"postgresql://me@127.0.0.1:{port}/shop?connect_timeout=2")


def done(place):
    found = []
    for name, attempt in attempts(place):
        try:
            attempt()
            found.append(name)
        except Exception:
            pass
    return ", ".join(found)


def job(spark, clicks):
    jvm = spark._jvm
    for write in (lambda: jvm.java.io.FileWriter(f"{real}/new.txt").close(), lambda: jvm.java.net.Socket("127.0.0.1", port).close(),
                  lambda: jvm.java.io.File(f"{real}/kept.txt").delete() or 1 / 0):
        try:
            write()
            raise SystemExit("the JVM has done it")
        except Exception:
            pass
    assert not done("driver"), done("driver")
    Path(os.environ["MINE"]).write_text("mine")
    return clicks.withColumn("done", F.udf(done)("user"))
"""


def test_the_kernel_keeps_real_places_from_c_from_other_programs_and_from_the_jvm(real, server, tmp_path):
    if not _allowed():
        pytest.skip("this system does not allow namespaces")
    written(tmp_path, TRIES)

    done = prove_by_command(
        tmp_path, "--env", f"REAL={real}", "--env", f"PORT={server.getsockname()[1]}", "--env", "MINE={folder}/mine.txt"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "it will touch        its own folder and temporary files, and services that it starts. The kernel keeps the rest"
        in done.stdout
    )
    assert untouched(real)
    report = json.loads((tmp_path / ".streamproof" / "runs" / "0001" / "report.json").read_text())
    assert not [note for note in report["notes"] if "Not kept from real places" in note]


@pytest.mark.full
def test_where_namespaces_are_not_allowed_the_proof_says_what_nothing_keeps(tmp_path):
    written(tmp_path, "def job(clicks):\n    return clicks\n")

    done = prove_by_command(tmp_path, **{apart.SWITCH: "off"})

    assert done.returncode == 0, done.stdout + done.stderr
    assert "The kernel keeps" not in done.stdout
    assert (
        f"Not kept from real places ({apart.SWITCH} is off): connections and files of other C code and programs that" in done.stdout
    )


@pytest.mark.full
@pytest.mark.service
def test_the_executors_that_a_proof_starts_have_a_folder_that_they_may_write_to(tmp_path):
    """Spark's worker starts no executor without one: the job ended before the executor could be killed, and the fault did not fire."""
    if not _allowed():
        pytest.skip("this system does not allow namespaces")
    needs("kafka")
    shutil.copytree(Path(__file__).parents[2] / "examples" / "payments", tmp_path / "payments")

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "streamproof",
            "prove",
            "payments",
            "--only",
            "*executor-killed*",
            "--events",
            "200",
            "--batches",
            "2",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "every fault fired" in done.stdout


def prove_by_command(folder: Path, *arguments: str, **environment: str) -> Any:
    command = [sys.executable, "-m", "streamproof", "prove", "job.py:job", "--input", "clicks=clicks.jsonl", "--as-is", "--quick"]
    return subprocess.run(
        [*command, "--batches", "2", "--only", ONCE, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def _allowed() -> bool:
    asked = "from streamproof.prove.process import apart; print(apart.enter(network=True).files)"
    return subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.strip() == "True"
