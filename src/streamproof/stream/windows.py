"""Windows: how event time is cut into pieces."""

from dataclasses import dataclass
from datetime import timedelta

from streamproof.core.durations import format_duration, parse_duration
from streamproof.errors import JobDefinitionError


@dataclass(frozen=True)
class Tumbling:
    """Windows of one size, side by side, aligned to 1970-01-01T00:00:00Z; each event is in exactly one.

    The start is inclusive, the end exclusive, as in Spark's `window` function.
    """

    size: timedelta

    def __str__(self) -> str:
        return f"tumbling {format_duration(self.size)}"


def tumbling(size: str) -> Tumbling:
    """Tumbling windows of the given size, for example `tumbling("30 seconds")`.

    Raises
    ------
    JobDefinitionError
        If the text is not a duration or not longer than zero.
    """
    try:
        duration = parse_duration(size)
    except ValueError as problem:
        raise JobDefinitionError(f"tumbling({size!r}): {problem}.") from problem
    if duration <= timedelta():
        raise JobDefinitionError(f"tumbling({size!r}): a window needs a size greater than zero.")
    return Tumbling(duration)
