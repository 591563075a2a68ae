"""What data is called in a catalogue: a namespace and a name, by the naming convention of OpenLineage.

https://openlineage.io/docs/spec/naming. Passwords are in neither.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Dataset:
    """A namespace, such as "kafka://host:9092", and a name in it."""

    namespace: str
    name: str


def of_path(path: str) -> Dataset:
    """A folder: on this machine "file" and its path; in a store the scheme with the bucket or the server, and the key or the path there."""
    parts = urlsplit(path)
    if parts.scheme in ("", "file") or len(parts.scheme) == 1:
        return Dataset("file", parts.path if parts.scheme == "file" else path)
    scheme = {"s3a": "s3", "s3n": "s3"}.get(parts.scheme, parts.scheme)
    key = parts.path.strip("/") if scheme in _OF_KEYS else parts.path
    return Dataset(f"{scheme}://{parts.netloc}", key or "/")


_OF_KEYS = ("s3", "gs", "wasbs")
"""Stores whose names are keys, and not paths."""


def of_topics(servers: str, topics: Sequence[str]) -> tuple[Dataset, ...]:
    """Topics of Kafka; of several bootstrap servers the first names the cluster."""
    server = servers.split(",")[0].strip()
    return tuple(Dataset(f"kafka://{server if ':' in server else f'{server}:9092'}", topic) for topic in topics)


def of_table(url: str, table: str) -> Dataset:
    """A table of PostgreSQL: "database.schema.table", in the schema public unless it is named."""
    if "://" not in url:  # libpq's other form
        given = dict(re.findall(r"(\w+)\s*=\s*(\S+)", url))
        url = f"postgresql://{given.get('host', 'localhost')}:{given.get('port', 5432)}/{given.get('dbname', '')}"
    server, database = _server(url, 5432)
    return Dataset(f"postgres://{server}", f"{database or 'postgres'}.{table if '.' in table else f'public.{table}'}")


def of_keys(url: str, prefix: str) -> Dataset:
    """Keys of Redis that begin alike. OpenLineage has no convention for Redis: it is the server, and "database.prefix"."""
    server, database = _server(url, 6379)
    return Dataset(f"redis://{server}", f"{database or '0'}.{prefix}")


def of_api(url: str) -> Dataset:
    """What an API takes. OpenLineage has no convention for it: it is the server, and the path."""
    parts = urlsplit(url)
    return Dataset(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path or "/")


def _server(url: str, port: int) -> tuple[str, str]:
    """The server with its port, without user and password, and what stands as the path."""
    parts = urlsplit(url)
    host, _, given = parts.netloc.rpartition("@")[2].partition(",")[0].rpartition(":")
    named = (
        f"{host}:{given}"
        if host and given.isdigit()
        else f"{parts.netloc.rpartition('@')[2].partition(',')[0] or 'localhost'}:{port}"
    )
    return named, parts.path.strip("/")
