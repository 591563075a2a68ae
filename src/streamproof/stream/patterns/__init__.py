"""Patterns: what is asked most of a key, written out in declared state. Each takes a stream and gives what `keyed` gives, so a proof covers it."""

from streamproof.stream.patterns.counting import sliding, sliding_complete, velocity
from streamproof.stream.patterns.following import Event, attribution, event, sequence
from streamproof.stream.patterns.order import reorder
from streamproof.stream.patterns.silence import inactivity
from streamproof.stream.patterns.values import changes, running

__all__ = [
    "Event",
    "attribution",
    "changes",
    "event",
    "inactivity",
    "reorder",
    "running",
    "sequence",
    "sliding",
    "sliding_complete",
    "velocity",
]
