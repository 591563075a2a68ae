"""Operators: the steps of a stream. One module each; the oracle has a twin of each that keeps state, in a module of the same name."""

from streamproof.stream.operators.deduplicate import Deduplicate
from streamproof.stream.operators.filter import Filter
from streamproof.stream.operators.operator import Operator
from streamproof.stream.operators.require import Condition, Require
from streamproof.stream.operators.transform import Transform
from streamproof.stream.operators.window import WindowAggregate

__all__ = ["Condition", "Deduplicate", "Filter", "Operator", "Require", "Transform", "WindowAggregate"]
