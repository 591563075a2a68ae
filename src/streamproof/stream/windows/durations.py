"""The durations of windows and horizons, as calls name them."""

from datetime import timedelta

from streamproof.core.durations import micros_of, parse_duration
from streamproof.errors import JobDefinitionError


def positive_duration(call: str, text: str, what: str = "a window needs a size") -> timedelta:
    """A duration greater than zero.

    Raises
    ------
    JobDefinitionError
        If the text is not a duration or not longer than zero; `call` is how the error names where it stands.
    """
    duration = duration_of(call, text)
    if duration <= timedelta():
        raise JobDefinitionError(f"{call}: {what} greater than zero.")
    return duration


def duration_of(call: str, text: str) -> timedelta:
    """A duration of whole milliseconds; JobDefinitionError where it is none. Spark's clock of event time has no finer ones."""
    if not isinstance(text, str):
        raise JobDefinitionError(f'{call}: a duration is a text such as "30 seconds", and this is a {type(text).__name__}.')
    try:
        duration = parse_duration(text)
    except ValueError as problem:
        raise JobDefinitionError(f"{call}: {problem}.") from problem
    if micros_of(duration) % 1_000:
        raise JobDefinitionError(
            f'{call}: "{text}" is not a whole number of milliseconds.', required="A watermark goes on in whole milliseconds."
        )
    return duration
