"""Works out an expression of PromQL over samples: the part of the language that conditions of alerts are written in.

The library promql-parser reads the text, so that what is worked out here is what Prometheus is given. `tests/unit/observe/test_promql.py`
holds the results against Prometheus' own.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any

import promql_parser as read

from streamproof.errors import ConfigurationError
from streamproof.observe.rehearsal.functions import OF_VALUES, OVER_RANGE
from streamproof.observe.rehearsal.history import Scraped
from streamproof.observe.rehearsal.samples import Labels

Vector = dict[Labels, float]
Value = float | Vector
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda one, other: one / other if other else (math.nan if one == 0 or math.isnan(one) else math.copysign(math.inf, one)),
}
_COMPARISON: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}
_SETS = ("and", "or", "unless")
_MATCHES: Mapping[str, Callable[[str, str], bool]] = {"MatchOp.Equal": operator.eq, "MatchOp.NotEqual": operator.ne}


def parsed(text: str) -> "read.Expr":
    """The expression that a text is; ConfigurationError where it is none."""
    try:
        return read.parse(text)
    except ValueError as problem:
        raise ConfigurationError(f"{text} is no expression of PromQL: {problem}.") from None


def _lacks(what: object) -> ConfigurationError:
    return ConfigurationError(
        f"Proofs do not work out {what} of PromQL.",
        required=f"They know {', '.join(sorted({*OVER_RANGE, *OF_VALUES, 'sum', 'time'}))}, arithmetic, comparisons and sets.",
        remedy="Ask a real Prometheus: streamproof monitoring writes the rules for it.",
    )


@dataclass(frozen=True)
class Moment:
    """A moment at which expressions are worked out, in seconds since 1970."""

    scraped: Scraped
    at: float

    @singledispatchmethod
    def value(self, said: Any) -> Value:
        """What an expression is at this moment."""
        raise _lacks(type(said).__name__)

    @value.register
    def _(self, said: read.NumberLiteral) -> Value:
        return float(said.val)

    @value.register
    def _(self, said: read.ParenExpr) -> Value:
        return self.value(said.expr)

    @value.register
    def _(self, said: read.VectorSelector) -> Value:
        assert said.name is not None
        found = self.scraped.at(said.name, self.at - _offset(said))
        return {labels: value for labels, value in found.items() if _selects(said, labels)}

    @value.register
    def _(self, said: read.Call) -> Value:
        name = said.func.name
        if name == "time":
            return self.at
        if name in OVER_RANGE:
            return self._over_range(name, said.args[0], [self._number(argument) for argument in said.args[1:]])
        if name in OF_VALUES:
            others = [self._number(argument) for argument in said.args[1:]]
            return {labels: OF_VALUES[name](value, *others) for labels, value in self._vector(said.args[0]).items()}
        raise _lacks(f"the function {name}")

    @value.register
    def _(self, said: read.AggregateExpr) -> Value:
        if str(said.op) != "sum" or said.modifier is None:
            raise _lacks(f"{said.op}, but by labels or without them")
        names, by = set(said.modifier.labels), str(said.modifier.type) == "AggModifierType.By"
        found: Vector = {}
        for labels, value in self._vector(said.expr).items():
            group = tuple(label for label in labels if (label[0] in names) is by)
            found[group] = found.get(group, 0.0) + value
        return found

    @value.register
    def _(self, said: read.BinaryExpr) -> Value:
        sign, left, right = str(said.op).split()[0], self.value(said.lhs), self.value(said.rhs)
        if isinstance(left, dict) and isinstance(right, dict):
            return _of_sets(sign, left, right, _matched_by(said)) if sign in _SETS else _of_vectors(sign, left, right, said)
        if isinstance(left, dict):
            assert isinstance(right, float)
            return _with_number(sign, left, right, lambda value, number: (value, number))
        if isinstance(right, dict):
            return _with_number(sign, right, left, lambda value, number: (number, value))
        return _ARITHMETIC[sign](left, right)

    def _over_range(self, name: str, said: Any, others: list[float]) -> Vector:
        selector, length = said.vector_selector, said.range.total_seconds()
        end = self.at - _offset(selector)
        found: Vector = {}
        for labels, points in self.scraped.during(selector.name, end - length, end):
            if _selects(selector, labels):
                value = OVER_RANGE[name](points, end, length, others)
                if value is not None:
                    found[labels] = value
        return found

    def _vector(self, said: Any) -> Vector:
        found = self.value(said)
        if not isinstance(found, dict):
            raise _lacks(f"the number {said}")
        return found

    def _number(self, said: Any) -> float:
        found = self.value(said)
        if isinstance(found, dict):
            raise _lacks(f"the vector {said} as an argument")
        return found


def _offset(said: Any) -> float:
    return float(said.offset.total_seconds()) if said.offset is not None else 0.0


def _selects(said: Any, labels: Labels) -> bool:
    there = dict(labels)
    for matcher in said.matchers.matchers:
        matches = _MATCHES.get(str(matcher.op))
        if matches is None:
            raise _lacks(f"a matcher by a pattern, {matcher.name}")
        if not matches(there.get(matcher.name, ""), matcher.value):
            return False
    return True


def _only(labels: Labels, names: list[str]) -> Labels:
    """The labels of these names."""
    return tuple(label for label in labels if label[0] in names)


def _matched_by(said: Any) -> Callable[[Labels], Labels]:
    """The labels that two series must have alike: those of `on`, all but those of `ignoring`, or all."""
    matching = said.modifier.matching if said.modifier is not None else None
    if matching is None:
        return lambda labels: labels
    names = set(matching.labels)
    included = str(matching.type) == "LabelModifierType.Include"
    return lambda labels: tuple(label for label in labels if (label[0] in names) is included)


def _many(said: Any) -> bool:
    """Whether several series on the left may go with one on the right (group_left)."""
    if said.modifier is None or str(said.modifier.card).endswith(("OneToOne", "ManyToMany")):
        return False
    if not str(said.modifier.card).endswith("ManyToOne"):
        raise _lacks("group_right")
    return True


def _of_sets(sign: str, left: Vector, right: Vector, matched: Callable[[Labels], Labels]) -> Vector:
    theirs = {matched(labels) for labels in right}
    if sign == "or":
        ours = {matched(labels) for labels in left}
        return {**left, **{labels: value for labels, value in right.items() if matched(labels) not in ours}}
    wanted = sign == "and"
    return {labels: value for labels, value in left.items() if (matched(labels) in theirs) is wanted}


def _of_vectors(sign: str, left: Vector, right: Vector, said: Any) -> Vector:
    matched, many, taken = _matched_by(said), _many(said), list(said.modifier.group_labels or ()) if said.modifier else []
    theirs = {matched(labels): (labels, value) for labels, value in right.items()}
    if len(theirs) < len(right):
        raise ConfigurationError(
            f"Several series on the right of {sign} have the same labels to match by: Prometheus refuses that."
        )
    found: Vector = {}
    for labels, value in left.items():
        match = matched(labels)
        if match in theirs:
            other, number = theirs[match]
            given = _applied(sign, value, number, value)
            if given is not None:
                own = tuple(label for label in labels if label[0] not in taken)
                found[tuple(sorted((*own, *_only(other, taken)))) if many else match] = given
    return found


def _with_number(sign: str, vector: Vector, number: float, in_order: Callable[[float, float], tuple[float, float]]) -> Vector:
    given = {labels: _applied(sign, *in_order(value, number), value) for labels, value in vector.items()}
    return {labels: value for labels, value in given.items() if value is not None}


def _applied(sign: str, left: float, right: float, kept: float) -> float | None:
    """What an operator makes of two values: a comparison keeps a value or leaves it out."""
    if sign in _COMPARISON:
        return kept if _COMPARISON[sign](left, right) else None
    return _ARITHMETIC[sign](left, right)
