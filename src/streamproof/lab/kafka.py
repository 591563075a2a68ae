"""Apache Kafka in KRaft mode, one to three brokers, each broker and controller in one process."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

from streamproof.core.ids import new_id
from streamproof.errors import LabError
from streamproof.lab.answering import by_kafka
from streamproof.lab.process import Process, done_within, free_ports, java
from streamproof.lab.service import Service, empty
from streamproof.lab.toxiproxy import Proxy, Toxiproxy
from streamproof.runtime.spark.artifacts import Progress, fetched

_JAVA = (
    *("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"),
    *("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true"),
)
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@dataclass
class Broker:
    """One broker, by its number from 1."""

    number: int
    port: int
    controller_port: int
    folder: Path
    process: Process | None = None
    behind_port: int = 0
    login_port: int = 0
    line: Proxy | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        return self.folder / "kafka-data"

    @property
    def properties(self) -> Path:
        return self.folder / "server.properties"


@dataclass
class KafkaCluster(Service):
    """A cluster of its own, empty at its start; what its brokers keep survives `kill` and `restart`.

    Parameters
    ----------
    folder
        Where configuration, data and logs go.
    brokers
        One, or three with every topic on all of them.
    through
        A proxy: each broker then has a line through it too, and clients that come by a line are told the lines of the others.
    users
        Who may come by `login_url`, with their passwords (SASL_PLAINTEXT, PLAIN).
    """

    folder: Path
    brokers: int = 1
    through: Toxiproxy | None = None
    users: Mapping[str, str] = field(default_factory=dict)
    progress: Progress | None = None
    _members: dict[int, Broker] = field(default_factory=dict)
    _command: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The bootstrap servers."""
        return ",".join(broker.address for broker in self._members.values())

    @property
    def login_url(self) -> str:
        """The bootstrap servers for clients that log in."""
        return ",".join(f"127.0.0.1:{broker.login_port}" for broker in self._members.values())

    @property
    def lines(self) -> tuple[Proxy, ...]:
        """The lines through the proxy, by broker."""
        return tuple(broker.line for broker in self._members.values() if broker.line is not None)

    def start(self) -> Self:
        """Starts every broker and waits until each answers.

        Raises
        ------
        LabError, EnvironmentProblem
            If a jar cannot be fetched, a broker does not come up, or there is no Java.
        """
        jars = fetched("kafka", self.progress)
        self._command = (*java(), *_JAVA, "-cp", f"{jars}/*")
        ports = free_ports(4 * self.brokers)
        for number in range(1, self.brokers + 1):
            folder = self.folder / f"broker-{number}"
            broker = Broker(number, ports.pop(), ports.pop(), folder, behind_port=ports.pop(), login_port=ports.pop())
            if self.through is not None:
                broker.line = self.through.line(f"kafka-{number}", f"127.0.0.1:{broker.behind_port}")
            self._members[number] = broker
        cluster = base64.urlsafe_b64encode(bytes.fromhex(new_id())).decode().rstrip("=")
        for broker in self._members.values():
            empty(broker.data)
            broker.properties.write_text(self._properties(broker))
            self._format(broker, cluster)
        for broker in self._members.values():
            self._launch(broker)
        for broker in self._members.values():
            self._ready(broker)
        return self

    @staticmethod
    def answers(address: str) -> bool:
        return by_kafka(address)

    def stop(self) -> None:
        for broker in self._members.values():
            if broker.process is not None:
                broker.process.kill()

    def kill(self, number: int) -> None:
        """Ends a broker as kill -9 does."""
        self._process(number).kill()

    def pause(self, number: int) -> None:
        """A broker that holds its connections and answers nothing."""
        self._process(number).pause()

    def resume(self, number: int) -> None:
        self._process(number).resume()

    def restart(self, number: int) -> None:
        """Starts a broker again on its own data and port, after having ended it where it still runs; waits until it answers."""
        broker = self._member(number)
        if broker.process is not None:
            broker.process.stop(30)
        self._launch(broker)
        self._ready(broker)

    @property
    def dead(self) -> str:
        processes = (broker.process for broker in self._members.values())
        return next((process.ended for process in processes if process is not None and process.ended), "")

    def revive(self) -> None:
        """Starts again the brokers that are dead."""
        for number in self._members:
            if not self._process(number).running:
                self.restart(number)

    def _member(self, number: int) -> Broker:
        if number not in self._members:
            raise LabError(f"There is no broker {number}.", required=f"The brokers are 1 to {self.brokers}.")
        return self._members[number]

    def _process(self, number: int) -> Process:
        process = self._member(number).process
        assert process is not None, "a cluster that was started has a process for each broker"
        return process

    def _properties(self, broker: Broker) -> str:
        voters = ",".join(f"{each.number}@127.0.0.1:{each.controller_port}" for each in self._members.values())
        at_least = min(2, self.brokers)
        listeners = {"PLAINTEXT": (broker.address, broker.address)}
        if broker.line is not None:
            listeners["LINE"] = (f"127.0.0.1:{broker.behind_port}", broker.line.address)
        if self.users:
            listeners["LOGIN"] = (f"127.0.0.1:{broker.login_port}", f"127.0.0.1:{broker.login_port}")
        settings = {
            "process.roles": "broker,controller",
            "node.id": broker.number,
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(
                [*(f"{name}://{at}" for name, (at, _) in listeners.items()), f"CONTROLLER://127.0.0.1:{broker.controller_port}"]
            ),
            "advertised.listeners": ",".join(f"{name}://{told}" for name, (_, told) in listeners.items()),
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LINE:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
            "log.dirs": broker.data,
            "default.replication.factor": self.brokers,
            "min.insync.replicas": at_least,
            "offsets.topic.replication.factor": self.brokers,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": self.brokers,
            "transaction.state.log.min.isr": at_least,
            "transaction.state.log.num.partitions": 1,  # one broker coordinates all transactions: a fault knows whom to hit
            "group.initial.rebalance.delay.ms": 0,
            # A broker that died is noticed, and may come back, within seconds.
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
            "controller.quorum.election.timeout.ms": 500,
            "controller.quorum.fetch.timeout.ms": 1000,
            "log.message.timestamp.after.max.ms": 9223372036854775807,
            "auto.create.topics.enable": "false",
        }
        if self.users:
            known = " ".join(f'user_{name}="{password}"' for name, password in self.users.items())
            settings["listener.name.login.sasl.enabled.mechanisms"] = "PLAIN"
            settings["listener.name.login.plain.sasl.jaas.config"] = f"{_PLAIN} required {known};"
        return "".join(f"{key}={value}\n" for key, value in settings.items())

    def _format(self, broker: Broker, cluster: str) -> None:
        format_ = [*self._command, "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(broker.properties)]
        done = done_within(180, f"Making the storage of Kafka broker {broker.number}", format_)
        if done.returncode:
            raise LabError(
                f"The storage of Kafka broker {broker.number} could not be made.", required=(done.stdout + done.stderr)[-1000:]
            )

    def _launch(self, broker: Broker) -> None:
        command = [*self._command, "kafka.Kafka", str(broker.properties)]
        broker.process = Process(f"Kafka broker {broker.number}", command, broker.folder / "kafka.log")

    def _ready(self, broker: Broker) -> None:
        assert broker.process is not None
        ports = [broker.port, *([broker.behind_port] if broker.line else []), *([broker.login_port] if self.users else [])]
        for port in ports:  # it opens them one by one, and ends where one is taken
            broker.process.ready(partial(by_kafka, f"127.0.0.1:{port}"))
