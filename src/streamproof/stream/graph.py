"""From a tree of operators to a Spark plan: the watermark of each source, the late door, and what state is made by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from streamproof.core import rejections
from streamproof.core.clock import LAST_MICROS
from streamproof.core.durations import micros_of
from streamproof.errors import JobDefinitionError
from streamproof.stream.doors import Doors
from streamproof.stream.emissions.emission import REVISION
from streamproof.stream.identity import MadeBy, state_of
from streamproof.stream.names import MADE, ORIGINAL, TRACE, hidden_in, visible
from streamproof.stream.node import Node
from streamproof.stream.operators.operator import EventTimeColumn, Kept, RowWise, Stateful
from streamproof.stream.problems import needs_event_time, require_columns
from streamproof.stream.together import require_alike, require_one_event_time, together
from streamproof.stream.windows.window import DELAY, delay_of


@dataclass(frozen=True)
class Plan:
    """The streaming plan of a query, and what its state is made by (R25)."""

    rows: DataFrame
    made_by: MadeBy


@dataclass(frozen=True)
class Read:
    """What comes from a source: its rows, already parsed, and its event time, which operators that keep state require."""

    rows: DataFrame
    event_time: EventTimeColumn | None = None


def build(root: Node, reads: Mapping[str, Read], doors: Doors) -> Plan:
    """The streaming plan of a query.

    Parameters
    ----------
    root
        Its output.
    reads
        What comes from its sources, by their names.
    doors
        Where records leave.

    Raises
    ------
    JobDefinitionError
        If a step names a column that is not there, needs an event time where none is declared, or puts streams with other columns together.
    """
    growing = _Growing(root, reads, doors)
    if not root.stateful:
        parts = growing.parts(root)
        rows = next(iter(parts.values()))
        united = [part.drop(MADE) for part in parts.values()]
        return Plan(together(united, _shown(rows)) if len(united) > 1 else united[0], state_of(root, ()))
    rows = growing.kept(root, followed=False).rows
    if isinstance(root.operator, RowWise):
        rows = rows.select(*(hidden := hidden_in(rows.columns)), *[name for name in rows.columns if name not in hidden])
    return Plan(rows, state_of(root, growing.reaching))  # behind the plan, which says in our words what cannot be planned


class _Growing:
    """A plan that grows along the tree, from its sources on.

    `reaching` is what comes to each operator with state by each of its inputs, in their order.
    """

    def __init__(self, root: Node, reads: Mapping[str, Read], doors: Doors) -> None:
        self._reads, self._doors = reads, doors
        self._lateness, self._revised = root.allowed_lateness, root.emission.revised
        self.reaching: list[list[DataFrame]] = []

    def parts(self, node: Node, required: Sequence[RowWise] = ()) -> dict[str, DataFrame]:
        """By source its rows behind the row-wise operators up to a node, and what is required behind that; they have the same columns."""
        parts = self._row_wise(node)
        for step in required:
            parts = {source: step.streaming(part, self._doors) for source, part in parts.items()}
        if len(parts) > 1:
            require_alike({source: _types(part) for source, part in parts.items()}, "What stands behind union() makes it one")
        return parts

    def _row_wise(self, node: Node) -> dict[str, DataFrame]:
        if node.source:
            return {node.source: self._reads[node.source].rows}
        parts = {source: part for below in node.inputs for source, part in self._row_wise(below).items()}
        if isinstance(node.operator, RowWise):
            return {source: node.operator.streaming(part, self._doors) for source, part in parts.items()}
        require_alike({source: _types(part) for source, part in parts.items()})
        return parts

    def kept(self, node: Node, *, followed: bool, required: Sequence[RowWise] = ()) -> Kept:
        """What comes out of a node, where it keeps state or one below it does.

        Parameters
        ----------
        followed
            Whether an operator with state stands behind it.
        required
            What those behind it require of rows, before anything is in state.
        """
        operator = node.operator
        if isinstance(operator, RowWise):
            (below,) = node.inputs
            before = self.kept(below, followed=followed, required=required)
            return Kept(self._after_state(operator, before.rows), before.time)
        assert isinstance(operator, Stateful), "behind state nothing puts streams together that keeps none"
        required = (*operator.requires(), *required)
        coming = [self._coming(operator, number, below, required) for number, below in enumerate(node.inputs)]
        self.reaching.append([reaches for reaches, _ in coming])
        return operator.meet([ready for _, ready in coming], self._doors, followed=followed)

    def _coming(self, operator: Stateful, number: int, below: Node, required: Sequence[RowWise]) -> tuple[DataFrame, Kept]:
        """What comes to an operator with state by one of its inputs: as it reaches it, and as the operator takes it."""
        if not below.stateful:
            return self._admitted(operator, number, self.parts(below, required))
        before = self.kept(below, followed=True, required=required)
        _require_mentioned(operator, before.rows)
        return before.rows, Kept(operator.ready(before.rows, before.time, self._doors), before.time)

    def _admitted(self, operator: Stateful, number: int, parts: Mapping[str, DataFrame]) -> tuple[DataFrame, Kept]:
        """The rows that come to the first operator with state on their way, by one of its inputs: as they reach it, and behind one late door
        and one watermark for each source, of which the least counts (R13). What this one lets in, no later one drops (R10).
        """
        times = {source: _event_time(operator, source, self._reads[source], part) for source, part in parts.items()}
        require_one_event_time({source: time.column for source, time in times.items()})
        reaches = next(iter(parts.values()))
        _require_mentioned(operator, reaches)
        (column,) = {time.column for time in times.values()}
        delays, behind = [], []
        for source, part in parts.items():
            delay = micros_of(times[source].lag + self._lateness) // 1000
            delays.append(delay)
            behind.append(self._behind_the_door(operator, number, part, column, delay))
        rows = behind[0]
        if len(behind) > 1:
            rows = together(behind, [name for name in rows.columns if name != ORIGINAL])
            if delay_of(rows, column):  # a batch has none
                # Spark takes the metadata of the first: what a deduplication remembers must last as long as copies can come from any (R12).
                rows = rows.withMetadata(column, {DELAY: max(delays)})
        return reaches, Kept(rows, column)

    def _behind_the_door(self, operator: Stateful, number: int, part: DataFrame, column: str, delay_ms: int) -> DataFrame:
        clock = column, f"{delay_ms} milliseconds"
        if MADE in part.columns and isinstance(part.schema[column].dataType, TimestampType):
            part = self._doors.reject(part, _no_time(column))
        # Spark's watermark takes rows one by one, out of a compiled loop. It stands behind the late door, so that the steps up to there are one
        # loop; but before windows that overlap, which make several rows of each. No late row is the newest: the watermark is the same.
        if operator.multiplies:
            part = part.withWatermark(*clock)
        rows = operator.admit(number, operator.ready(part, column, self._doors), column, self._doors)
        rows = self._doors.watched(rows, operator.grouped_by, operator.name).drop(MADE)
        return rows if operator.multiplies else rows.withWatermark(*clock)

    def _after_state(self, operator: RowWise, rows: DataFrame) -> DataFrame:
        """What a row-wise operator makes of the rows of one with state, whose hidden columns must stay."""
        made = operator.after_state(rows)
        _require_hidden(made, hidden_in(rows.columns))
        if self._revised:
            _require_revision(made)
        return made


def _require_mentioned(operator: Stateful, rows: DataFrame) -> None:
    """JobDefinitionError where an operator names a column that does not reach it."""
    for mention in operator.mentioned():
        if mention.exact:
            require_columns(rows, mention.columns, mention.where)


def _event_time(operator: Stateful, source: str, read: Read, rows: DataFrame) -> EventTimeColumn:
    if read.event_time is None:
        raise needs_event_time(operator.call, source, _types(read.rows))
    require_columns(rows, [read.event_time.column], "the event time")
    return read.event_time


def _no_time(column: str) -> Column:
    """Why a row has no usable event time behind a transform (string); null where it has one. Spark would drop it, or keep it for ever."""
    usable = F.unix_micros(column).between(F.lit(-LAST_MICROS), F.lit(LAST_MICROS))
    return F.when(~F.coalesce(usable, F.lit(False)), F.lit(rejections.no_time(column)))


def _types(rows: DataFrame) -> dict[str, str]:
    return {name: rows.schema[name].dataType.simpleString() for name in visible(rows.columns)}


def _shown(rows: DataFrame) -> list[str]:
    """The columns that sources have in common: those of the job, and in proofs the trace."""
    return [name for name in rows.columns if name == TRACE or name in visible(rows.columns)]


def _require_revision(rows: DataFrame) -> None:
    if REVISION not in rows.columns:
        raise JobDefinitionError(
            f"The function given to transform() behind aggregate() leaves out the column {REVISION}.",
            required="A window can give several rows: the one with the highest revision is its last word, and nothing else tells them apart.",
            remedy=f'Leave columns out with rows.drop(...), or select "{REVISION}" too.',
        )


def _require_hidden(rows: DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise JobDefinitionError(
            f"The function given to transform() behind aggregate() leaves out the hidden column {missing[0]}.",
            required="It counts the records of each row for the account, and is taken off before the rows are written.",
            remedy=f'Leave columns out with rows.drop(...), or select "{missing[0]}" too.',
        )
