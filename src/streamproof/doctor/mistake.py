"""A classic mistake: what it is called, why it matters, and the ways in which it can be seen."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from streamproof.doctor.finding import Code, Symptom
from streamproof.doctor.patient import Part, Patient


@dataclass(frozen=True)
class Way:
    """One way of looking for a mistake.

    Parameters
    ----------
    needs
        What must be there for it.
    look
        Gives a symptom for each place where the mistake is.
    """

    needs: tuple[Part, ...]
    look: Callable[[Patient], Iterable[Symptom]]


@dataclass(frozen=True)
class Mistake:
    """A mistake and the ways to it. It is looked for by each way whose needs are met, and skipped where there is none.

    Parameters
    ----------
    called
        The mistake in some words, "no watermark".
    why
        What it leads to, as whole sentences.
    """

    code: Code
    called: str
    why: str
    ways: tuple[Way, ...]

    def ways_for(self, patient: Patient) -> tuple[Way, ...]:
        """Those that can be taken."""
        return tuple(way for way in self.ways if patient.has(*way.needs))

    def needs(self, patient: Patient) -> tuple[Part, ...]:
        """What is not there of what its ways need."""
        return tuple(dict.fromkeys(part for way in self.ways for part in way.needs if not patient.has(part)))
