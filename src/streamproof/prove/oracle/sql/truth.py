"""Truth with null, order, and choices."""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sqlglot import exp

from streamproof.prove.oracle.sql.made import MAKERS, SPECIAL, Env, NotModelled, Value, made, no
from streamproof.prove.oracle.sql.numbers import together


def rank(value: Any) -> Any:
    """A value by which others are put in order as Spark does: NaN is the greatest number and equal to itself."""
    if isinstance(value, float) and math.isnan(value):
        return (1, 0.0)
    if isinstance(value, bool | int | float | Decimal):
        return (0, value)
    if isinstance(value, Mapping):
        return tuple((part is not None, rank(part)) for part in value.values())
    return tuple((part is not None, rank(part)) for part in value) if isinstance(value, tuple) else value


def _ranks(one: Any, other: Any) -> tuple[Any, Any]:
    """Two values, neither of them null, as they are compared: numbers in one kind, so that a double of 0.1 is the decimal 0.1."""
    numbers = [isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in (one, other)]
    if any(numbers) and (isinstance(one, str) or isinstance(other, str)):
        no("a comparison of a text with a number or an instant: CAST one of them")
    if all(numbers):
        one, other = together(one, other)
    return rank(one), rank(other)


def _compared(does: Callable[[Any, Any], bool]) -> Callable[[Any], Value]:
    def make(node: Any) -> Value:
        left, right = made(node.this), made(node.expression)

        def value(env: Env) -> Any:
            one, other = left(env), right(env)
            return None if one is None or other is None else does(*_ranks(one, other))

        return value

    return make


def same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    mine, theirs = _ranks(one, other)
    return bool(mine == theirs)


def _null_safe(node: Any) -> Value:
    left, right = made(node.this), made(node.expression)
    return lambda env: same(left(env), right(env))


def _logic(*, decides: bool) -> Callable[[Any], Value]:
    """AND is decided by false, OR by true; else a null makes null."""

    def make(node: Any) -> Value:
        left, right = made(node.this), made(node.expression)

        def value(env: Env) -> Any:
            one = left(env)
            if one is decides:
                return decides
            other = right(env)
            return decides if other is decides else None if one is None or other is None else not decides

        return value

    return make


def _not(node: exp.Not) -> Value:
    of = made(node.this)
    return lambda env: None if (found := of(env)) is None else not found


def _is(node: exp.Is) -> Value:
    of, right = made(node.this), made(node.expression)
    return lambda env: same(of(env), right(env))


def _between(node: exp.Between) -> Value:
    return made(
        exp.And(
            this=exp.GTE(this=node.this, expression=node.args["low"]),
            expression=exp.LTE(this=node.this, expression=node.args["high"]),
        )
    )


def _in(node: exp.In) -> Value:
    if not node.expressions:
        raise NotModelled("the plain model has no IN with a query")
    of, those = made(node.this), [made(one) for one in node.expressions]

    def value(env: Env) -> Any:
        found, others = of(env), [one(env) for one in those]
        if found is None:
            return None
        if any(isinstance(one, float) for one in (found, *others)):  # all of them have one type
            found, *others = [float(one) if isinstance(one, int | Decimal) else one for one in (found, *others)]
        return True if any(one is not None and same(found, one) for one in others) else None if None in others else False

    return value


def _if(node: exp.If) -> Value:
    condition, then, other = made(node.this), made(node.args["true"]), made(node.args.get("false") or exp.Null())
    return lambda env: then(env) if condition(env) is True else other(env)


def _case(node: exp.Case) -> Value:
    of = node.this
    whens = [
        (made(exp.EQ(this=of, expression=one.this) if of is not None else one.this), made(one.args["true"]))
        for one in node.args["ifs"]
    ]
    default = made(node.args.get("default") or exp.Null())

    def value(env: Env) -> Any:
        return next((then for condition, then in whens if condition(env) is True), default)(env)

    return value


def _coalesce(node: exp.Coalesce) -> Value:
    those = [made(one) for one in (node.this, *node.expressions)]
    return lambda env: next((found for one in those if (found := one(env)) is not None), None)


def _extreme(most: Callable[..., Any]) -> Callable[[Any], Value]:
    def make(node: Any) -> Value:
        those = [made(one) for one in (node.this, *node.expressions)]

        def value(env: Env) -> Any:
            found = [one for those_ in those if (one := those_(env)) is not None]
            wide = any(isinstance(one, float) for one in found)
            best = most(found, key=rank, default=None)
            return float(best) if wide and best is not None and not isinstance(best, str) else best

        return value

    return make


def _null(name: str, given: list[Any]) -> Value:
    of = made(given[0])
    return lambda env: (of(env) is None) == (name == "isnull")


MAKERS |= {
    exp.EQ: _compared(lambda one, other: one == other),
    exp.NEQ: _compared(lambda one, other: one != other),
    exp.LT: _compared(lambda one, other: one < other),
    exp.LTE: _compared(lambda one, other: one <= other),
    exp.GT: _compared(lambda one, other: one > other),
    exp.GTE: _compared(lambda one, other: one >= other),
    exp.NullSafeEQ: _null_safe,
    exp.And: _logic(decides=False),
    exp.Or: _logic(decides=True),
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.If: _if,
    exp.Case: _case,
    exp.Coalesce: _coalesce,
    exp.Nullif: lambda node: made(
        exp.If(this=exp.EQ(this=node.this, expression=node.expression), true=exp.Null(), false=node.this)
    ),
    exp.Greatest: _extreme(max),
    exp.Least: _extreme(min),
}
SPECIAL |= dict.fromkeys(("isnull", "isnotnull"), _null)
