"""Ephemeral services for tests and demos: real ones, on free ports, gone with the process that started them.

Each is a context manager: `with KafkaCluster(folder, brokers=3) as kafka: kafka.url`. What has to be downloaded is in `runtime/spark/artifacts.toml`,
with checksums; `streamproof lab` starts them from the command line.
"""

from streamproof.lab.api import PaymentsApi
from streamproof.lab.kafka import KafkaCluster
from streamproof.lab.postgres import Postgres
from streamproof.lab.prometheus import Prometheus
from streamproof.lab.redis import Redis
from streamproof.lab.registry import Registry
from streamproof.lab.s3 import S3
from streamproof.lab.spark import SparkCluster
from streamproof.lab.toxiproxy import Toxiproxy

__all__ = ["S3", "KafkaCluster", "PaymentsApi", "Postgres", "Prometheus", "Redis", "Registry", "SparkCluster", "Toxiproxy"]
