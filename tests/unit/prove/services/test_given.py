"""Services that run already: what cannot be given is refused, names are the proof's own, no password is shown."""

from pathlib import Path

import pytest

from streamproof.errors import ConfigurationError, LabError
from streamproof.lab.process import free_ports
from streamproof.prove.faults.catalogue import all_faults
from streamproof.prove.plan.on_services import _lacking
from streamproof.prove.services import Services, given

NEEDED = ("kafka", "postgres", "redis", "api")


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("api", "http://host/", "An API cannot be given"),
        ("oracle", "host", '"oracle" is no service that can be given'),
        ("postgres", "", "address that is given for postgres cannot be read"),
        ("postgres", "mysql://host/db", "address that is given for postgres cannot be read"),
        ("postgres", "postgresql://me@host/db?port=1", "address that is given for postgres cannot be read"),
        ("postgres", "postgresql://one,two/db", "address that is given for postgres cannot be read"),
        ("kafka", "host:port", "address that is given for kafka cannot be read"),
        ("kafka", "PLAINTEXT://host:9092", "address that is given for kafka cannot be read"),
        ("kafka", "one:9092, two:9092", "address that is given for kafka cannot be read"),
        ("redis", "redis://host:x", "address that is given for redis cannot be read"),
        ("registry", "http://host:1", "The job is not bound to registry"),
        ("redis", "redis://host:1", "cannot hold a job's own stores"),
    ],
)
def test_what_cannot_be_given_is_refused(name, url, said):
    with pytest.raises(ConfigurationError, match=said):
        given.required({name: url}, NEEDED, ("redis",))


@pytest.mark.parametrize("url", ["postgresql://me:secret@127.0.0.1:{}/db", "redis://:secret@127.0.0.1:{}", "http://127.0.0.1:{}"])
def test_one_that_does_not_answer_is_named_without_its_password(url):
    name = {"postgresql": "postgres", "http": "registry"}.get(url.partition(":")[0], "redis")
    (port,) = free_ports(1)
    with pytest.raises(LabError, match=rf"{name} at .*127.0.0.1:{port}.* cannot be used for a proof: ") as problem:
        given.required({name: url.format(port)}, (*NEEDED, "registry"), ())
    assert "secret" not in str(problem.value)


def test_every_host_is_allowed_and_no_password_is_shown():
    services = {"kafka": "one:9092,two:9092", "postgres": "postgresql://user:secret@three/db"}

    assert given.hosts(services) == ("one", "two", "three")
    assert given.server("postgres", services["postgres"]) == "three:5432"
    assert given.service_at("postgres", services["postgres"]).shown == "postgresql://user@three/db"
    assert given.service_at("postgres", "postgresql://h/db?password=x&sslmode=require").shown == "postgresql://h/db?sslmode=require"
    assert given.service_at("kafka", services["kafka"]).shown == services["kafka"]
    assert given.server("redis", "redis://[::1]:6380") == "[::1]:6380"


def test_names_begin_with_the_proof_where_others_may_have_theirs():
    services = {"postgres": "postgresql://host/db"}
    one, two = (Services(Path(), NEEDED, given=services) for _ in range(2))

    assert one.prefix == one.prefix != two.prefix
    assert Services(Path(), NEEDED).prefix == ""


def test_a_service_that_is_not_the_proofs_is_neither_killed_nor_emptied():
    urls = {"kafka": "host:9092", "postgres": "postgresql://host/db", "redis": "redis://host"}
    outside = Services(Path(), NEEDED, brokers=3, given=urls)
    outside.lines.update(dict.fromkeys(("postgres", "redis", "api"), ()))
    tried = {fault.name for fault in all_faults() if fault.service in NEEDED and not _lacking(fault, outside)}

    assert tried >= {"postgres-partition", "postgres-answer-lost", "redis-latency", "api-broken"}
    assert not tried & {
        "database-restarted",
        "connection-lost",
        "broker-killed",
        "kafka-partition",
        "redis-emptied",
        "redis-restarted",
    }


def test_without_a_proxy_it_is_the_proxy_that_is_lacking():
    outside = Services(Path(), NEEDED, given={"postgres": "postgresql://host/db"})
    (slow,) = (fault for fault in all_faults() if fault.name == "postgres-latency")

    assert "lab fetch toxiproxy" in _lacking(slow, outside)
