"""Which events a name means: a trace id, an event id with all its copies, or a value of an id column."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from streamproof.errors import ConfigurationError
from streamproof.prove.lineage.kept import KeptEvent
from streamproof.prove.oracle.trace import event_id

_NEAREST = 3
_LOOKED_AT = 20_000
"""Of so many names at most the nearest ones are looked for."""


def events_called(name: str, events: Mapping[str, KeptEvent]) -> list[KeptEvent]:
    """The events that a name means, in the order in which they arrived; the copies of an event with it.

    Parameters
    ----------
    events
        All events by their traces.

    Raises
    ------
    ConfigurationError
        If there is none; the message says what ids look like, and which are nearest.
    """
    if "+" in name and name in events:
        return [events[name]]
    meant = {event_id(trace) for trace, event in events.items() if name in (trace, event_id(trace), event.called, *event.ids)}
    found = [event for trace, event in events.items() if event_id(trace) in meant]
    if not found:
        raise _no_such_event(name, list(events.values()))
    return found


def _no_such_event(name: str, events: Sequence[KeptEvent]) -> ConfigurationError:
    ids = list(dict.fromkeys(one for event in events for one in event.ids))
    traces = [event.trace for event in events]
    near = get_close_matches(name, [*ids, *traces][:_LOOKED_AT], n=_NEAREST, cutoff=0.6)
    looks = f"A trace id looks like {traces[0]}" if traces else "This run has no events"
    if ids:
        looks = f"An id looks like {ids[0]} (the last one is {ids[-1]}), and a trace id like {traces[0]}"
    return ConfigurationError(
        f'There is no event "{name}" among the {len(events):,} of this run.',
        required=f"{looks}.",
        remedy=f"Nearest: {', '.join(near)}." if near else "To find events by the rows that they made: --row \"COLUMN = 'VALUE'\"",
    )


__all__ = ["events_called"]
