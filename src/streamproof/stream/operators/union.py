"""Unions: the rows of two streams, put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.operators.operator import Operator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.doors import Doors
    from streamproof.stream.recipe import Recipe

_CALL = "union()"


@dataclass(frozen=True)
class Union(Operator):
    """The rows of another stream beside those of this one; both have the same columns.

    The steps behind it are taken by the rows of each source by themselves, up to the first operator that keeps state: so the watermark of a
    source is taken from what of it reaches that operator, as it is in a job with one source.
    """

    other: "Recipe"

    def streaming(self, rows: "DataFrame", event_time: str, doors: "Doors") -> "DataFrame":
        """The rows of this side; those of the other are put beside them right before the first operator with state."""
        return rows


def require_possible(one: "Recipe", other: "Recipe") -> None:
    """JobDefinitionError for two streams that cannot be put together, by what is known when the job function is called."""
    if one.stateful or other.stateful:
        raise JobDefinitionError(
            f"{_CALL} of a stream behind a stateful operator.",
            required="What is late is decided once, before the first deduplicate() or window(), by the watermarks of all sources.",
            remedy="Put the streams together first, and deduplicate or aggregate what comes out.",
        )
    twice = sorted(set(one.sources) & set(other.sources))
    if twice:
        raise JobDefinitionError(
            f"{_CALL} puts two streams of the source {twice[0]} together.",
            required="A record that is in both would count twice, and the account would not add up.",
            remedy="Make one condition of the two, for filter() or require().",
        )


def require_alike(columns: Mapping[str, Mapping[str, str]], where: str = _CALL) -> None:
    """JobDefinitionError unless all sources have the same columns, of the same types.

    Parameters
    ----------
    columns
        By source its columns with their types, as people read them.
    """
    (first, wanted), *others = columns.items()
    for source, found in others:
        unlike = [f"{source} has no {name}" for name in wanted if name not in found]
        unlike += [f"{first} has no {name}" for name in found if name not in wanted]
        unlike += [
            f"{name} is a {type_} in {first}, a {found[name]} in {source}"
            for name, type_ in wanted.items()
            if found.get(name, type_) != type_
        ]
        if unlike:
            raise JobDefinitionError(
                f"{where} of streams with other columns: {'; '.join(unlike)}.",
                required=f"The rows of {first} and {source} have the same columns, of the same types.",
                remedy="Make them alike before the union: "
                f'{source}.transform(lambda rows: rows.withColumn("...", F.lit(None).cast("...")))',
            )


def require_one_event_time(columns: Mapping[str, str | None]) -> None:
    """JobDefinitionError unless the sources call their event times alike; by source its column, None where it declares none."""
    names = dict.fromkeys(columns.values())
    if len(names) > 1:
        told = ", ".join(f"{name} in {source}" for source, name in columns.items() if name)
        raise JobDefinitionError(
            f"{_CALL} of sources whose event times are called differently: {told}.",
            required="Windows and deduplication go by one column, which all of them have.",
            remedy="Give the column one name in the schemas of the sources, and in their event_time.",
        )


def together(parts: Sequence["DataFrame"], columns: Sequence[str]) -> "DataFrame":
    """The rows of all parts, which have these columns."""
    rows, *others = [part.select(*columns) for part in parts]
    for other in others:
        rows = rows.unionByName(other)
    return rows
