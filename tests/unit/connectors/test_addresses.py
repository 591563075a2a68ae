"""What is shown of a URL never holds a part of its password; what is no whole URL is refused without its text."""

import pytest

from streamproof.config import HttpSink, RedisSink
from streamproof.connectors.addresses import address_of
from streamproof.errors import ConfigurationError

redis_sink = pytest.importorskip("streamproof.connectors.redis.sink")
http_sink = pytest.importorskip("streamproof.connectors.http.sink")
database = pytest.importorskip("streamproof.connectors.postgres.database")

SECRETS = ("Zq@Zq", "Zq/Zq", "Zq?Zq", "Zq#Zq", "Zq:Zq", "12/Zq", "12#Zq", "[Zq]", "Zq%zz/")


def shown(kind: str, url: str) -> str:
    """Where a sink says that it writes, or the error that it raises."""
    try:
        if kind == "redis":
            return redis_sink.HashSink.where(RedisSink(connector="redis", url=url, key="id", prefix="p:"))
        if kind == "http":
            return http_sink.CallSink.where(HttpSink(connector="http", url=url, key="id"))
        return database.where_of(url, "kept")
    except ConfigurationError as problem:
        return str(problem)


@pytest.mark.parametrize("password", SECRETS)
@pytest.mark.parametrize("user", ["", "me"])
@pytest.mark.parametrize(
    ("kind", "scheme"), [("redis", "redis"), ("redis", "rediss"), ("http", "https"), ("postgres", "postgresql")]
)
def test_no_part_of_a_password_is_shown(kind, scheme, user, password):
    said = shown(kind, f"{scheme}://{user}:{password}@host:6379/0")

    assert "zq" not in said.lower()


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("redis://host", "redis://host:6379/0/p:"),
        ("rediss://me:p%40ss@host:7000/3", "redis://host:7000/3/p:"),
        ("redis://me:p@ss@host/1", "redis://host:6379/1/p:"),
        ("redis://[::1]:6379", "redis://[::1]:6379/0/p:"),
    ],
)
def test_a_redis_url_is_shown_by_server_and_database(url, where):
    assert shown("redis", url) == where


def test_an_http_url_is_shown_without_user_and_query():
    assert shown("http", "https://me:secret@host:8443/payments?token=secret") == "https://host:8443/payments"


@pytest.mark.parametrize(
    "url", ["host:6379", "redis://", "redis://host:port", "ftp://host", "redis://host:99999", "redis://[::1", ""]
)
def test_what_is_no_url_is_a_configuration_error_with_an_example(url):
    with pytest.raises(ConfigurationError) as problem:
        address_of(url, "a redis sink", ("redis",), "redis://host:6379/0")

    assert "A url of a redis sink cannot be read." in str(problem.value)
    assert "redis://host:6379/0" in problem.value.required
    assert "%40" in problem.value.remedy
