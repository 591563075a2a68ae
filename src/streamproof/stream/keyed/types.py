"""What can be said of the types of expressions without Spark: `check` holds each field against what is set."""

from collections.abc import Iterator, Mapping
from typing import Any

from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed.declared import BEFORE, TIMER, parsed, place_of
from streamproof.stream.keyed.rules import Rules

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_ALIKE = {"TEXT": "string", "VARCHAR": "string", "TIMESTAMPTZ": "timestamp", "TIMESTAMP": "timestamp"}
_NOT_FIXED = frozenset(
    {
        "rand",
        "randn",
        "random",
        "uuid",
        "now",
        "current_timestamp",
        "current_date",
        "localtimestamp",
        "monotonically_increasing_id",
        "shuffle",
    }
)


def problems(rules: Rules, columns: Mapping[str, str]) -> Iterator[JobDefinitionError]:
    """What is wrong with the types of a job's rules, as far as that is known.

    Parameters
    ----------
    columns
        The types of the columns that rows have, where they are known.
    """
    fields = {name: found for name, field in rules.state.items() if (found := _type_of(field.starts, {})) is not None}
    for where, step in rules.steps.items():
        there = {**{name: type_ for name, type_ in columns.items() if where == "on_row" or name in rules.key}, **_written(fields)}
        there |= {} if where == "on_row" else {TIMER: "timestamp"}
        for part, text in step.texts():
            if (name := _not_fixed(text)) is not None:
                yield JobDefinitionError(
                    f'keyed(): {part} in {where}, "{text}", cannot be used: {name}() is not deterministic: a batch that runs again would give '
                    "something else.",
                )
        for place, text in step.set.items():
            name, inside = place_of(place)
            found, wanted = _type_of(text, there), fields.get(name)
            if inside is None and found is not None and wanted is not None and not _fits(found, wanted):
                yield JobDefinitionError(
                    f'keyed(): {where}: {name}, "{text}", is {_said(found)}, and the field is {_said(wanted)}.',
                    required="A field has the type of what it starts as: 0L is bigint, 0D is double, 0.0 is decimal(1,1).",
                    remedy=f"Write what it starts as in the type that you mean, or CAST(... AS {_said(wanted)}).",
                )
        for one in step.emits:
            found = (
                _type_of(one.when, {**there, **{f"{BEFORE}.{name}": type_ for name, type_ in _written(fields).items()}})
                if one.when
                else None
            )
            if found is not None and found.this.name != "BOOLEAN":
                yield JobDefinitionError(
                    f'keyed(): {where}: emit(when="{one.when}") is {_said(found)}.', required="A condition is a boolean."
                )


def _written(fields: Mapping[str, Any]) -> dict[str, str]:
    return {name: type_.sql(dialect="spark") for name, type_ in fields.items()}


def _type_of(text: str, names: Mapping[str, str]) -> Any:
    """The type of an expression; None where it is not known for sure."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.annotate_types import annotate_types

    tree = parsed(text)
    if tree is None:
        return None
    types = {name.lower(): type_ for name, type_ in names.items()}

    def typed(node: Any) -> Any:
        name = ".".join(part.name for part in node.parts).lower() if isinstance(node, exp.Column) else ""
        return exp.Cast(this=exp.Null(), to=exp.DataType.build(types[name], dialect="spark")) if name in types else node

    try:
        found = annotate_types(tree.transform(typed), dialect="spark").type
    except SqlglotError:
        return None
    known = isinstance(found, exp.DataType) and found.this.name not in ("UNKNOWN", "NULL", "ARRAY", "MAP", "STRUCT", "DECIMAL")
    return found if known else None


def _fits(found: Any, wanted: Any) -> bool:
    """Whether every value of a type is one of another; what it does not know fits."""
    one, other = found.this.name, wanted.this.name
    if one in _INTEGERS and other in _INTEGERS:
        return _INTEGERS.index(one) <= _INTEGERS.index(other)
    return (
        _ALIKE.get(one, one) == _ALIKE.get(other, other)
        or (one, other) == ("FLOAT", "DOUBLE")
        or (other == "DOUBLE" and one in _INTEGERS[:3])
    )


def _said(type_: Any) -> str:
    return _ALIKE.get(type_.this.name) or str(type_.sql(dialect="spark")).lower()


def _not_fixed(text: str) -> str | None:
    from sqlglot import exp

    tree = parsed(text)
    names = (
        (one.sql_name().lower() if not isinstance(one, exp.Anonymous) else one.name.lower() for one in tree.find_all(exp.Func))
        if tree is not None
        else ()
    )
    return next((name for name in names if name in _NOT_FIXED), None)
