"""Kafka in a proof: a topic for each output of each scenario."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamproof.config import KafkaSink, RegistryConfig, ServiceSink
from streamproof.lab.kafka import KafkaCluster
from streamproof.prove.services.kind import Given, Kind, OwnPlace, Reader
from streamproof.prove.services.names import TOPIC, own_name

if TYPE_CHECKING:
    from streamproof.lab.service import Service
    from streamproof.lab.toxiproxy import Proxy, Toxiproxy


class GivenKafka(Given):
    """Brokers, without login. They tell clients where they are, so the proxy cannot stand before them."""

    example, port = "host:9092,host:9092", 9092
    has_lines = False

    @property
    def readable(self) -> bool:
        try:
            parts = [urlsplit(f"//{each}") for each in self.url.split(",")]
            return all(each.hostname and each.port and each.netloc == each.geturl()[2:] for each in parts) and " " not in self.url
        except ValueError:
            return False

    @property
    def servers(self) -> list[tuple[str, int]]:
        parts = [urlsplit(f"//{each}") for each in self.url.split(",")]
        return [(str(each.hostname), each.port or self.port) for each in parts]

    @property
    def shown(self) -> str:
        return self.url

    def ask(self) -> None:
        from streamproof.connectors.kafka.client import topics

        topics(self.url, {})

    def leave(self, begins: str) -> None:
        from streamproof.connectors.kafka.client import topics
        from streamproof.prove.services.topics import remove

        left = [name for name in topics(self.url, {}) if name.startswith(begins)]
        if left:
            remove(self.url, left)


class OwnTopics(OwnPlace):
    """Topics. All scenarios share the servers, so each topic has a name of its own, and is made before the job starts."""

    words = ("kafka",)
    means, client = "topics of Kafka", ("confluent_kafka", "kafka")
    example = "BROKERS={kafka} --env TOPIC={kafka.topic:totals}"

    def values(self, server: str, scenario: str, number: int, topics: Sequence[str]) -> dict[str, str]:
        return {"kafka": server, **{f"{TOPIC}{topic}": f"{own_name(scenario)}.{topic}" for topic in topics}}

    def open(self, server: str, values: Mapping[str, str]) -> None:
        from streamproof.prove.services.topics import make

        make(server, self._topics(values))

    def close(self, server: str, values: Mapping[str, str]) -> None:
        from streamproof.prove.services.topics import remove

        remove(server, self._topics(values))

    @staticmethod
    def _topics(values: Mapping[str, str]) -> list[str]:
        return [name for word, name in values.items() if word.startswith(TOPIC)]


class Kafka(Kind):
    """Brokers of Kafka."""

    name, called = "kafka", "Kafka"
    given, own_place = GivenKafka, OwnTopics()

    def start(self, folder: Path, brokers: int, proxy: "Toxiproxy | None") -> KafkaCluster:
        return KafkaCluster(folder / self.name, brokers, proxy)

    def lines(self, running: "Service", proxy: "Toxiproxy | None") -> "Sequence[Proxy]":
        assert isinstance(running, KafkaCluster), "the lab's service of this name"
        return running.lines

    def bound(self, sink: ServiceSink, scenario: str, output: str, urls: Mapping[str, str]) -> ServiceSink:
        assert isinstance(sink, KafkaSink), "a sink of this service"
        registry = None if sink.registry is None else RegistryConfig(url=urls["registry"])
        of_its_own = {"topic": f"{scenario}-{output}", "subject": None, "registers": True, "registry": registry}
        return sink.model_copy(update={"servers": urls["kafka"], "options": {}, **of_its_own})

    @property
    def reader(self) -> Reader:
        from streamproof.prove.services.topics import Topics

        return Topics()
