"""What a proof says where a job stopped over a null, or over half a record: one of its own cut lines may be what it met."""

import re
from dataclasses import replace

from streamproof.prove.process.task import JOB_RAISED, ChildResult

_NULL = re.compile(
    r"NoneType|\bNone\b|NullPointerException|\bnull\b|NOT_NULL|NULL_|JSONDecodeError|JsonParseException|MALFORMED|Malformed|IntCastingNaNError|\bNaN\b",
)
SAYS = (
    "The proof cuts a few lines of the sample, as a writer does that dies; Spark reads such a line as nulls, or hands half of it on. The job may have "
    "met one: let it take them, as it must in production, or prove the sample as it is: --as-is"
)


def may_be_cut(said: str) -> bool:
    """Whether an exception speaks of a null, or of text that is no whole record."""
    return _NULL.search(said) is not None


def with_cut_lines(result: ChildResult, said: str) -> ChildResult:
    """The result of a job that was stopped, with what a cut line may have to do with it."""
    if result.code != JOB_RAISED or not may_be_cut(said):
        return result
    return replace(result, remedy=f"{result.remedy} {SAYS}".strip())
