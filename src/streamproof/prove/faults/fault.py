"""What a fault on a service is."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from streamproof.core.phases import Phase, Side, StepName
from streamproof.lab.kafka import KafkaCluster
from streamproof.lab.service import SingleProcess
from streamproof.prove.faults.planned import ALONE

if TYPE_CHECKING:
    from streamproof.config import SinkConfig, SourceConfig
    from streamproof.lab.service import Service
    from streamproof.lab.toxiproxy import Proxy

OUTAGE_SECONDS = 2.0
"""How long a service that comes back by itself stays away: longer than the first pauses of those who try again."""


@dataclass
class Struck:
    """What a fault finds when its step is taken.

    Parameters
    ----------
    services, lines
        Those that run, by their names, and the lines to each through the proxy.
    bound
        What the output or the source of the step is bound to in this scenario.
    process
        The JVM whose task takes the step, 0 where it is not taken by a task.
    stopped_by
        Once the job has ended: the kind of error that stopped it, empty if none.
    second_driver
        Runs the job once more on the same checkpoint, from a process and a JVM of its own, to its end.
    kept
        What a fault remembers for its end.
    """

    services: Mapping[str, "Service"]
    lines: Mapping[str, Sequence["Proxy"]]
    bound: "SinkConfig | SourceConfig | None"
    second_driver: Callable[[], None]
    process: int = 0
    stopped_by: str = ""
    kept: dict[str, Any] = field(default_factory=dict)
    _timer: threading.Timer | None = None

    def later(self, do: Callable[[], None]) -> None:
        """Does something once the outage is over, unless the scenario has ended before: its end does the same."""
        timer = threading.Timer(OUTAGE_SECONDS, do)
        timer.daemon = True
        timer.start()
        self._timer = timer

    def end(self) -> None:
        """Nothing is done later any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()


def revive(service: "Service | None") -> None:
    """Starts what a fault has left dead."""
    if isinstance(service, SingleProcess | KafkaCluster):
        service.revive()


def nothing(_: Struck) -> None:
    """Nothing has to be done."""


def at_once(_: Struck) -> bool:
    """What was done to the service itself was met when it was done."""
    return True


@dataclass(frozen=True)
class Aim:
    """At which steps a fault can strike.

    Parameters
    ----------
    sides
        On which sides of a step: what cuts a transaction needs one.
    among
        What the names of the steps hold; empty for all.
    own_sinks
        Whether at the steps of a job's own sink too.
    """

    sides: tuple[Side, ...] = (Side.BEFORE, Side.AFTER)
    among: str = ""
    own_sinks: bool = True

    def takes(self, step: StepName) -> bool:
        return step.side in self.sides and self.among in step.kind


@dataclass(frozen=True)
class ServiceFault:
    """One fault.

    Parameters
    ----------
    name
        The end of a scenario's id: "connection-lost".
    service
        Whom it hits, by its name in the lab.
    words
        What happens, as a sentence without its end.
    strike
        Does it, while the step waits.
    mend
        Ends it once the job has ended.
    make_ready
        Done before the job is started.
    met
        Whether the job has met it, asked after `mend`: a slow line that nobody used proves nothing.
    by_line
        Whether the job goes through the proxy.
    on_cluster
        Whether the job runs on the lab's Spark cluster.
    brokers
        How many brokers it takes at least.
    aim
        At which steps it can strike.
    over_next_batch
        Whether it lasts until the driver has died after the manifest of the next batch, and has been started again.
    """

    name: str
    service: str
    words: str
    strike: Callable[[Struck], None]
    mend: Callable[[Struck], None] = nothing
    make_ready: Callable[[Struck], None] = nothing
    met: Callable[[Struck], bool] = at_once
    by_line: bool = False
    on_cluster: bool = False
    brokers: int = 1
    aim: Aim = Aim()
    over_next_batch: bool = False

    @staticmethod
    def dies_at(step: StepName) -> StepName:
        """Where the driver dies while the step's batch waits, if it does: after the manifest of the next one."""
        return replace(step, phase=Phase.STAGE, kind="manifest", batch=step.batch + 1, side=Side.AFTER, number=1)

    @property
    def line(self) -> str:
        """The service that is reached through the proxy, empty for none."""
        return self.service if self.by_line else ""

    @property
    def lane(self) -> str:
        """What faults may not be done at the same time: those on one line to a service, those that take processes; others need all."""
        if self.by_line:
            return self.service
        return "processes" if self.service in ("spark", "driver") else ALONE


@dataclass(frozen=True)
class Strike:
    """A fault on a service as a plan has it: with the output or the source that its step belongs to."""

    fault: ServiceFault
    on: str

    @property
    def name(self) -> str:
        return self.fault.name

    @property
    def words(self) -> str:
        return self.fault.words

    @property
    def lane(self) -> str:
        return self.fault.lane

    @property
    def line(self) -> str:
        return self.fault.line
