"""Lists, maps, structs and texts, and functions over their elements."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from streamproof.prove.oracle.sql.made import (
    FUNCTIONS,
    MAKERS,
    SPECIAL,
    Env,
    NotModelled,
    Refused,
    Value,
    made,
    of_one,
    of_two,
    strict,
)
from streamproof.prove.oracle.sql.truth import rank, same


def _struct(node: exp.Struct) -> Value:
    fields: list[tuple[str, Value]] = []
    for number, one in enumerate(node.expressions, start=1):
        named = isinstance(one, exp.PropertyEQ)
        name = one.this.name if named else one.alias_or_name or f"col{number}"
        fields.append((name, made(one.expression if named else one.this if isinstance(one, exp.Alias) else one)))
    return lambda env: {name: value(env) for name, value in fields}


def _array(node: exp.Array) -> Value:
    those = [made(one) for one in node.expressions]
    return lambda env: tuple(one(env) for one in those)


def _map(node: exp.VarMap) -> Value:
    keys, values = made(node.args["keys"]), made(node.args["values"])
    return lambda env: dict(zip(keys(env), values(env), strict=True))


def _lambda(node: Any) -> Callable[..., Any]:
    """A lambda as a function of the values around it and its arguments."""
    if not isinstance(node, exp.Lambda):
        raise NotModelled("the plain model has no function that is not written as a lambda")
    names, body = [one.name.lower() for one in node.expressions], made(node.this)
    return lambda env, *given: body({**env, **dict(zip(names, given, strict=False))})


def _over(does: Callable[[Any, Callable[..., Any]], Any], *, numbered: bool = False) -> Callable[[Any], Value]:
    """A function over elements; `numbered` where its lambda may have the number of the element, from 0 on, as a second argument."""

    def make(node: Any) -> Value:
        of, function = made(node.this), _lambda(node.expression)
        if len(node.expression.expressions) > 1 + numbered:
            raise NotModelled("the plain model has no such lambda with the number of an element")
        return lambda env: None if (found := of(env)) is None else does(found, lambda *one: function(env, *one))

    return make


def _exists(found: Any, holds: Callable[[Any], Any]) -> Any:
    said = [holds(one) for one in found]
    return True if True in said else None if None in said else False


def _forall(found: Any, holds: Callable[[Any], Any]) -> Any:
    said = [holds(one) for one in found]
    return False if False in said else None if None in said else True


def _reduce(node: exp.Reduce) -> Value:
    of, start, merge = made(node.this), made(node.args["initial"]), _lambda(node.args["merge"])
    finish = _lambda(node.args["finish"]) if node.args.get("finish") else None

    def value(env: Env) -> Any:
        found, total = of(env), start(env)
        if found is None:
            return None
        for one in found:
            total = merge(env, total, one)
        return finish(env, total) if finish is not None else total

    return value


def _bracket(node: exp.Bracket) -> Value:
    if node.args.get("safe"):
        raise NotModelled("the plain model has no try_element_at()")
    of, (index,) = made(node.this), [made(one) for one in node.expressions]
    offset = int(node.args.get("offset") or 0)

    def value(env: Env) -> Any:
        found, at = of(env), index(env)
        if found is None or at is None:
            return None
        if isinstance(found, Mapping):
            return next((one for key, one in found.items() if same(key, at)), None)
        place = at if at < 0 and offset else at - offset
        if not (-len(found) if offset else 0) <= place < len(found):
            raise Refused(f"element {at} of a list of {len(found)}")
        return found[place]

    return value


def _slice(node: exp.ArraySlice) -> Value:
    of, start, length = made(node.this), made(node.args["start"]), made(node.args["end"])

    def value(env: Env) -> Any:
        found, begin, many = of(env), start(env), length(env)
        if found is None or begin is None or many is None:
            return None
        if begin == 0 or many < 0:
            raise Refused("a slice from 0, or of less than nothing")
        first = begin - 1 if begin > 0 else len(found) + begin
        return found[first : first + many] if first >= 0 else ()

    return value


def _sorted(node: exp.ArraySort) -> Value:
    """sort_array() has nulls where the least values are, array_sort() at the end."""
    first = node.args.get("nulls_first")
    at_the_end = "asc" not in node.args and first is not None and not first.this
    of, ascending = made(node.this), made(node.args.get("asc") or node.args.get("expression") or exp.true())

    def value(env: Env) -> Any:
        found, up = of(env), ascending(env)
        if found is None:
            return None
        there, nulls = (
            sorted((one for one in found if one is not None), key=rank, reverse=not up),
            [one for one in found if one is None],
        )
        return tuple([*nulls, *there] if up and not at_the_end else [*there, *nulls])

    return value


def _distinct(found: Any) -> Any:
    kept: list[Any] = []
    for one in found:
        if not any(same(one, other) for other in kept):
            kept.append(one)
    return tuple(kept)


def _contains(found: Any, wanted: Any) -> Any:
    return True if any(one is not None and same(one, wanted) for one in found) else None if None in found else False


def _appended(node: Any) -> Value:
    of, what = made(node.this), made(node.expression)
    return lambda env: None if (found := of(env)) is None else (*found, what(env))


def _prepended(node: Any) -> Value:
    of, what = made(node.this), made(node.expression)
    return lambda env: None if (found := of(env)) is None else (what(env), *found)


def _concat(*given: Any) -> Any:
    return tuple(one for part in given for one in part) if isinstance(given[0], tuple) else "".join(given)


def _join_maps(*maps: Any) -> Any:
    found: dict[Any, Any] = {}
    for one in maps:
        if any(key in found for key in one):
            raise Refused("a key that is in two maps")
        found |= one
    return found


def _filtered_map(found: Any, holds: Callable[..., Any]) -> Any:
    return {key: value for key, value in found.items() if holds(key, value) is True}


def _other_values(found: Any, makes: Callable[..., Any]) -> Any:
    return {key: makes(key, value) for key, value in found.items()}


_OVER_ELEMENTS: Mapping[str, Callable[..., Any]] = {
    "map_filter": _filtered_map,
    "transform_values": _other_values,
    "forall": _forall,
}


def _over_elements(name: str, given: list[Any]) -> Value:
    found, function = made(given[0]), _lambda(given[1])
    return lambda env: None if (those := found(env)) is None else _OVER_ELEMENTS[name](those, lambda *one: function(env, *one))


MAKERS |= {
    exp.Struct: _struct,
    exp.Array: _array,
    exp.VarMap: _map,
    exp.ArraySize: of_one(len),
    exp.ArrayAppend: _appended,
    exp.ArrayPrepend: _prepended,
    exp.ArrayFilter: _over(
        lambda found, holds: tuple(one for place, one in enumerate(found) if holds(one, place) is True), numbered=True
    ),
    exp.Transform: _over(lambda found, makes: tuple(makes(one, place) for place, one in enumerate(found)), numbered=True),
    exp.Exists: _over(_exists),
    exp.Reduce: _reduce,
    exp.Bracket: _bracket,
    exp.ArraySlice: _slice,
    exp.ArraySort: _sorted,
    exp.ArrayContains: of_two(_contains),
    exp.ArrayDistinct: of_one(_distinct),
    exp.ArrayRemove: of_two(lambda found, gone: tuple(one for one in found if one is None or not same(one, gone))),
    exp.ArrayMax: of_one(lambda found: max((one for one in found if one is not None), key=rank, default=None)),
    exp.ArrayMin: of_one(lambda found: min((one for one in found if one is not None), key=rank, default=None)),
    exp.Reverse: of_one(lambda found: found[::-1]),
    exp.MapFromEntries: of_one(lambda found: {one["key"]: one["value"] for one in found}),
    exp.MapKeys: of_one(lambda found: tuple(found)),
    exp.MapContainsKey: of_two(lambda found, key: any(same(one, key) for one in found)),
    exp.Concat: lambda node: strict(_concat, node.expressions),
    exp.DPipe: lambda node: strict(_concat, [node.this, node.expression]),
    exp.Length: of_one(len),
    exp.Upper: of_one(str.upper),
    exp.Lower: of_one(str.lower),
}
FUNCTIONS |= {
    "cardinality": len,
    "map_values": lambda found: tuple(found.values()),
    "map_entries": lambda found: tuple({"key": key, "value": value} for key, value in found.items()),
    "map_concat": _join_maps,
    "get": lambda found, at: found[at] if 0 <= at < len(found) else None,
}
SPECIAL |= dict.fromkeys(_OVER_ELEMENTS, _over_elements)
