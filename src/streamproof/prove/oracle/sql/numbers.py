"""Numbers, instants, intervals and casts, as Spark has them under ANSI rules."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from typing import Any

from sqlglot import exp

from streamproof.core.clock import to_micros
from streamproof.prove.oracle.instants import Instant
from streamproof.prove.oracle.sql.made import FUNCTIONS, MAKERS, SPECIAL, Env, NotModelled, Refused, Value, made, no, of_one, of_two

_UNITS = {
    "MICROSECOND": 1,
    "MILLISECOND": 10**3,
    "SECOND": 10**6,
    "MINUTE": 6 * 10**7,
    "HOUR": 36 * 10**8,
    "DAY": 864 * 10**8,
    "WEEK": 6048 * 10**8,
}
_DIGITS = 38
_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


def together(one: Any, other: Any) -> tuple[Any, Any]:
    """Two numbers in one kind, as Spark widens them."""
    if isinstance(one, float) or isinstance(other, float):
        return float(one), float(other)
    if isinstance(one, Decimal) or isinstance(other, Decimal):
        return Decimal(one), Decimal(other)
    return one, other


def _arithmetic(does: Callable[[Any, Any], Any]) -> Callable[[Any], Value]:
    def make(node: Any) -> Value:
        left, right = made(node.this), made(node.expression)

        def value(env: Env) -> Any:
            one, other = left(env), right(env)
            if one is None or other is None:
                return None
            one, other = together(one, other)
            with _digits(one):
                return _within(does(one, other), 64)

        return value

    return make


def _digits(number: Any) -> AbstractContextManager[Any]:
    """Decimals have up to 38 digits."""
    return localcontext(prec=_DIGITS) if isinstance(number, Decimal) else nullcontext()


def _within(number: Any, bits: int) -> Any:
    if isinstance(number, int) and not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise Refused(f"a number that does not fit {bits} bits")
    return number


def _divided(one: Any, other: Any) -> Any:
    if other == 0:
        raise Refused("a division by zero")
    if isinstance(one, Decimal):
        raise NotModelled("the plain model does not divide decimals: cast one of them to double")
    return float(one) / float(other)


def _whole(one: Any, other: Any) -> Any:
    if other == 0:
        raise Refused("a division by zero")
    quotient = abs(one) // abs(other)
    return int(quotient if (one < 0) == (other < 0) else -quotient)


def _rest(one: Any, other: Any) -> Any:
    if other == 0:
        raise Refused("a division by zero")
    return math.fmod(one, other) if isinstance(one, float) else one - other * _whole(one, other)


def _interval(node: exp.Interval) -> Value:
    unit = str(node.args["unit"].name).upper().removesuffix("S")
    if unit not in _UNITS:
        raise NotModelled(f"the plain model has no interval of {unit.lower()}s")
    many, micros = made(node.this), _UNITS[unit]
    return lambda env: int(Decimal(many(env)) * micros)


def _cast_node(node: exp.Cast) -> Value:
    if node.args.get("safe"):
        raise NotModelled("the plain model has no try_cast()")
    of, typed = made(node.this), cast(node.args["to"])
    return lambda env: typed(of(env))


def cast(type_: exp.DataType, *, fills: bool = False) -> Callable[[Any], Any]:
    """A value as one of a type; `fills` where a field takes it: Spark refuses a job of which a field would cut values."""
    name = type_.this.name
    inner = [
        cast(one.args["kind"] if isinstance(one, exp.ColumnDef) else one, fills=fills)
        for one in type_.expressions
        if not isinstance(one, exp.DataTypeParam)
    ]
    makers: dict[str, Callable[[Any], Any]] = {
        **{kind: _as_integer(bits, fills=fills) for kind, bits in _INTEGERS.items()},
        "DOUBLE": lambda value: _read(float, value),
        "DECIMAL": _as_decimal(type_),
        "TEXT": _as_text,
        "VARCHAR": _as_text,
        "BOOLEAN": lambda value: value if isinstance(value, bool) else no("a cast to boolean"),
        "TIMESTAMPTZ": _as_instant,
        "ARRAY": lambda value: tuple(None if one is None else inner[0](one) for one in value),
        "MAP": lambda value: {inner[0](key): None if one is None else inner[1](one) for key, one in value.items()},
        "STRUCT": lambda value: {
            key: None if one is None else cast(one) for cast, (key, one) in zip(inner, value.items(), strict=True)
        },
    }
    if name not in makers:
        raise NotModelled(f"the plain model has no cast to {type_.sql(dialect='spark').lower()}")
    make = makers[name]
    return lambda value: None if value is None else make(value)


def _read(make: Callable[[Any], Any], value: Any) -> Any:
    """A text as a value; the error does not say the text, which may be anybody's."""
    try:
        return make(value)
    except (ValueError, ArithmeticError) as problem:
        raise Refused("a cast of a text that is none of the type") from problem


def _finite(value: Any) -> Any:
    return no("a whole number of NaN or of infinity") if isinstance(value, float) and not math.isfinite(value) else value


def _as_integer(bits: int, *, fills: bool) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        if fills and isinstance(value, float | Decimal) and value != int(_finite(value)):
            raise Refused("a fraction does not fit a field of whole numbers")
        if isinstance(value, Instant):
            return no("a cast of an instant to a number: take unix_seconds()")
        return _within(_read(int, _finite(value)), bits)

    return cast


def _as_decimal(type_: exp.DataType) -> Callable[[Any], Any]:
    sizes = [int(one.this.name) for one in type_.expressions if isinstance(one, exp.DataTypeParam)] or [10, 0]
    precision, scale = sizes[0], sizes[1] if len(sizes) > 1 else 0

    def cast(value: Any) -> Any:
        said = _read(Decimal, repr(_finite(value)) if isinstance(value, float) else value)
        found = _rounded_to(said, scale)
        if abs(found) >= Decimal(10) ** (precision - scale):
            raise Refused(f"a number that does not fit decimal({precision},{scale})")
        return found

    return cast


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else no("a cast of a number to text") if not isinstance(value, int) else str(value)


def _as_instant(value: Any) -> Any:
    if isinstance(value, str):
        found = _read(datetime.fromisoformat, value)
        return Instant(to_micros(found if found.tzinfo else found.replace(tzinfo=UTC)))
    return Instant(value) if isinstance(value, int) else no("a cast to an instant")


def _rounded_to(number: Decimal, scale: int) -> Decimal:
    try:
        return number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, Context(prec=2 * _DIGITS))
    except InvalidOperation as problem:
        raise Refused(f"a number of more than {_DIGITS} digits") from problem


def _rounded(node: exp.Round) -> Value:
    of, places = made(node.this), made(node.args.get("decimals") or exp.Literal.number(0))

    def value(env: Env) -> Any:
        found, scale = of(env), places(env)
        if found is None or (isinstance(found, float) and not math.isfinite(found)):
            return found
        said = _rounded_to(Decimal(repr(found) if isinstance(found, float) else found), scale)
        return type(found)(said)

    return value


def _power(one: Any, other: Any) -> float:
    return math.pow(one, other)


def _is_nan(node: exp.IsNan) -> Value:
    """Null is no NaN."""
    of = made(node.this)
    return lambda env: isinstance(found := of(env), float) and math.isnan(found)


def _as_function(name: str, given: list[Any]) -> Value:
    return _cast_node(exp.Cast(this=given[0], to=exp.DataType.from_str(name)))


MAKERS |= {
    exp.Add: _arithmetic(lambda one, other: one + other),
    exp.Sub: _arithmetic(lambda one, other: one - other),
    exp.Mul: _arithmetic(lambda one, other: one * other),
    exp.Div: _arithmetic(_divided),
    exp.IntDiv: _arithmetic(_whole),
    exp.Mod: _arithmetic(_rest),
    exp.Neg: of_one(lambda found: -found),
    exp.Abs: of_one(abs),
    exp.Floor: of_one(lambda found: math.floor(_finite(found))),
    exp.Ceil: of_one(lambda found: math.ceil(_finite(found))),
    exp.Exp: of_one(math.exp),
    exp.Sqrt: of_one(lambda found: math.sqrt(found) if found >= 0 else math.nan),
    exp.Pow: of_two(_power),
    exp.Round: _rounded,
    exp.Interval: _interval,
    exp.Cast: _cast_node,
    exp.UnixMicros: of_one(int),
    exp.UnixMillis: of_one(lambda found: found // 1_000),
    exp.UnixSeconds: of_one(lambda found: found // 1_000_000),
    exp.IsNan: _is_nan,
}
FUNCTIONS |= {
    "pmod": lambda one, other: one % other if other > 0 else no("pmod by a negative number"),
    "timestamp_micros": Instant,
    "timestamp_millis": lambda found: Instant(found * 1_000),
}
SPECIAL |= dict.fromkeys(("bigint", "double", "int"), _as_function)
