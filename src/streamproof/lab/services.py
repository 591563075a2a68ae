"""The services by the names that `streamproof lab` knows them by."""

from collections.abc import Mapping
from pathlib import Path

from streamproof.lab import toxiproxy
from streamproof.lab.api import PaymentsApi
from streamproof.lab.kafka import KafkaCluster
from streamproof.lab.postgres import Postgres
from streamproof.lab.redis import Redis
from streamproof.lab.registry import Registry
from streamproof.lab.s3 import S3
from streamproof.lab.service import Service, SingleProcess
from streamproof.lab.spark import SparkCluster
from streamproof.runtime.spark.artifacts import Progress, bundles, fetched

_KINDS: Mapping[str, type[KafkaCluster] | type[SparkCluster] | type[SingleProcess]] = {
    "kafka": KafkaCluster,
    "registry": Registry,
    "postgres": Postgres,
    "redis": Redis,
    "s3": S3,
    "toxiproxy": toxiproxy.Toxiproxy,
    "api": PaymentsApi,
    "spark": SparkCluster,
}


def silent(urls: Mapping[str, str]) -> dict[str, list[str]]:
    """The addresses, of services by their names, where nothing answers: of three brokers each by its own."""
    asked = {name: [at for at in url.split(",") if not _KINDS[name].answers(at)] for name, url in urls.items()}
    return {name: addresses for name, addresses in asked.items() if addresses}


def service(name: str, folder: Path, *, brokers: int = 1) -> Service:
    """A service by its name, not started; its logs go below the folder."""
    if name == "kafka":
        return KafkaCluster(folder / name, brokers=brokers)
    return _KINDS[name](folder / name)


def there(name: str) -> bool:
    """Whether nothing has to be fetched for a service."""
    if name == "toxiproxy":
        return toxiproxy.found() is not None
    return name not in bundles() or bundles()[name].there


def fetch(name: str, progress: Progress | None = None) -> None:
    """Downloads or builds what a service needs beside Python packages.

    Raises
    ------
    LabError
        If it cannot be had.
    """
    if name in bundles():
        fetched(name, progress)
    elif name == "toxiproxy":
        toxiproxy.build()
