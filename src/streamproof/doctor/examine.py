"""Looking for every mistake that is known: what was found, and what could not be looked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamproof.doctor.finding import Code, Finding, Severity
from streamproof.doctor.findings import MISTAKES
from streamproof.doctor.mistake import Mistake
from streamproof.doctor.patient import Part, Patient


@dataclass(frozen=True)
class Skipped:
    """A mistake that was not looked for, and what that needs."""

    code: Code
    needs: tuple[Part, ...]


@dataclass(frozen=True)
class Examination:
    """What an examination has come to.

    Parameters
    ----------
    findings
        The gravest first.
    looked_for
        The mistakes that were looked for in one way at least.
    """

    patient: Patient
    findings: tuple[Finding, ...]
    looked_for: tuple[Mistake, ...]
    skipped: tuple[Skipped, ...]

    @property
    def is_sound(self) -> bool | None:
        """Whether nothing was found that must or should be mended; None where the text of the job was not found."""
        if any(finding.severity != Severity.NOTE for finding in self.findings):
            return False
        return None if self.patient.is_unread else True

    def as_dict(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        return {
            "target": self.patient.target,
            "sound": self.is_sound,
            "findings": [finding.as_dict() for finding in self.findings],
            "looked_for": [str(mistake.code) for mistake in self.looked_for],
            "skipped": [{"code": str(one.code), "needs": [part.name.lower() for part in one.needs]} for one in self.skipped],
            "missing": {part.name.lower(): why for part, why in self.patient.missing.items()},
        }


def examine(patient: Patient, mistakes: Sequence[Mistake] = MISTAKES) -> Examination:
    """Looks for each mistake in every way that what there is of the job allows."""
    findings: list[Finding] = []
    looked_for, skipped = [], []
    for mistake in mistakes:
        ways = mistake.ways_for(patient)
        if not ways:
            skipped.append(Skipped(mistake.code, mistake.needs(patient)))
            continue
        looked_for.append(mistake)
        symptoms = dict.fromkeys(symptom for way in ways for symptom in way.look(patient))
        findings += [Finding(mistake.code, symptom, mistake.why) for symptom in symptoms]
    gravest = list(Severity)
    findings.sort(key=lambda finding: gravest.index(finding.severity))
    return Examination(patient, tuple(findings), tuple(looked_for), tuple(skipped))
