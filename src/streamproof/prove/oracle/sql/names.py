"""Names, literals, and what lies inside a value: fields and elements."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sqlglot import exp

from streamproof.prove.oracle.sql.made import MAKERS, Env, NotModelled, Value, made


def _column(node: exp.Column) -> Value:
    if isinstance(node.this, exp.Star):
        raise NotModelled("the plain model does not work out *")
    return _path([part.name.lower() for part in node.parts])


def _path(parts: list[str]) -> Value:
    whole, root, fields = ".".join(parts), parts[0], parts[1:]

    def value(env: Env) -> Any:
        if whole in env:
            return env[whole]
        if root not in env:
            raise NotModelled(f"nothing is called {root} there")
        found = env[root]
        for field in fields:
            found = None if found is None else _field(found, field)
        return found

    return value


def _field(struct: Any, name: str) -> Any:
    if not isinstance(struct, Mapping):
        raise NotModelled(f"the plain model does not know the field {name} of a column")
    found = [value for key, value in struct.items() if key.lower() == name]
    if not found:
        raise NotModelled(f"the plain model does not know the field {name} of a column")
    return found[0]


def _dot(node: exp.Dot) -> Value:
    of, name = made(node.this), node.expression.name.lower()
    return lambda env: None if (found := of(env)) is None else _field(found, name)


def _literal(node: exp.Literal) -> Value:
    text = str(node.this)
    value: Any = text
    if not node.is_string:
        value = int(text) if text.isdigit() else float(text) if "e" in text.lower() else Decimal(text)
    return lambda _env: value


def constant(value: Any) -> Callable[[Any], Value]:
    return lambda _node: lambda _env: value


MAKERS |= {
    exp.Column: _column,
    exp.Identifier: lambda node: _path([node.name.lower()]),
    exp.Dot: _dot,
    exp.Paren: lambda node: made(node.this),
    exp.Literal: _literal,
    exp.Null: constant(None),
    exp.Boolean: lambda node: constant(bool(node.this))(node),
}
