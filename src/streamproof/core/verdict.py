"""Verdicts of checks, scenarios and proofs: pass, unknown, fail; the worst wins."""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What a check says; ordered by badness: fail > unknown > pass."""

    PASS = "pass"
    UNKNOWN = "unknown"
    FAIL = "fail"

    @property
    def badness(self) -> int:
        return _BADNESS[self]

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this verdict: 0 pass, 1 fail, 3 unknown."""
        return {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.UNKNOWN: 3}[self]


_BADNESS = {Verdict.PASS: 0, Verdict.UNKNOWN: 1, Verdict.FAIL: 2}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of the verdicts; of none, unknown: what was not looked at has not passed."""
    found = list(verdicts)
    if not found:
        return Verdict.UNKNOWN
    return max(found, key=lambda verdict: verdict.badness)
