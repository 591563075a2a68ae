"""Declared state of a key: what it is made of, and what rows and timers do with it."""

from streamproof.stream.keyed.declared import Emit, Field, Step, emit, list_of, map_of, step

__all__ = ["Emit", "Field", "Step", "emit", "list_of", "map_of", "step"]
