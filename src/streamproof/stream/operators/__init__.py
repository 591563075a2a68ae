"""Operators: the steps of a stream. One module each; the oracle has a twin of each that keeps state, in a module of the same name.

PySpark is imported where a plan is built, and not with the module: what a job is made of is looked at without it.
"""

from streamproof.stream.operators.deduplicate import Deduplicate
from streamproof.stream.operators.filter import Filter
from streamproof.stream.operators.lookup import Lookup
from streamproof.stream.operators.operator import Operator
from streamproof.stream.operators.ordered import OrderedDeduplicate
from streamproof.stream.operators.require import Condition, Require
from streamproof.stream.operators.require_gap import RequireGap
from streamproof.stream.operators.transform import Transform
from streamproof.stream.operators.union import Union
from streamproof.stream.operators.window import WindowAggregate

__all__ = [
    "Condition",
    "Deduplicate",
    "Filter",
    "Lookup",
    "Operator",
    "OrderedDeduplicate",
    "Require",
    "RequireGap",
    "Transform",
    "Union",
    "WindowAggregate",
]
