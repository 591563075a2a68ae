"""The rows of several sources, put together: they have the same columns, and one name for their event time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CALL = "union()"


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
            required="What keeps rows in state goes by one column, which all of them have.",
            remedy="Give the column one name in the schemas of the sources, and in their event_time.",
        )


def together(parts: Sequence["DataFrame"], columns: Sequence[str]) -> "DataFrame":
    """The rows of all parts, which have these columns."""
    rows, *others = [part.select(*columns) for part in parts]
    for other in others:
        rows = rows.unionByName(other)
    return rows
