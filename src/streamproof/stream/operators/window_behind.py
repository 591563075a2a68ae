"""A window behind a window: what it groups are the rows of the first one, each at the end of its window."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates.declared import Declared
from streamproof.stream.problems_of_joins import require_window_after

if TYPE_CHECKING:
    from pyspark.sql import Column

    from streamproof.stream.emissions import Emission
    from streamproof.stream.node import Node
    from streamproof.stream.operators.window import WindowAggregate
    from streamproof.stream.windows import Window


def require_behind(node: "Node", window: "Window", by: tuple[str, ...], emission: "Emission") -> None:
    """JobDefinitionError for a window behind another one, or after a join, that could not be accounted for, or proved."""
    from streamproof.stream.windows import Session

    windows = _windows(node)
    if not windows:
        require_window_after(node, window, emission)
        return
    first = windows[0]
    revised = next((one for one in (first.emission, emission) if one.revised), None)
    if revised is not None:
        raise JobDefinitionError(
            f'A window stands behind a window, and one of the two has emit="{revised.name}".',
            required="What goes from one window into another is final: a row that is given twice would be counted twice.",
            remedy="Leave emit out of both, or return the first window as an output of its own.",
        )
    if len(windows) > 1:
        raise JobDefinitionError(
            "A third window stands behind two.",
            required="A stream has two windows at most.",
            remedy="Return the second one as an output, and read that by another job.",
        )
    if node.operator is not first:
        raise JobDefinitionError(
            "transform() stands between two windows.",
            required="The rows of the first window go into the second as they are, so that every record stays accounted for.",
            remedy="Put what it does into the aggregates of one of them.",
        )
    if window.several:
        raise JobDefinitionError(
            "A window that overlaps stands behind another window.",
            required="A row of the first window holds many records, and each would count again in every window of the second.",
            remedy="Let the first one overlap, or take sp.tumbling(...), sp.calendar(...) or sp.shifts(...) for the second.",
        )
    if isinstance(window, Session):
        raise JobDefinitionError(
            "A session stands behind another window.",
            required="A session goes by the gaps between events, and a row of a window has no instant of its own.",
            remedy="Take sp.tumbling(...), sp.calendar(...) or sp.shifts(...) for the second, or let the first one be the session.",
        )
    others = [name for name in by if name not in first.by]
    if others:
        raise JobDefinitionError(
            f'window(by="{others[0]}") behind a window that is not by {others[0]}.',
            required="The key of the second window is among that of the first: "
            + (f"{', '.join(first.by)}." if first.by else "it has none."),
            remedy=f'Add "{others[0]}" to the by of the first window, or leave it out.',
        )


def _windows(node: "Node") -> "list[WindowAggregate]":
    from streamproof.stream.operators.window import WindowAggregate

    return [operator for operator in node.keeping if isinstance(operator, WindowAggregate)]


def require_plain(node: "Node", aggregates: "Mapping[str, Column | Declared]") -> None:
    """JobDefinitionError for accumulators and sketches in one of two windows, or after a join; `aggregates` are those of the last one."""
    windows = _windows(node)
    own = next((name for name, one in aggregates.items() if isinstance(one, Declared)), None)
    if not windows and own is not None and node.holds_rows:
        raise JobDefinitionError(
            f"aggregate({own}=...) is declared, and its window stands after join().",
            required="After a join aggregates are those of Spark: a proof adds declared ones up record by record, and a row of a join is of two.",
            remedy="Take a function of pyspark.sql.functions, or return the join as an output, and read that by another job.",
        )
    if not windows:
        return
    declared = [name for made in (windows[0].aggregates, aggregates) for name, one in made.items() if isinstance(one, Declared)]
    if declared:
        raise JobDefinitionError(
            f"aggregate({declared[0]}=...) is declared, and a window stands behind a window.",
            required="Of two windows both have aggregates of Spark: a proof adds declared ones up record by record, and a row of a window holds many.",
            remedy="Return the declared aggregate as an output of its own.",
        )


def require_not_behind(node: "Node") -> None:
    """JobDefinitionError for rows that are to be dealt over tasks behind another window."""
    if _windows(node):
        raise JobDefinitionError(
            "aggregate(spread=...) stands behind another window.",
            required="What comes out of a window has one row for each window and key: no key has most of the rows there.",
            remedy="Give spread to the first window.",
        )


def deduplicated_windows(key: tuple[str, ...]) -> JobDefinitionError:
    """The error for a deduplication behind a window."""
    return JobDefinitionError(
        f"deduplicate({', '.join(map(repr, key))}) stands behind a window.",
        required="Several windows of a key can be due in one batch, and which of them stays is not promised: they hold other records, and the "
        "account could not say which are duplicates.",
        remedy="Deduplicate before the window; of its rows take one for each key by a second window, with F.min or F.max.",
    )
