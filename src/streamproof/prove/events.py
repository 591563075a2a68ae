"""The events of a proof while it runs, typed, in the order in which they come."""

from collections.abc import Callable
from dataclasses import dataclass

from streamproof.core.verdict import Verdict


@dataclass(frozen=True)
class Preparing:
    """What is done before the job runs for the first time, such as "starting Spark"."""

    what: str


@dataclass(frozen=True)
class Started:
    """The proof begins; `noun` is what an event is called ("trades"), `master` where Spark runs ("local[2]").

    `touches` says what it can touch, and what keeps it from the rest; `settings` with which settings of Spark it runs, where that is not known from
    a configuration.
    """

    job: str
    events: int
    noun: str
    seed: int
    batches: int
    spark: str
    master: str
    touches: str = ""
    settings: str = ""


@dataclass(frozen=True)
class Recording:
    """`batch` of `batches` of the fault-free run are recorded."""

    batch: int
    batches: int


@dataclass(frozen=True)
class Recorded:
    """The recording is done: durable steps, disks that differ, live crashes, how long it took, and how many faults beside."""

    steps: int
    distinct: int
    live: int
    seconds: float
    others: int = 0


@dataclass(frozen=True)
class Planned:
    """The crash points of the recorded run, such as "publish/exposure@3:after", in the order in which they come."""

    points: tuple[str, ...]


@dataclass(frozen=True)
class Proving:
    """`done` of `total` scenarios have a verdict; `scenario` is the id of one that runs; the time left where it can be said."""

    done: int
    total: int
    scenario: str
    seconds_left: float | None = None


@dataclass(frozen=True)
class Judged:
    """A scenario has a verdict, which is that of these crash points too; `says` is the first thing that is wrong."""

    scenario: str
    verdict: Verdict
    points: tuple[str, ...]
    says: str = ""


@dataclass(frozen=True)
class Failed:
    """A scenario has failed; `seconds` counts from the start."""

    scenario_id: str
    seconds: float


@dataclass(frozen=True)
class Shrinking:
    """A failing scenario is made smaller: after so many tries the smallest that fails has so many events, batches and faults.

    `seconds_left` of `seconds` are left.
    """

    tries: int
    events: int
    batches: int
    faults: int
    seconds_left: float
    seconds: float


@dataclass(frozen=True)
class Finished:
    """Every scenario has a verdict, or the proof was cut short; the report is written."""


Event = Preparing | Started | Recording | Recorded | Planned | Proving | Judged | Failed | Shrinking | Finished
Listener = Callable[[Event], None]
