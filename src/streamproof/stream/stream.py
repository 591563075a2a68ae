"""Streams: what a job function composes, node by node; each is immutable."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from streamproof.core.durations import parse_duration
from streamproof.errors import JobDefinitionError
from streamproof.stream.arguments import Names, On, require_condition
from streamproof.stream.emissions.named import emission_named
from streamproof.stream.keyed import Field, Initial, Step
from streamproof.stream.leaving import SideOutputs
from streamproof.stream.names import require_names
from streamproof.stream.operators import Condition, Deduplicate, Filter, Require, Transform, Union, WindowAggregate
from streamproof.stream.operators.horizon import horizon_of
from streamproof.stream.operators.join import How, Join
from streamproof.stream.operators.keyed import keyed_by
from streamproof.stream.operators.latest import latest_of
from streamproof.stream.operators.lookup import lookup_of
from streamproof.stream.operators.ordered import OrderedDeduplicate, require_ordered
from streamproof.stream.operators.rules import rules_of
from streamproof.stream.operators.union import require_possible
from streamproof.stream.operators.window_behind import deduplicated_windows, require_behind
from streamproof.stream.problems_of_joins import after_join, interval_of, join_key, require_how, require_two_streams
from streamproof.stream.windowed import WindowedStream
from streamproof.stream.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_COPIES_COME = 'Write how long copies can come, such as within="10 minutes". Without within it is lag + allowed lateness.'


class Stream(SideOutputs):
    """A named source and what is done to it; every method returns a new stream and leaves this one as it is."""

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
            require_condition(f"require({name}=...)", condition)
        self._before_state("require")
        return Stream(self.node.then(Require(dict(conditions))))

    def filter(self, condition: Condition, *, name: str) -> "Stream":
        """Keeps the rows for which the condition is true; the others are counted as `filtered` under the name.

        Raises
        ------
        JobDefinitionError
            Behind a stateful operator: filter before it, or mark rows there in a column that `transform` makes.
        """
        require_condition(f"filter(name={name!r})", condition)
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

    def lookup(
        self, table: str, *, on: On, columns: "Names | None" = None, how: str = "inner", as_of: str | None = None
    ) -> "Stream":
        """Adds columns of a table to each row: of the table's row that has its key; a row without one leaves by `.unmatched`.

        The version of the table that a batch uses is fixed before it begins, and in its manifest: a batch that is done again uses it again.

        Parameters
        ----------
        table
            The name of a table of the configuration, [table.NAME].
        on
            The columns of the key: `on="sku"`, or `on={"product": "sku"}` where the table calls it otherwise.
        columns
            The columns of the table that are added; by default all but the key and the validity.
        how
            "inner": a row without one in the table leaves by `.unmatched`. "left": it goes on, with nulls in these columns.
        as_of
            A column (TIMESTAMP) that says at which instant the table's row must hold, such as the event time; the table has `valid_from` then.

        Raises
        ------
        JobDefinitionError
            Behind a stateful operator, or if the arguments make no sense; when the plan is built, if the columns do not fit those of the table.
        """
        self._before_state("lookup")
        return Stream(self.node.then(lookup_of(table, on, columns, how, as_of)))

    def rules(self, table: str, *, rule: str, when: str, into: str = "rules") -> "Stream":
        """Holds rules against each row: conditions in SQL that a table has, and that change while the job runs.

        Every row goes on, with the names of the rules that hold for it, and of those that fail on it, as one that divides by zero. A rule that
        cannot be read is rejected when it comes, and the former one of its name stays. Which rules a batch uses is in its manifest.

        Parameters
        ----------
        table
            The name of a table of the configuration, [table.NAME].
        rule, when
            Its columns (string) with the name of a rule, one row each, and with its condition over the columns of the stream: "amount > 900".
        into
            The name of the column (array of strings, in their order) that is added; the other one is called the same with "_failed" behind it.

        Raises
        ------
        JobDefinitionError
            Behind a stateful operator, or if the arguments make no sense; when the plan is built, if a column is not there, or is there already.
        """
        self._before_state("rules")
        return Stream(self.node.then(rules_of(table, rule, when, into)))

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
        if order_by is not None or not isinstance(self.node.operator, Join):
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
            Without a key, after an operator with state, or if the horizon is not a duration above zero, of whole milliseconds and at most a
            hundred years.
        """
        self._without_state("latest")
        return Stream(self.node.then(latest_of(key, order_by, within)))

    def join(
        self,
        right: "Stream",
        *,
        on: str | tuple[str, ...] | list[str],
        between: tuple[str, str],
        how: str = "inner",
    ) -> "Stream":
        """Rows of this stream, the left one, and of another one that have one key and happened within a stretch of time of each other.

        A row that comes out has the columns of both: first those of the left stream, then those of the right one but for the key. A column of the
        right one whose name the left one has too is called by that name with `_right` behind it. A row meets as many as there are for it.

        A row waits for its partner until the watermark has passed the last instant at which that can have happened. Who has met none by then
        leaves by `.unmatched_left` and `.unmatched_right`, or comes out with nulls for the other side where `how` says so. A null in the key
        matches nothing. The watermark is the least of those of both sources.

        Parameters
        ----------
        right
            A stream of another source.
        on
            The column of the key, or several: both streams have them, with the same types.
        between
            How much later than the left row the right one happens, at least and at most, both included: ("-10 minutes", "24 hours") is from ten
            minutes before it to a day after it.
        how
            Which rows without a partner are part of the output: those of neither stream ("inner"), of the "left" one, of the "right" one, of
            both ("full").

        Raises
        ------
        JobDefinitionError
            Without a time bound, with bounds the wrong way round, behind a stateful operator, for two streams of one source; when the plan is
            built, if a column is not there, or has another type in the other stream.
        """
        if not isinstance(right, Stream):
            raise JobDefinitionError(
                f"join() got a {type(right).__name__}.",
                required="It takes another stream of the job, of another source; the rows of a table come by lookup().",
            )
        require_two_streams(self.node, right.node)
        earliest, latest = interval_of(between)
        return Stream(self.node.then(Join(join_key(on), earliest, latest, How(require_how(how))), right.node))

    def keyed(
        self,
        *key: str,
        state: "Mapping[str, str | Field]",
        on_row: Step,
        on_timer: "Mapping[str, Step] | None" = None,
        ttl: str | None = None,
        order_by: str | None = None,
        initial: "Initial | None" = None,
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
        order_by, initial
            A column: of rows of one event time those come first that are least by it. The state before the first batch: `sp.initial("TABLE")`.

        Raises
        ------
        JobDefinitionError
            After a stateful operator, if the parts do not fit together, or when the plan is built an expression does not fit.
        """
        self._without_state("keyed")
        return Stream(self.node.then(keyed_by(key, state, on_row, on_timer, ttl, order_by, initial)))

    def window(
        self,
        window: Window,
        *,
        by: str | tuple[str, ...] | list[str] = (),
        allowed_lateness: str = "0 seconds",
        emit: str = "final",
    ) -> "WindowedStream[Stream]":
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
        return WindowedStream(self.node, window, keys, lateness, emission, Stream)

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
        if self._has(Join):
            raise after_join(f"{method}()")
        last = self.node.last
        if last is not None:
            raise JobDefinitionError(
                f"{method}() stands after {last.call}.",
                required="Which rows of a key go on is decided by one of them: a row that the first leaves out never comes to the second.",
                remedy=f"Take one of the two; or return the stream of {last.call} as an output, and read that by another job.",
            )
