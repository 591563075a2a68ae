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


REAL = """
import sys
sys.path.insert(0, sys.argv[1])
from streamproof.prove.process import guard
guard.install(guard.Limits(ports=(15001,)))
import confluent_kafka, MySQLdb
from confluent_kafka.admin import AdminClient
class Own(confluent_kafka.Producer):
    def __init__(self, servers):
        super().__init__({"bootstrap.servers": servers})
def tried(make):
    try:
        return type(make()).__name__
    except guard.HostRefused:
        return "refused"
print(tried(lambda: AdminClient({"bootstrap.servers": "127.0.0.1:15001"})), tried(lambda: AdminClient({"bootstrap.servers": "127.0.0.1:9092"})))
print(tried(lambda: Own("127.0.0.1:15001")), tried(lambda: Own("127.0.0.1:9092")))
print(tried(lambda: MySQLdb.Connection("127.0.0.1", 15001)), tried(lambda: MySQLdb.Connection("127.0.0.1")))
print(isinstance(Own("127.0.0.1:15001"), confluent_kafka.Producer))
"""
MYSQL = """
class Base:
    pass
class Connection(Base):
    def __init__(self, *a, **k):
        super(Connection, self).__init__()
"""


def test_classes_that_connect_stay_classes(tmp_path):
    """A client of the library's, and one of the job's own, inherits from them; some name themselves in what they call."""
    (tmp_path / "MySQLdb.py").write_text(MYSQL)

    done = subprocess.run([sys.executable, "-c", REAL, str(tmp_path)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["AdminClient refused", "Own refused", "Connection refused", "True", ""]
