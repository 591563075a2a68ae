"""What is said of a join that cannot be: by what is known when the job function is called, and by the types once they are."""

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from streamproof.errors import JobDefinitionError
from streamproof.stream.windows.durations import duration_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamproof.stream.emissions import Emission
    from streamproof.stream.node import Node
    from streamproof.stream.windows import Window

_HOW = ("inner", "left", "right", "full")
_FARTHEST = timedelta(days=36_500)
_EXAMPLE = 'left.join(right, on="order_id", between=("-10 minutes", "24 hours"))'


def require_two_streams(left: "Node", right: "Node") -> None:
    """JobDefinitionError for two streams that cannot be joined."""
    for node in (left, right):
        if node.stateful:
            raise JobDefinitionError(
                f"join() stands after {node.keeping[-1].call}.",
                required="Both streams come to a join as their sources give them: what is late is decided right before it.",
                remedy="Join the streams first, or write one of them to an output, and read that by another job.",
            )
    twice = sorted(set(left.sources) & set(right.sources))
    if twice:
        raise JobDefinitionError(
            f"join() of two streams of the source {twice[0]}.",
            required="A record that came by both sides would count twice, and the account would not add up.",
            remedy="Bind the files or the topic to a second source, under another name, and join that one.",
        )


def join_key(on: Any) -> tuple[str, ...]:
    """The columns of `join(on=...)`; JobDefinitionError unless they are names."""
    key = tuple(on) if isinstance(on, tuple | list) else (on,)
    for name in key:
        if not isinstance(name, str):
            raise JobDefinitionError(
                f"join(on=...) got a {type(name).__name__}.",
                required="It takes the name of a column that both streams have, or several.",
                remedy=f"For example: {_EXAMPLE}. A key that is called differently in one stream is renamed there by transform().",
            )
    if not key:
        raise JobDefinitionError(
            "join(on=()) has no column.", required="Rows that meet have one key.", remedy=f"For example: {_EXAMPLE}"
        )
    repeated = next((name for name in key if key.count(name) > 1), None)
    if repeated is not None:
        raise JobDefinitionError(f"join(on=...) names {repeated} twice.", remedy="Name each column of the key once.")
    return key


def interval_of(between: Any) -> tuple[timedelta, timedelta]:
    """The bounds of `join(between=...)`; JobDefinitionError unless they are two durations of whole milliseconds, the lesser one first."""
    if between is None:
        raise JobDefinitionError(
            "join() without between: it has no time bound.",
            required="Without one each row would have to be kept for ever, since its partner could still come.",
            remedy=f"Say how much later than the left row the right one happens, at least and at most: {_EXAMPLE}",
        )
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise JobDefinitionError(
            f"join(between={between!r}) is no pair of durations.",
            required="Two durations: how much later than the left row the right one happens, at least and at most.",
            remedy=f"For example: {_EXAMPLE}",
        )
    earliest, latest = (_signed(between, one) for one in between)
    if earliest > latest:
        raise JobDefinitionError(
            f"join(between={tuple(between)!r}): the first bound is above the second, so that no two rows meet.",
            required="How much later than the left row the right one happens: at least the first, at most the second.",
            remedy=f"Turn them round: between=({between[1]!r}, {between[0]!r})",
        )
    return earliest, latest


def _signed(between: Any, text: Any) -> timedelta:
    call = f"join(between={tuple(between)!r})"
    below = isinstance(text, str) and text.strip().startswith("-")
    found = duration_of(call, text.strip()[1:] if below else text)
    if found > _FARTHEST:
        raise JobDefinitionError(
            f"{call}: a bound is farther than a hundred years.",
            required="Each row stays in the state until its partner can no longer come.",
        )
    return -found if below else found


def require_how(how: Any) -> str:
    """JobDefinitionError unless `join(how=...)` is one that is known."""
    if how not in _HOW:
        raise JobDefinitionError(
            f"join(how={how!r}) is not known.",
            required=f"It is one of {', '.join(_HOW)}: which rows without a partner are part of the output.",
            remedy='Leave it out for "inner": rows without a partner then leave by .unmatched_left and .unmatched_right.',
        )
    return str(how)


def require_no_time_key(key: Iterable[str], event_time: str) -> None:
    """JobDefinitionError where the event time is a column of the key: rows that meet would happen at one instant."""
    if event_time in key:
        raise JobDefinitionError(
            f"join(on=...) names {event_time}, the event time.",
            required="When rows that meet have happened is said by between.",
            remedy='Take it out of on, and say between=("0 seconds", "0 seconds") for rows of one instant.',
        )


def require_same_types(key: Iterable[str], left: "DataFrame", right: "DataFrame") -> None:
    """JobDefinitionError where a column of the key has another type in the other stream, or one whose values cannot be told apart."""
    for name in key:
        ours, theirs = (rows.schema[name].dataType.simpleString() for rows in (left, right))
        if ours != theirs:
            raise JobDefinitionError(
                f"join(on={name!r}): the column is {ours} in the left stream, and {theirs} in the right one.",
                required="Both have the same type: of a value that is converted on the way it is not certain what it equals.",
                remedy=f'Convert it in one of them: .transform(lambda rows: rows.withColumn("{name}", F.col("{name}").cast("{ours}")))',
            )
        if "map<" in ours or "variant" in ours:
            raise JobDefinitionError(
                f"join(on={name!r}): the column is {ours}.",
                required="Values of a key can be compared, and those of maps and variants cannot.",
                remedy="Make a column of what is compared by transform(), and join on that.",
            )


def require_free_names(names: "list[str]") -> None:
    """JobDefinitionError where two columns that come out have one name."""
    lower = [name.lower() for name in names]
    twice = next((name for name in names if lower.count(name.lower()) > 1), None)
    if twice is not None:
        raise JobDefinitionError(
            f"join() gives two columns {twice}.",
            required="A column of the right stream whose name the left one has too is called by that name with _right behind it.",
            remedy="Rename one of them by transform() before the join.",
        )


def after_join(method: str) -> JobDefinitionError:
    """The error for a step that does not stand after a join."""
    return JobDefinitionError(
        f"{method} stands after join().",
        required="A row of a join is of two records, or of one: what becomes of both where this step takes it is not modelled.",
        remedy="Return the join as an output, and read that by another job. A window or deduplicate() may stand right after it, and transform().",
    )


def require_window_after(node: "Node", window: "Window", emission: "Emission") -> None:
    """JobDefinitionError for the first window after a join that could not be accounted for, or proved."""
    from streamproof.stream.windows import Session

    if not node.holds_rows:
        return
    if emission.revised:
        raise JobDefinitionError(
            f'A window stands after join(), and has emit="{emission.name}".',
            required="Rows without a partner come out of a join of streams only where each row is final.",
            remedy="Leave emit out.",
        )
    if node.operator is not node.last:
        raise JobDefinitionError(
            "transform() stands between join() and a window.",
            required="The rows of the join go into the window as they are, so that every record stays accounted for.",
            remedy="Put what it does before the join, or into the aggregates.",
        )
    if window.several or isinstance(window, Session):
        raise JobDefinitionError(
            f"{'A session' if isinstance(window, Session) else 'A window that overlaps'} stands after join().",
            required="A row of a join is of several records, and each counts once for each row of the join: one window takes that row.",
            remedy="Take sp.tumbling(...), sp.calendar(...) or sp.shifts(...).",
        )
