"""Client libraries that connect from C are refused where the kernel does not keep them from real places."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
{before}
from streamproof.prove.process import guard
guard.install(guard.Limits(hosts=("db.allowed",), ports=(15001,)))
import confluent_kafka, psycopg2, pyodbc
import duckdb
from confluent_kafka.admin import AdminClient
def tried(connect):
    try:
        return connect()
    except guard.HostRefused as refused:
        return "refused"
print(tried(lambda: psycopg2.connect(host="127.0.0.1", port=5432)), tried(lambda: psycopg2.connect(host="127.0.0.1", port=15001)))
print(tried(lambda: psycopg2.connect("host=db.allowed")), tried(lambda: pyodbc.connect("Server=10.0.0.1,15001")))
print(tried(lambda: confluent_kafka.Producer({{"bootstrap.servers": "127.0.0.1:9092"}})), tried(lambda: AdminClient({{}})))
print(tried(lambda: duckdb.connect()), tried(lambda: duckdb.connect(":memory:")), tried(lambda: duckdb.connect("md:real")))
"""


@pytest.mark.parametrize("before", ["", "import confluent_kafka, psycopg2, duckdb, pyodbc, confluent_kafka.admin"])
def test_what_connects_from_c_is_refused_unless_the_place_is_of_the_proof(before, tmp_path):
    (tmp_path / "confluent_kafka").mkdir()
    for module, names in {
        "psycopg2": ["connect"],
        "pyodbc": ["connect"],
        "duckdb": ["connect"],
        "confluent_kafka/__init__": ["Producer"],
        "confluent_kafka/admin": ["AdminClient"],
    }.items():
        (tmp_path / f"{module}.py").write_text("".join(f"def {name}(*a, **k):\n    return 'connected'\n" for name in names))

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(before=before), str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == [
        "refused connected",
        "connected refused",
        "refused refused",
        "connected connected refused",
        "",
    ]
