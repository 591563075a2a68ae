"""Findings as SARIF 2.1.0, which code scanning shows at the lines of a pull request.

The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from streamproof import __version__
from streamproof.core.paths import display
from streamproof.doctor.examine import Examination
from streamproof.doctor.finding import Finding, Severity
from streamproof.doctor.mistake import Mistake

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.STOP: "error", Severity.WARN: "warning", Severity.NOTE: "note"}


def sarif_of(found: Examination) -> dict[str, Any]:
    """The log of one run: a rule for each mistake that was looked for, a result for each finding."""
    rules = [_rule(mistake) for mistake in found.looked_for]
    places = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "streamproof doctor", "version": __version__, "semanticVersion": __version__, "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, places[str(finding.code)]) for finding in found.findings],
            }
        ],
    }


def _rule(mistake: Mistake) -> dict[str, Any]:
    return {"id": str(mistake.code), "shortDescription": {"text": mistake.called}, "fullDescription": {"text": mistake.why}}


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    symptom = finding.symptom
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(symptom.where.path)}}
    if symptom.where.line:
        physical["region"] = {"startLine": symptom.where.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    if symptom.where.key:
        location["logicalLocations"] = [{"fullyQualifiedName": symptom.where.key}]
    return {
        "ruleId": str(finding.code),
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{symptom.what} {finding.why} Seen: {symptom.evidence}. Mend: {symptom.remedy}"},
        "locations": [location],
    }


def _uri(path: Path) -> str:
    """Relative to the working directory where it lies below it, as code scanning wants it; else absolute."""
    shown = Path(display(path))
    return shown.as_uri() if shown.is_absolute() else quote(shown.as_posix())
