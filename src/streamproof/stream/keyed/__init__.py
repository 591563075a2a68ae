"""Declared state of a key: what it is made of, and what rows and timers do with it."""

from streamproof.stream.keyed.declared import Emit, Field, Initial, Step, emit, initial, list_of, map_of, step

__all__ = ["Emit", "Field", "Initial", "Step", "emit", "initial", "list_of", "map_of", "step"]
