"""The twins of the operators, in plain Python: one module each, of the same name as in `stream/operators`."""

from collections.abc import Callable, Mapping
from typing import Any

from streamproof.prove.oracle.operators.deduplicate import Deduplicate
from streamproof.prove.oracle.operators.filter import Filter
from streamproof.prove.oracle.operators.join import Join
from streamproof.prove.oracle.operators.keyed import Keyed
from streamproof.prove.oracle.operators.latest import Latest
from streamproof.prove.oracle.operators.lookup import Lookup
from streamproof.prove.oracle.operators.ordered import OrderedDeduplicate
from streamproof.prove.oracle.operators.require import Require
from streamproof.prove.oracle.operators.rules import Rules
from streamproof.prove.oracle.operators.source import Source
from streamproof.prove.oracle.operators.transform import Transform
from streamproof.prove.oracle.operators.twin import Twin
from streamproof.prove.oracle.operators.union import Union
from streamproof.prove.oracle.operators.window import Window

Given = Mapping[str, Any]


def _once(given: Given) -> Twin:
    return Deduplicate.of(given) if given.get("order_by") is None else OrderedDeduplicate.of(given)


_TWINS: Mapping[str, Callable[[Given], Twin]] = {
    "require": Require.of,
    "filter": Filter.of,
    "transform": Transform.of,
    "union": lambda _: Union(),
    "deduplicate": _once,
    "latest": Latest.of,
    "join": Join.of,
    "lookup": Lookup.of,
    "rules": Rules.of,
    "keyed": Keyed.of,
    "window": Window.of,
}
"""By method of the public stream."""


_METHODS: Mapping[type[Twin], str] = {
    Require: "require",
    Filter: "filter",
    Transform: "transform",
    Union: "union",
    Deduplicate: "deduplicate",
    OrderedDeduplicate: "deduplicate",
    Latest: "latest",
    Join: "join",
    Lookup: "lookup",
    Rules: "rules",
    Keyed: "keyed",
    Window: "window",
}
"""The other way round: what a user calls for such a twin."""


def method_of(twin: Twin) -> str:
    """The method of the public stream that a twin is of; "source" for a leaf."""
    return _METHODS.get(type(twin), "source")


def leaf() -> Twin:
    """The twin of a leaf."""
    return Source()


def twin_of(method: str, given: Given) -> Twin:
    """The twin of a call.

    Raises
    ------
    ValueError
        If a duration cannot be read, or nothing is known of the method.
    """
    if method not in _TWINS:
        raise ValueError(f"no twin of {method}()")
    return _TWINS[method](given)


__all__ = ["leaf", "method_of", "twin_of"]
