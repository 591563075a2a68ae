"""Streams: what a job function composes, node by node; each is immutable."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from streamproof.core.durations import parse_duration
from streamproof.core.sides import DUPLICATE, LATE, REJECTED
from streamproof.errors import JobDefinitionError
from streamproof.stream.aggregates import Declared
from streamproof.stream.emissions import Emission
from streamproof.stream.emissions.emission import REVISION
from streamproof.stream.emissions.named import emission_named
from streamproof.stream.keyed import Field, Step
from streamproof.stream.names import require_names
from streamproof.stream.node import Node
from streamproof.stream.operators import Condition, Deduplicate, Filter, Require, Transform, Union, WindowAggregate
from streamproof.stream.operators.horizon import horizon_of
from streamproof.stream.operators.keyed import keyed_by, side_of
from streamproof.stream.operators.latest import latest_of
from streamproof.stream.operators.operator import Stateful
from streamproof.stream.operators.ordered import OrderedDeduplicate, require_ordered
from streamproof.stream.operators.union import require_possible
from streamproof.stream.operators.window_behind import deduplicated_windows, require_behind, require_plain
from streamproof.stream.side_output import SideOutput
from streamproof.stream.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_RESERVED = ("window_start", "window_end")
_COPIES_COME = 'Write how long copies can come, such as within="10 minutes". Without within it is lag + allowed lateness.'


class Stream:
    """A named source and what is done to it; every method returns a new stream and leaves this one as it is."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def require(self, **conditions: "str | Column") -> "Stream":
        """Rows must fulfil every condition; the others leave by `.rejected`, with the condition as the reason.

        Parameters
        ----------
        conditions
            A name for each condition, and the condition as a SQL expression or a PySpark Column of type boolean. A condition that
            comes out null rejects.

        Raises
        ------
        JobDefinitionError
            Behind a stateful operator: what is rejected there would already be in state and could not be given back.
        """
        if not conditions:
            raise JobDefinitionError("require() needs a condition.", remedy='For example: require(notional="notional > 0").')
        for name, condition in conditions.items():
            _require_condition(f"require({name}=...)", condition)
        self._before_state("require")
        return Stream(self.node.then(Require(dict(conditions))))

    def filter(self, condition: Condition, *, name: str) -> "Stream":
        """Keeps the rows for which the condition is true; the others are counted as `filtered` under the name.

        Raises
        ------
        JobDefinitionError
            Behind a stateful operator: filter before it, or mark rows there in a column that `transform` makes.
        """
        _require_condition(f"filter(name={name!r})", condition)
        self._before_state("filter")
        return Stream(self.node.then(Filter(condition, name)))

    def transform(self, function: "Callable[[DataFrame], DataFrame]") -> "Stream":
        """Applies a function of the DataFrame when the plan is built; each row that goes in comes out once.

        Supported: columns, functions of PySpark and Python ones, `mapInArrow` and `mapInPandas`, repartitioning, joins with a table that has
        one row a key. Not supported, and refused when the plan is built: aggregates, deduplication and other state, watermarks, window
        functions, what makes several rows of one (`explode`), unions and joins of streams, sampling, limits, sorting; use `window`,
        `deduplicate` and `filter` instead.

        What no plan tells, the account does: where a function, a `where` or a join with a table drops or doubles a row, also behind
        `aggregate`, the account does not add up, and the run ends with an AccountError. Drop rows by `filter`, which counts them.

        Parameters
        ----------
        function
            Takes the DataFrame and returns one. Columns beginning with an underscore may be Streamproof's own: leave them in.

        Raises
        ------
        JobDefinitionError
            After `deduplicate`, unless a window stands between the two; when the plan is built, if the function does what is not supported.
        """
        self._require_open_to("transform()")
        return Stream(self.node.then(Transform(function)))

    def union(self, other: "Stream") -> "Stream":
        """The rows of this stream and of another one, of another source, with the same columns.

        Each source has a watermark of its own, by its lag; what keeps rows in state goes by the least of them. A source from which nothing
        comes holds it where it is, until it delivers again: what is complete waits, and nothing is lost.

        Parameters
        ----------
        other
            A stream with the same columns, of the same types, in any order; where something that keeps state follows, also with an event time
            of the same name.

        Raises
        ------
        JobDefinitionError
            Behind a stateful operator, or if both streams have rows of one source; when the plan is built, if the columns differ.
        """
        if not isinstance(other, Stream):
            raise JobDefinitionError(
                f"union() got a {type(other).__name__}.", required="It takes another stream of the job, of another source."
            )
        require_possible(self.node, other.node)
        return Stream(self.node.then(Union(), other.node))

    def deduplicate(self, *key: str, within: str | None = None, order_by: str | None = None, keep: str | None = None) -> "Stream":
        """Keeps one row per key within a horizon (R12); which copy stays is not promised, unless `order_by` says so.

        With `order_by` a row that stays comes once no other of its key can: when the watermark is at the newest event time of its key plus
        `within`. Until then the state has a whole row for each key. Nothing may stand behind it.

        Parameters
        ----------
        key
            Columns that identify an event.
        within
            The horizon in event time, such as "10 minutes": two rows of a key that lie no further apart are never both kept. A row that comes
            when the key is forgotten is an event of its own. By default lag + allowed lateness; it may be shorter than that, or longer. With
            `order_by` it is required: rows of a key that follow each other at most that far apart are one.
        order_by, keep
            A column, and "first" or "last": the row that is least or greatest by it stays. Rows without a value stay only where none has one;
            of equal ones the event time decides, and then a hash of all columns.

        Raises
        ------
        JobDefinitionError
            Without a key, behind another deduplication or a window, if the horizon is not a duration above zero, of whole milliseconds and
            at most a hundred years, or if `order_by` stands without `keep` or `within`.
        """
        if not key:
            raise JobDefinitionError("deduplicate() needs the columns of the key.", remedy='For example: deduplicate("trade_id").')
        require_names("deduplicate()", key)
        if self._has(WindowAggregate):
            raise deduplicated_windows(key)
        self._without_state("deduplicate")
        horizon = None if within is None else horizon_of("deduplicate", within, _COPIES_COME)
        require_ordered(order_by, keep, within)
        if order_by is not None and keep is not None and horizon is not None:
            return Stream(self.node.then(OrderedDeduplicate(key, horizon, order_by, keep)))
        return Stream(self.node.then(Deduplicate(key, horizon)))

    def latest(self, *key: str, order_by: str, within: str) -> "Stream":
        """The newest row of each key: in each batch that brings a newer one, that row; the others are counted as `superseded`.

        Which row is newest does not depend on the order in which rows come. Of several newer ones in a batch the newest goes on. A row that is
        like the newest one, a copy of it, changes nothing. Nothing may stand after it.

        Parameters
        ----------
        key
            Columns that identify what changes.
        order_by
            The column by which rows are newer: the greatest is the newest. Rows without a value are older than all others; of equal ones the
            event time decides, and then a hash of all columns.
        within
            How long a key is remembered after the latest event time of its rows, such as "1 day": two rows that lie no further apart are
            compared. After that the next row of the key goes on, whatever its order. Each key stays in state for so long.

        Raises
        ------
        JobDefinitionError
            Without a key, behind a stateful operator, or if the horizon is not a duration above zero, of whole milliseconds and at most a
            hundred years.
        """
        self._without_state("latest")
        return Stream(self.node.then(latest_of(key, order_by, within)))

    def keyed(
        self,
        *key: str,
        state: "Mapping[str, str | Field]",
        on_row: Step,
        on_timer: "Mapping[str, Step] | None" = None,
        ttl: str | None = None,
        order_by: str | None = None,
    ) -> "Stream":
        """State of a key that is declared in SQL: each row changes it and gives rows; so does a timer that is due.

        The rows of a key in one batch are taken by event time, then by a hash of the row. Nothing may stand after it.

        Parameters
        ----------
        key
            Columns that say whose state it is. A row in which one is null leaves by `.rejected`.
        state
            By field what a key without a state has: `{"total": "0D"}`, whose type is that of the field; `sp.list_of(...)`, `sp.map_of(...)`.
        on_row
            What a row does, `sp.step(set=..., emit=...)`. A record that gives no row is counted as `absorbed`.
        on_timer
            By the name of a timer what it does when the watermark has reached its instant; it is set as a field is.
        ttl
            How long a key is remembered after the latest event time of its rows, and until its timers have fired: "1 day", "never" for ever.
        order_by
            A column: of rows of one event time those come first that are least by it, before a hash decides.

        Raises
        ------
        JobDefinitionError
            After a stateful operator, if the parts do not fit together, or when the plan is built an expression does not fit.
        """
        self._without_state("keyed")
        return Stream(self.node.then(keyed_by(key, state, on_row, on_timer, ttl, order_by)))

    def window(
        self,
        window: Window,
        *,
        by: str | tuple[str, ...] | list[str] = (),
        allowed_lateness: str = "0 seconds",
        emit: str = "final",
    ) -> "WindowedStream":
        """Groups rows by event-time window and key; follow it with `.aggregate(...)`.

        Behind another window it groups the rows of that one, each by the end of its window: hours of minutes.

        Parameters
        ----------
        window
            `sp.tumbling("30 seconds")`, `sp.hopping("10 minutes", every="1 minute")`, `sp.session("30 minutes")`,
            `sp.calendar("day", zone="Europe/Berlin")` or `sp.shifts("06:00", "14:00", "22:00", zone="Europe/Berlin")`. A session may have
            the gap of a column, `sp.gap_of("idle_seconds", at_most="2 hours")`.
        by
            The key: a column, or several.
        allowed_lateness
            How much longer than the source's lag a window takes rows: the watermark is behind the newest event by both together. A batch
            decides what is late by the watermark of the batch before; docs/explanations/when-is-my-event-late.md has an example.
        emit
            "final": each window once, when it can no longer change. "corrections": when the watermark has passed its end, and once more for
            each batch that changes it within the allowed lateness. "early": for each batch that changes it. The last two have a column
            `revision`, from 0 on; the row with the highest is the window's last word.

        Raises
        ------
        JobDefinitionError
            If the window, the duration or the mode is not known; behind another window, if it is no window of final rows that can be
            accounted for.
        """
        self._require_open_to("window()")
        if not isinstance(window, Window):
            raise JobDefinitionError(
                f"window() got a {type(window).__name__}.",
                required='It takes sp.tumbling("30 seconds"), sp.hopping(...), sp.session(...), sp.calendar(...) or sp.shifts(...).',
            )
        emission = emission_named(emit, window)
        try:
            lateness = parse_duration(allowed_lateness)
        except ValueError as problem:
            raise JobDefinitionError(f"window(allowed_lateness={allowed_lateness!r}): {problem}.") from problem
        keys = (by,) if isinstance(by, str) or not isinstance(by, tuple | list) else tuple(by)
        require_names("window(by=...)", keys)
        require_behind(self.node, window, keys, emission)
        if window.needs_key and not keys:
            raise JobDefinitionError(
                f"window({window}) without a key.",
                required="A session is that of a key: Spark has no sessions of all events together.",
                remedy='Say whose sessions they are: by="client". For one session of all, make a column that is the same in every row.',
            )
        return WindowedStream(self.node, window, keys, lateness, emission)

    @property
    def rejected(self) -> SideOutput:
        """The rows that could not be parsed, had no usable event time or gap, or failed a requirement, with `reason` and `original`."""
        return SideOutput(REJECTED, self.node)

    @property
    def late(self) -> SideOutput:
        """The rows that came at or behind the late bound (R10), with all their columns and `reason`."""
        if not self.node.stateful:
            raise JobDefinitionError(
                "A stream without deduplicate(), latest() or window() has no late rows: nothing is dropped by time.",
                remedy="Leave it out. Where one of them follows, take .late from the stream after that, the one that the job returns.",
            )
        return SideOutput(LATE, self.node)

    @property
    def duplicates(self) -> SideOutput:
        """The rows that `deduplicate` drops, with all their columns and `reason`.

        Where the job does not return it they are only counted. It costs every row that is deduplicated all its columns in the exchange
        before, also those that the job does not use, and a copy in memory until the row is known to stay; each dropped one is written.
        """
        if self._has(OrderedDeduplicate):
            raise JobDefinitionError(
                "deduplicate(order_by=...) has no duplicates as rows.",
                required="Its state holds the row of each key that stays so far, and a number of the others, not these.",
                remedy="Leave order_by out for an output of duplicates; the account counts them here.",
            )
        if not self._has(Deduplicate):
            raise JobDefinitionError(
                "A stream without deduplicate() has no duplicates: no row is dropped for its key.",
                remedy="Leave it out. Where deduplicate() follows, take .duplicates from the stream after that, the one that the job returns.",
            )
        return SideOutput(DUPLICATE, self.node)

    def tagged(self, name: str) -> SideOutput:
        """The rows that steps of `keyed` give to the side output of a name, `sp.emit(..., to=NAME)`."""
        return SideOutput(side_of(self.node, "tag", name), self.node)

    def overflow(self, field: str) -> SideOutput:
        """What a list or a map of `keyed` has lost since it was full: `value`, of a map also `key`."""
        return SideOutput(side_of(self.node, "overflow", field), self.node)

    def _has(self, kind: type[Stateful]) -> bool:
        return any(isinstance(operator, kind) for operator in self.node.keeping)

    def _require_open_to(self, method: str) -> None:
        """JobDefinitionError where the operator with state whose rows come out lets nothing of a kind stand behind it."""
        problem = None if self.node.last is None else self.node.last.refuses(method)
        if problem is not None:
            raise problem

    def _before_state(self, method: str) -> None:
        """JobDefinitionError for a step on each row that does not stand before all state."""
        last = self.node.last
        if last is not None:
            raise JobDefinitionError(
                f"{method}() stands after {last.call}.",
                required="What left there would already have changed the state, and the account would not add up.",
                remedy=f"Put {method}() before {self.node.keeping[0].call}."
                + (
                    " What goes by an aggregate: mark the rows by transform() in a column, and let whoever reads them decide."
                    if self._has(WindowAggregate)
                    else ""
                ),
            )

    def _without_state(self, method: str) -> None:
        """JobDefinitionError for an operator that keeps state, where another one does before it."""
        last = self.node.last
        if last is not None:
            raise JobDefinitionError(
                f"{method}() stands after {last.call}.",
                required="Which rows of a key go on is decided by one of them: a row that the first leaves out never comes to the second.",
                remedy=f"Take one of the two; or return the stream of {last.call} as an output, and read that by another job.",
            )


def _require_condition(where: str, condition: Any) -> None:
    if not isinstance(condition, str) and not hasattr(condition, "isNull"):
        raise JobDefinitionError(
            f"{where} got a {type(condition).__name__}.",
            required='A condition is a SQL expression such as "notional > 0", or a PySpark column of type boolean.',
        )


class WindowedStream:
    """A stream cut into windows, waiting for its aggregates."""

    def __init__(self, node: Node, window: Window, by: tuple[str, ...], allowed_lateness: Any, emission: Emission) -> None:
        self._node, self._window, self._by, self._lateness = node, window, by, allowed_lateness
        self._emission = emission

    def aggregate(self, **aggregates: "Column | Declared") -> Stream:
        """Rows per window and key: the key columns, `window_start`, `window_end` (TIMESTAMP, UTC) and the aggregates.

        Where a window can give several rows (`emit`), they have `revision` (BIGINT) too, from 0 on.

        Parameters
        ----------
        aggregates
            A name for each, and a PySpark aggregate such as `exposure=F.sum("notional")`, an `sp.accumulator(...)` of your own, or a sketch:
            `**sp.sketch.percentiles("latency_ms", p95=0.95)`, `users=sp.sketch.distinct("user")`, `paths=sp.sketch.top_k("path", 5)`.
        """
        if not aggregates:
            raise JobDefinitionError("aggregate() needs an aggregate.", remedy='For example: aggregate(trades=F.count("*")).')
        for name, column in aggregates.items():
            if not hasattr(column, "alias") and not isinstance(column, Declared):
                raise JobDefinitionError(
                    f"aggregate({name}=...) is a {type(column).__name__}.",
                    required='An aggregate is a PySpark column, such as F.sum("notional"), an sp.accumulator(...) or one of sp.sketch.',
                )
        reserved = (*_RESERVED, REVISION) if self._emission.revised else _RESERVED
        if self._emission.revised and REVISION in self._by:
            raise JobDefinitionError(
                f'window(by="{REVISION}"): that name numbers the rows of a window.',
                remedy="Rename the column by transform(), before deduplicate() and the window.",
            )
        taken = sorted((set(reserved) | set(self._by)) & set(aggregates))
        if taken:
            raise JobDefinitionError(
                f"aggregate({taken[0]}=...): that name is taken by the window or its key.", remedy="Choose another name."
            )
        require_plain(self._node, aggregates)
        step = WindowAggregate(self._window, self._by, self._lateness, dict(aggregates), self._emission)
        return Stream(self._node.then(step))
