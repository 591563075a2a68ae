"""How long a key is remembered."""

from datetime import timedelta

from streamproof.errors import JobDefinitionError
from streamproof.stream.windows.durations import duration_of

_LONGEST = timedelta(days=36_500)
"""Spark adds the horizon to event times in microseconds: far longer ones would not fit there."""


def horizon_of(method: str, within: str, remedy: str) -> timedelta:
    """How long a key is remembered after the event time of a row.

    Parameters
    ----------
    method
        Whose `within` it is.
    remedy
        What to write instead.

    Raises
    ------
    JobDefinitionError
        If the text is not a duration above zero, of whole milliseconds and at most a hundred years.
    """
    call = f"{method}(within={within!r})"
    horizon = duration_of(call, within)
    if horizon <= timedelta():
        raise JobDefinitionError(
            f"{call}: a horizon of nothing forgets every key at once.",
            required="How far apart two rows of a key may lie and still are compared is a duration above zero.",
            remedy=remedy,
        )
    if horizon > _LONGEST:
        raise JobDefinitionError(
            f"{call}: the horizon is longer than a hundred years.",
            required="Each key stays in the state for as long as the horizon.",
            remedy=remedy,
        )
    return horizon
