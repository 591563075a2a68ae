"""A fault beside crashes as a plan has it, and who does it: a scenario is run without knowing what kind of fault it has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from streamproof.core.phases import StepName
from streamproof.errors import StreamproofError
from streamproof.prove.process.task import ChildResult
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.images import Image
from streamproof.prove.record.recording import Recording

BESIDE, ALONE = "", "alone"
"""The lane of a fault that is done beside all others, and that of one during which nothing else may run."""


class PlannedFault(Protocol):
    """A fault that a plan has at a step."""

    @property
    def name(self) -> str:
        """What its scenario's id has beside the step."""

    @property
    def words(self) -> str:
        """What happens, as a sentence without its end."""

    @property
    def lane(self) -> str:
        """Faults of one lane are not done at the same time: BESIDE, ALONE, or a name that they share."""

    @property
    def line(self) -> str:
        """The service that the job reaches through the proxy meanwhile; empty for none."""


@dataclass(frozen=True)
class Place:
    """Where a fault is done.

    Parameters
    ----------
    step
        The step that it is done at.
    image
        The disk that it is done on; None where the job runs from the beginning.
    recording
        The run that has shown the step.
    binding
        The scenario.
    """

    step: StepName
    image: Image | None
    recording: Recording
    binding: ScenarioBinding


@dataclass(frozen=True)
class Injected:
    """What became of a fault.

    Parameters
    ----------
    fired
        Whether it was done, and met by the job.
    result
        How the job came to its end; None where it has still to be started again.
    unmet
        How the job ended where it did not meet its fault, as a sentence; empty where that is not known.
    """

    fired: bool
    result: ChildResult | None = None
    unmet: str = ""


def unmet(result: ChildResult | None) -> str:
    """What is said of a job that ended (None where its process died) without having met its fault."""
    if result is None:
        return "The job's process died before the fault."
    return (
        f"The job ended before the fault: {result.message}"
        if result.code
        else "The job came to its end and did not meet the fault."
    )


class Injector(Protocol):
    """Does one kind of fault to one kind of subject, for as long as a proof lasts."""

    def inject(self, fault: PlannedFault, place: Place) -> Injected | None:
        """Does a fault; None where it is not of its kind.

        Raises
        ------
        NotMet
            If something that must hold under the fault does not.
        StreamproofError
            If the fault itself failed.
        """

    def close(self) -> None:
        """The proof is over."""


def injected(injectors: Sequence[Injector], fault: PlannedFault, place: Place) -> Injected:
    """Has a fault done by the one of the injectors whose kind it is.

    Raises
    ------
    StreamproofError
        If it is of none of their kinds: a plan must not have what its subject has nobody for.
    """
    for injector in injectors:
        found = injector.inject(fault, place)
        if found is not None:
            return found
    raise StreamproofError(
        f"The fault {fault.name} is planned at {place.step}, and nobody does it.",
        required="A subject whose plan has a fault says in its `injectors` who does it.",
    )
