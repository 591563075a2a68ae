"""What became of a mutant: turned red by a proof, survived, or not tried."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mutants.catalogue import Mutant


class Fate(StrEnum):
    """How a mutant ended."""

    RED = "red"
    SURVIVED = "survived"
    BROKEN = "broken"


@dataclass(frozen=True)
class Result:
    """What a proof has said of a mutant.

    Parameters
    ----------
    by
        The checkers that the sound product passes, in the scenarios where the mutant does not.
    why
        Of what is not red, the reason.
    mend
        What the catalogue says otherwise than was seen; empty where they agree.
    """

    mutant: Mutant
    fate: Fate
    by: tuple[str, ...]
    where: tuple[str, ...]
    why: str
    mend: str
    seconds: float

    def __str__(self) -> str:
        if self.fate is Fate.RED:
            said = f"RED by {', '.join(self.by)} in {self.mutant.selection} ({', '.join(self.where)})"
        else:
            said = f"{self.fate.upper()}: {self.why}"
        return said + (f"  [catalogue: {self.mend}]" if self.mend else "")

    def as_dict(self) -> dict[str, Any]:
        """As reports/mutants.json holds it."""
        return {
            "name": self.mutant.name,
            "rule": self.mutant.rule,
            "says": self.mutant.says,
            "fate": str(self.fate),
            "plan": str(self.mutant.selection),
            "by": list(self.by),
            "where": list(self.where),
            "why": self.why,
            "mend": self.mend,
            "seconds": round(self.seconds, 1),
        }


def judged(mutant: Mutant, answer: dict[str, Any], sound: dict[str, Any], seconds: float) -> Result:
    """The result of a mutant, by what its proof says and what a proof of the sound product says of the same scenarios."""

    def result(fate: Fate, *by: str, why: str = "", mend: str = "") -> Result:
        where = dict.fromkeys(name for checker in by for name in answer["failing"][checker][:2])
        return Result(mutant, fate, by, tuple(where), why, mend, seconds)

    for who, said in (("", answer), ("the sound product: ", sound)):
        if "problem" in said:
            return result(Fate.BROKEN, why=f"{who}{said['problem'].strip().splitlines()[-1]}", mend="it gives no verdict")
    answer["failing"] = _without(answer["failing"], sound["failing"])
    by = list(answer["failing"])
    if not by:
        unknown = " (its proof ends unknown)" if answer["verdict"] == "unknown" else ""
        why = mutant.survives or f"nobody sees it{unknown}"
        return result(Fate.SURVIVED, why=why, mend="" if mutant.survives else "it says that a proof turns red")
    named = [checker for checker in mutant.red if checker in by]
    mend = "" if named else f"it names {', '.join(mutant.red)}" if mutant.red else "it says that it survives"
    return result(Fate.RED, *(named or by), mend=mend)


def _without(failing: dict[str, list[str]], known: dict[str, list[str]]) -> dict[str, list[str]]:
    """By checker, the scenarios that fail and are not known to."""
    left = {checker: [name for name in names if name not in known.get(checker, ())] for checker, names in failing.items()}
    return {checker: names for checker, names in left.items() if names}
