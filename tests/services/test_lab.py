"""The lab's services are real: each answers in its own protocol, can be killed and come back, and is gone with its parent."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import confluent_kafka
import psycopg
import pytest
import redis
from confluent_kafka.admin import AdminClient, NewTopic
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from full_tables import full
from services.conftest import needs
from streamproof.cli.main import main
from streamproof.errors import LabError
from streamproof.lab import KafkaCluster, PaymentsApi, Postgres, Redis, Registry, SparkCluster, Toxiproxy, supervisor
from streamproof.lab.process import Process, free_ports, until
from streamproof.lab.service import SingleProcess
from streamproof.lab.services import silent
from streamproof.prove.faults.fault import ServiceFault, Struck
from streamproof.prove.faults.stores import FAULTS

pytestmark = pytest.mark.service


@pytest.fixture(autouse=True, scope="module")
def _fetched() -> None:
    needs("kafka", "registry", "postgres", "redis", "toxiproxy")


def produced(bootstrap: str, topic: str, values: list[str]) -> None:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "request.timeout.ms": 3_000,
            "delivery.timeout.ms": 60_000,
            "api.version.request.timeout.ms": 1_000,
        }
    )
    failed: list[object] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda problem, _: failed.append(problem) if problem else None)
    assert producer.flush(70) == 0
    assert failed == []


def consumed(bootstrap: str, topic: str, count: int) -> list[str]:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "lab", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe([topic])
    found: list[str] = []
    until(
        lambda: found.extend(message.value().decode() for message in consumer.consume(100, 1)) or len(found) >= count,
        "messages",
        40,
    )
    consumer.close()
    return found


def with_topic(bootstrap: str, topic: str, replicas: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 2, replicas)])[topic].result(20)


@pytest.mark.full
def test_one_broker_keeps_what_it_acknowledged_through_a_kill(tmp_path: Path):
    with KafkaCluster(tmp_path) as kafka:
        with_topic(kafka.url, "trades", 1)
        produced(kafka.url, "trades", ["a", "b"])
        kafka.kill(1)
        kafka.restart(1)
        produced(kafka.url, "trades", ["c"])

        assert sorted(consumed(kafka.url, "trades", 3)) == ["a", "b", "c"]


@pytest.mark.full
def test_a_broker_that_ends_because_one_of_its_ports_is_taken_is_no_broker(tmp_path: Path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([*free_ports(3), taken.getsockname()[1]])
        monkeypatch.setattr("streamproof.lab.kafka.free_ports", lambda count: [next(ports) for _ in range(count)][::-1])

        with pytest.raises(LabError, match=r"Kafka broker 1 .* it ended"):
            KafkaCluster(tmp_path, users={"risk": "right"}).start()

    assert "Address already in use" in (tmp_path / "broker-1" / "kafka.log").read_text()


@pytest.mark.full
def test_three_brokers_go_on_without_one_and_while_one_is_paused(tmp_path: Path):
    with KafkaCluster(tmp_path, brokers=3) as kafka:
        with_topic(kafka.url, "trades", 3)
        kafka.kill(1)
        produced(kafka.url, "trades", ["without one"])
        kafka.restart(1)
        kafka.pause(2)
        produced(kafka.url, "trades", ["while one sleeps"])
        kafka.resume(2)

        assert sorted(consumed(kafka.url, "trades", 2)) == ["while one sleeps", "without one"]
        with pytest.raises(LabError, match="There is no broker 4"):
            kafka.kill(4)


@pytest.mark.full
def test_the_registry_refuses_an_incompatible_schema(tmp_path: Path):
    with Registry(tmp_path) as registry:
        client = SchemaRegistryClient({"url": registry.url})
        client.register_schema(
            "trades-value", Schema('{"type":"record","name":"T","fields":[{"name":"id","type":"string"}]}', "AVRO")
        )
        client.set_compatibility("trades-value", "BACKWARD")
        changed = '{"type":"record","name":"T","fields":[{"name":"id","type":"string"},{"name":"client","type":"string"}]}'

        assert client.test_compatibility("trades-value", Schema(changed, "AVRO")) is False


@pytest.mark.full
def test_the_registry_keeps_what_it_has_registered_through_a_kill(tmp_path: Path):
    with Registry(tmp_path) as registry:
        asked = SchemaRegistryClient({"url": registry.url})
        number = asked.register_schema("trades-value", Schema('"string"', "AVRO"))
        registry.kill()
        registry.restart()

        assert SchemaRegistryClient({"url": registry.url}).get_subjects() == ["trades-value"]
        assert SchemaRegistryClient({"url": registry.url}).get_schema(number).schema_str == '"string"'


def test_postgres_keeps_what_was_committed_and_nothing_else_through_a_kill(tmp_path: Path):
    with Postgres(tmp_path) as postgres:
        with psycopg.connect(postgres.url) as connection:
            connection.execute("create table t (v text)")
            connection.execute("insert into t values ('committed')")
        open_one = psycopg.connect(postgres.url)
        open_one.execute("insert into t values ('not committed')")
        postgres.kill()
        postgres.restart()
        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("select v from t").fetchall() == [("committed",)]


@pytest.mark.full
def test_redis_keeps_its_keys_through_a_kill(tmp_path: Path):
    with Redis(tmp_path) as server:
        redis.Redis.from_url(server.url).set("k", "v")
        server.kill()
        server.restart()

        assert redis.Redis.from_url(server.url).get("k") == b"v"


def answers(service: SingleProcess) -> bool:
    """Whether a client of its protocol reaches a service within a second or two; the lab itself says the same."""
    reached = _reached(service)
    assert service.answers(service.url) == reached
    return reached


def _reached(service: SingleProcess) -> bool:
    try:
        if isinstance(service, Postgres):
            psycopg.connect(service.url, connect_timeout=2).close()
        elif isinstance(service, Redis):
            redis.Redis.from_url(service.url, socket_timeout=1, retry=None).ping()
        else:
            paths = {Registry: "/subjects", Toxiproxy: "/version", PaymentsApi: "/_up"}
            urlopen(f"{service.url}{paths[type(service)]}", timeout=1).close()
    except (psycopg.OperationalError, redis.RedisError, OSError):
        return False
    return True


@pytest.mark.parametrize("kind", [Postgres, *full(Redis, Registry, Toxiproxy, PaymentsApi)])
def test_a_service_can_be_paused_and_killed_and_comes_back_where_it_was(kind: type[SingleProcess], tmp_path: Path):
    with kind(tmp_path) as service:
        url = service.url
        assert answers(service)
        service.pause()
        assert not answers(service)
        service.resume()
        assert answers(service)
        assert service.dead == ""
        service.kill()
        assert not answers(service)
        assert "has ended" in service.dead
        service.restart()
        assert service.dead == ""
        assert answers(service)
        service.restart()
        assert answers(service)
        assert service.url == url
    assert not answers(service)


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.service == "api"], ids=lambda each: each.name)
def test_an_api_that_nobody_calls_while_it_is_overloaded_has_been_met_by_nobody(fault: ServiceFault, tmp_path: Path):
    def called() -> None:
        with suppress(HTTPError):
            urlopen(Request(f"{api.url}/payments", data=b"{}", headers={"Idempotency-Key": "k"}, method="POST")).close()

    with PaymentsApi(tmp_path) as api:
        struck = Struck(services={"api": api}, lines={}, bound=None, second_driver=lambda: None)
        called()
        fault.strike(struck)
        assert not fault.met(struck)
        called()
        struck.end()
        fault.mend(struck)
        called()

        assert fault.met(struck)
        assert api.met() == 1


def test_the_lines_of_a_proxy_come_back_with_it(tmp_path: Path):
    with Redis(tmp_path / "redis") as server, Toxiproxy(tmp_path / "toxiproxy") as proxy:
        line = proxy.line("redis", server.url.split("/")[2])
        proxy.kill()
        proxy.restart()

        assert redis.Redis.from_url(f"redis://{line.address}/0", retry=None).ping()


def test_toxiproxy_delays_and_cuts_a_line(tmp_path: Path):
    with Redis(tmp_path / "redis") as server, Toxiproxy(tmp_path / "toxiproxy") as proxy:
        line = proxy.line("redis", server.url.split("/")[2])
        client = redis.Redis.from_url(f"redis://{line.address}/0", retry=None)
        assert client.ping()
        line.toxic("latency", latency=300)
        before = time.monotonic()
        assert client.ping()
        assert time.monotonic() - before > 0.25
        line.cut()
        with pytest.raises(redis.ConnectionError):
            client.ping()
        line.mend()
        assert client.ping()


@pytest.mark.full
def test_a_spark_cluster_has_its_workers(tmp_path: Path):
    with SparkCluster(tmp_path, workers=2) as cluster:
        assert cluster.url.startswith("spark://127.0.0.1:")
        with urlopen(f"{cluster.page}/json/") as answer:
            assert json.load(answer)["aliveworkers"] == 2


@pytest.fixture
def streamproof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., str]]:
    """Runs `streamproof lab` in a folder of its own, expects an exit code, returns what it printed; whatever is up is taken down."""
    monkeypatch.chdir(tmp_path)

    def lab(*arguments: str, code: int = 0) -> str:
        found = main(["lab", *arguments])
        printed = capsys.readouterr()
        assert found == code, printed
        return printed.out

    yield lab
    main(["lab", "down"])


def where(name: str) -> str:
    state = supervisor.state_of(Path(".streamproof", "lab").absolute())
    assert state is not None
    return state.urls[name]


@pytest.mark.full
def test_a_lab_comes_up_again_in_its_folder_and_is_empty(streamproof):
    services = ("kafka", "postgres", "redis")
    streamproof("up", *services)
    with_topic(where("kafka"), "trades", 1)
    redis.Redis.from_url(where("redis")).set("k", "v")
    with psycopg.connect(where("postgres")) as connection:
        connection.execute("create table t (v text)")
    streamproof("down")
    streamproof("up", *services)

    assert all(name in streamproof("status") for name in services)
    assert "trades" not in AdminClient({"bootstrap.servers": where("kafka")}).list_topics(timeout=10).topics
    assert redis.Redis.from_url(where("redis")).get("k") is None
    with psycopg.connect(where("postgres")) as connection, pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("select * from t")


def test_a_second_lab_in_the_folder_is_refused_while_the_first_runs(streamproof, capsys):
    streamproof("up", "api")

    assert main(["lab", "up", "api"]) == 1
    assert "A lab is running in" in capsys.readouterr().err
    assert where("api") in streamproof("status")


def test_status_says_which_service_does_not_answer(streamproof):
    streamproof("up", "redis", "api")
    redis.Redis.from_url(where("redis")).shutdown(nosave=True)

    found = streamproof("status", code=1).splitlines()

    assert found[0].endswith("does not answer")
    assert found[1].endswith(where("api"))


@pytest.mark.full
def test_status_names_the_broker_that_does_not_answer(tmp_path: Path):
    with KafkaCluster(tmp_path, brokers=3) as kafka:
        kafka.kill(2)

        assert silent({"kafka": kafka.url}) == {"kafka": [kafka.url.split(",")[1]]}


PARENT = """
import sys
from pathlib import Path
from streamproof.lab.process import Process
process = Process("sleeper", ["sleep", "600"], Path(sys.argv[1]))
print(process.pid, flush=True)
sys.stdin.read()
"""


def test_a_service_dies_with_its_parent_however_that_ends(tmp_path: Path):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "log")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    service = int(parent.stdout.readline())
    os.kill(service, 0)
    parent.kill()
    parent.wait()

    until(lambda: not alive(service), "the service to be gone", 10)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_service_that_ends_says_its_last_words(tmp_path: Path):
    process = Process("broken", ["sh", "-c", "echo 'no such option' >&2; exit 3"], tmp_path / "log")

    with pytest.raises(LabError, match="no such option"):
        process.ready(lambda: False, 10)


def test_a_program_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(LabError, match="no-such-program"):
        Process("missing", ["/no-such-program"], tmp_path / "log")


def test_a_paused_process_is_ended_too(tmp_path: Path):
    process = Process("sleeper", ["sleep", "600"], tmp_path / "log")
    process.pause()
    process.stop()

    assert not process.running
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, signal.SIGCONT)
