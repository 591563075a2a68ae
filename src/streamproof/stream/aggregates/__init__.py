"""Aggregates that are declared, beside those that Spark has: accumulators by SQL expressions, and sketches with a stated error."""

from streamproof.stream.aggregates import sketch
from streamproof.stream.aggregates.accumulator import Accumulator, accumulator
from streamproof.stream.aggregates.declared import Declared
from streamproof.stream.aggregates.sketch import Sketch

__all__ = ["Accumulator", "Declared", "Sketch", "accumulator", "sketch"]
