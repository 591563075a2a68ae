"""What the generator meant each event to be, and which of them every source must reject (R28)."""

from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.scenario.generate import Event, Kind


def refused(event: Event, time: AskedTime | None, *, time_is_text: bool = False) -> bool:
    """Whether the event must be rejected before any step of the job sees it.

    Parameters
    ----------
    time
        The event time that the user's file declares; without one a time that is missing is a column that is null.
    time_is_text
        Whether the column of the event time is a text: then "sometime" is a value, which only a declared event time cannot take.
    """
    match event.kind:
        case Kind.MALFORMED:
            return True
        case Kind.MISSING_TIME:
            return time is not None
        case Kind.UNPARSEABLE_TIME:
            return time is not None or not time_is_text
        case Kind.FUTURE_TIME:
            return time is not None and time.max_future is not None
        case _:
            return False
