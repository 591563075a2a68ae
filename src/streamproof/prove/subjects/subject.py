"""The protocol of what is proved: recording, plan, children, faults and report know a subject by this alone."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.core.notes import Note
from streamproof.errors import ScenarioError
from streamproof.prove.artifacts.comparing import PublishedRows
from streamproof.prove.checkers import CheckResult
from streamproof.prove.lineage.kept import KeptEvent, ToKeep
from streamproof.prove.process.spark_settings import OURS, RARE
from streamproof.prove.process.task import ChildResult
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.paths import Layout

if TYPE_CHECKING:
    from streamproof.prove.faults.planned import Injector
    from streamproof.prove.plan.planning import ScenarioPlan
    from streamproof.prove.process.children import Children
    from streamproof.prove.process.engine import Engine
    from streamproof.prove.record.recording import Recording
    from streamproof.prove.scenario.exactly import Exactly
    from streamproof.prove.scenario.generate import Event
    from streamproof.prove.services import Services


REPEATABLE = "repeatable"
"""The check of two runs without any fault: where it fails, what a crash does cannot be told from what every start does."""
Run = Callable[[str, ScenarioBinding, Mapping[str, str]], ChildResult]
"""Runs the subject: a name, where, with which settings of Spark beside its own."""


@dataclass(frozen=True)
class Judged:
    """What a subject says of the disk of a scenario.

    Parameters
    ----------
    checks
        What every checker says that the subject has the means for.
    account
        By place of the account how many records; empty where the subject has no account.
    batches
        For the report: number, watermark, rows, files and attempts of each batch.
    evidence
        What the subject wants to see again when it writes its part of the report; kept of the fault-free run alone.
    published
        What the published rows sum up to, where it was asked for.
    """

    checks: Sequence[CheckResult]
    account: Mapping[str, int] = field(default_factory=dict)
    batches: Sequence[Mapping[str, Any]] = ()
    evidence: Any = None
    published: PublishedRows | None = None


class Subject(ABC):
    """What is proved, bound to the events of a scenario.

    Parameters
    ----------
    name
        What people call it.
    noun
        What one of its events is called.
    folder
        Where the proof works.
    engine
        The warm JVM.
    """

    name: str
    noun: str
    folder: Path
    engine: "Engine"
    prefix = ""
    """What the names of its scenarios begin with, where they are names in services that others use too."""
    rare = RARE
    """The settings of its second recording, which make the rare things happen."""

    @property
    def masked(self) -> bool:
        """Whether values of its rows are somebody's, and may stand in no report."""
        return False

    # -- where it runs

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The paths of a scenario's folder, for the table from paths to steps."""

    @abstractmethod
    def binding(self, name: str, *, recording: str | None = None, trace: bool = True, by_line: str = "") -> ScenarioBinding:
        """Where a scenario of this name lies; `trace` says whether its events carry trace ids, if the subject can have them."""

    @abstractmethod
    def child(self) -> Mapping[str, Any]:
        """What a child is told, as JSON: the module that runs it (`process.runners`), and what that needs to find it again."""

    def require_services(self, *, look: bool) -> None:  # noqa: B027 -- most subjects have none
        """LabError where a service of the proof has died; `look` says whether to look now, or to go by what is known."""

    def open_places(self, name: str) -> None:  # noqa: B027 -- most subjects have nothing to do here
        """Makes the places of a scenario outside its folder."""

    def close_places(self, name: str) -> None:  # noqa: B027 -- most subjects have nothing to do here
        """Removes them."""

    def collect(self, folder: Path) -> None:  # noqa: B027 -- most subjects have nothing to do here
        """Brings what a scenario has left elsewhere to its folder."""

    def carry(self, recorded: Path, folder: Path) -> None:  # noqa: B027 -- most subjects have nothing to do here
        """Gives a disk that a crash has left what the subject knows of the recorded run beside its files."""

    def foresee(self) -> None:  # noqa: B027 -- most subjects have nothing to do here
        """Works out what needs no run: it is done while the subject is recorded."""

    def learn(self, folder: Path, notes: Sequence[Note], run: Run) -> None:  # noqa: B027 -- most subjects know it before
        """Looks at the first run, of which some things can be seen for the first time: its notes too. `run` runs the subject again, elsewhere."""

    def made(self) -> "Mapping[str, Sequence[Event]]":
        """By source the events that were made for it; none where it has none of its own."""
        return {}

    # -- what is tried

    @abstractmethod
    def plans(
        self, recordings: Mapping[str, "Recording"], *, full: bool, quick: bool
    ) -> tuple[list["ScenarioPlan"], tuple[str, ...]]:
        """The scenarios beside the fault-free one, and in words which faults could not be tried here."""

    def injectors(self, children: "Children") -> Sequence["Injector"]:
        """Who does the faults that its plans have beside crashes, each with what it needs of this subject; none where they have none."""
        return ()

    def remedy(self, folder: Path) -> bool:
        """Does what a person has to do where the subject does not start on a scenario's folder; whether there is such a thing."""
        return False

    # -- whether it is right

    @abstractmethod
    def judge(self, folder: Path, *, power_failure: bool, rerun: Sequence[int], keep_rows: bool) -> Judged:
        """Reads what a scenario has left in its folder and lets every checker look at it; `rerun` are the batches that ran twice."""

    def alerts(self, folder: Path, fault: str) -> Sequence[CheckResult]:
        """What is wrong with the alerts that a scenario has raised whose fault has fired; nothing where it is not asked."""
        return ()

    @abstractmethod
    def compare(self, one: "Recording", other: "Recording") -> Sequence[CheckResult]:
        """What two runs without any fault must have in common; `other` is without trace ids."""

    def called(self, trace: str) -> str:
        """What people call an event."""
        return f"{self.noun} {trace}"

    # -- what is said

    def lineage_events(self) -> Sequence[KeptEvent]:
        """The events that can be followed after the proof; none where a subject keeps nothing."""
        return ()

    def lineage(self, evidence: Any) -> Sequence[ToKeep] | None:
        """What each query of a scenario did with them, for who asks after the proof; `evidence` is what `judge` has read. None where it is not known."""
        return None

    @abstractmethod
    def report(self, evidence: Any) -> dict[str, Any]:
        """Its part of the report: job, title, events, noun, notes, not_exercised, not_compared, not_checked, event_time, outputs."""

    @abstractmethod
    def close(self) -> None:
        """Removes what the proof has written and nobody needs any more."""


class Preparation(ABC):
    """What becomes a subject once Spark and the services run.

    Parameters
    ----------
    name, noun, seed, batches, events
        For the first line that people see; `events` is how many records there are in all.
    records
        How many records there are to be held, over all inputs.
    settings
        In words with which settings of Spark it runs, where no configuration says so.
    stands_on
        What its Spark is started for, see `process.spark_settings`.
    spark, jars
        The settings and jars that its Spark needs.
    modules
        What its children import, once.
    services, struck
        The services that it takes, by their names, and whether faults on the way to them are tried.
    """

    name: str
    noun: str
    seed: int
    batches: int
    events: int
    records: int
    settings = ""
    stands_on = OURS
    spark: Mapping[str, str]
    jars: Sequence[str] = ()
    modules: Sequence[str]
    services: Sequence[str] = ()
    struck = True
    stores: Mapping[str, str]
    """By variable of the environment the kind of store that the subject keeps by itself."""

    @abstractmethod
    def make(self) -> None:
        """What needs no Spark: it is done while the JVM starts."""

    def exactly(self, events: "Exactly") -> "Preparation":
        """The same with these events, each of them written out.

        Raises
        ------
        ScenarioError
            If the subject cannot have events one by one.
        """
        raise ScenarioError(
            f"{self.name} is not a job that was written with Streamproof.",
            required="Events are left out and written out one by one for such jobs alone.",
        )

    @abstractmethod
    def subject(self, engine: "Engine", folder: Path, services: "Services") -> Subject:
        """The subject.

        Raises
        ------
        StreamproofError
            If it cannot be bound.
        """
