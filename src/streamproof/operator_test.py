"""`sp.OperatorTest`: rows and watermarks pushed into what a job does with a stream, without a cluster and without a JVM.

What answers is the twin that a proof holds Spark against: plain Python, the same rules, milliseconds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from inspect import signature
from typing import Any

from streamproof.core.clock import to_micros
from streamproof.core.durations import parse_duration
from streamproof.errors import DataError, JobDefinitionError
from streamproof.prove.oracle import sql
from streamproof.prove.oracle.arrived import Arrived, plain
from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.model import Tree
from streamproof.prove.oracle.query import Query, query_asked
from streamproof.prove.oracle.rows import Row, WindowContents
from streamproof.prove.oracle.tables import HoldsRules, LooksUp, PlainTable
from streamproof.prove.oracle.trace import apart
from streamproof.prove.subjects.job.calls import AskedStream, stream_of, streams_in, written_down
from streamproof.stream.job import Job
from streamproof.stream.keyed.rules import require_free
from streamproof.stream.outputs import Outputs

_FAILS = (sql.Refused, ValueError, ArithmeticError)
"""What working out a condition raises where Spark would fail on the row."""
Shown = Mapping[str, Any]


@dataclass(frozen=True)
class Pushed:
    """What a batch gave.

    Parameters
    ----------
    rows
        The rows of the main output. Of a window they have its key, `window_start`, `window_end` and `rows`, what is in it.
    sides
        By name the rows of each side output, and what is only counted: "late", "rejected", "absorbed", "duplicate", "tag:alerts", "unmatched:left".
    """

    rows: Sequence[Shown] = ()
    sides: Mapping[str, Sequence[Shown]] = field(default_factory=dict)


class OperatorTest:
    """An operator, or several one after another, as a test pushes rows into it.

    Parameters
    ----------
    steps
        What a job does with a stream, `lambda payments: payments.keyed(...)`, or with several, which it calls by the names of its parameters. Or
        a whole job with one main output.
    event_time
        The column of the event time: datetimes, or texts in ISO 8601, of UTC where they name no zone. By stream where they call it otherwise.
    lag
        How far the watermark is behind the newest event, as in `streamproof.toml`; of several streams that of each.

    Raises
    ------
    JobDefinitionError
        If the steps have a function of the user's or a PySpark column in them: these need Spark, and a proof has it. If a job has several main
        outputs.
    """

    def __init__(self, steps: Callable[..., Any], *, event_time: str | Mapping[str, str], lag: str = "0 seconds") -> None:
        function = steps.function if isinstance(steps, Job) else steps
        streams = tuple(signature(function).parameters)
        with written_down():
            asked = function(*map(stream_of, streams))
        asked = _only_main(asked) if isinstance(asked, Outputs) else asked
        if not isinstance(asked, AskedStream):
            raise JobDefinitionError(
                f"OperatorTest() got steps that return a {type(asked).__name__}.",
                required="They take a stream, or several, and return one.",
                remedy='For example: sp.OperatorTest(lambda rows: rows.deduplicate("id"), event_time="ts").',
            )
        columns = dict.fromkeys(streams, event_time) if isinstance(event_time, str) else event_time
        missing = next((name for name in streams if name not in columns), None)
        if missing is not None:
            raise JobDefinitionError(f"OperatorTest(event_time=...) does not say which column is that of {missing}.")
        times = {name: AskedTime(columns[name], parse_duration(lag)) for name in streams}
        several = times if len(streams) > 1 else None
        self._query: Query = query_asked("rows", asked.asked, times[streams[0]], several)
        self._tree, self._streams, self._event_times = Tree(self._query), streams, columns
        self._given: dict[str, Shown] = {}
        self._stream_of: dict[str, str] = {}
        self._columns: dict[str, dict[str, None]] = {}
        self._tables: dict[str, PlainTable] = {}
        self._bound_us = self._watermark_us = 0
        self._newest_us: dict[str, int] = {}
        self._begun = False

    def table(self, name: str, rows: Sequence[Shown], *, valid_from: str | None = None, valid_to: str | None = None) -> None:
        """What a table of `lookup` or `rules` holds from the next batch on; one of `keyed(initial=...)`, before the first batch.

        Parameters
        ----------
        valid_from, valid_to
            The columns that say between which instants a row of it holds.
        """
        bounds = {valid_from, valid_to}
        plainly = [{column: _micros(value) if column in bounds else _plain(value) for column, value in row.items()} for row in rows]
        self._tables[name] = PlainTable(plainly, valid_from, valid_to)

    def push(self, *rows: Shown, **of_streams: Sequence[Shown]) -> Pushed:
        """A batch of rows; the watermark is then that of the rows of earlier batches.

        Parameters
        ----------
        rows
            Those of the only stream.
        of_streams
            By its name those of a stream, where there are several: `push(orders=[...], payments=[...])`.
        """
        stray = next((name for name in of_streams if name not in self._streams), None)
        if stray is not None or (rows and len(self._streams) > 1):
            raise JobDefinitionError(
                f"push() got rows of {stray}." if stray else "push() got rows that say of no stream.",
                required=f"The steps take {', '.join(self._streams)}.",
                remedy=f"Name the stream: push({self._streams[-1]}=[...]).",
            )
        if all(name in self._newest_us for name in self._streams):
            reached = min(self._newest_us[name] - self._query.clock_of(name).delay_us for name in self._streams)
            self._watermark_us = max(self._watermark_us, reached // 1_000 * 1_000)
        named = [(self._streams[0], row) for row in rows]
        return self._batch([*named, *((name, row) for name, there in of_streams.items() for row in there)])

    def advance_to(self, watermark: str | datetime) -> Pushed:
        """An empty batch with a watermark of your own, which never goes back."""
        self._watermark_us = max(self._watermark_us, int(_micros(watermark)) // 1_000 * 1_000)
        return self._batch(())

    @property
    def watermark(self) -> datetime:
        """The watermark of the newest batch."""
        return _instant(self._watermark_us)

    @property
    def state(self) -> Mapping[tuple[Any, ...], Shown]:
        """What the last operator remembers by key: the fields of declared state; of others `expires`, and of a window what is in it."""
        node = self._query.output
        state = self._tree.states[node]
        fields = state.fields()
        if fields is not None:
            return {key: _shown(values) for key, values in fields.items()}
        held = state.held()
        windows = {
            (*key, _instant(start)): {
                "window_end": _instant(contents.end_us),
                "rows": self._inside(contents),
            }
            for (key, start), contents in held.groups.items()
        }
        waiting = {(self._stream_of[one], number): self._given[one] for number, one in enumerate(held.rows)}
        return {**windows, **waiting, **{key: {"expires": _instant(expiry)} for key, expiry in held.keys.items()}}

    def _batch(self, rows: Sequence[tuple[str, Shown]]) -> Pushed:
        self._begin()
        passed, left = [], dict[str, list[Shown]]()
        for stream, row in rows:
            trace = f"r-{len(self._given):06d}"
            self._given[trace], self._stream_of[trace] = row, stream
            record = self._arrived(trace, stream, row)
            self._columns.setdefault(stream, {}).update(dict.fromkeys(self._given[trace]))
            if record.fate == "passed":
                passed.append(record)
            else:
                left.setdefault(str(record.fate), []).append({**row, "reason": record.reason})
        steps = self._tree.walk(passed, self._bound_us, self._watermark_us)
        self._bound_us = self._watermark_us
        for record in passed:
            self._newest_us[record.source] = max(self._newest_us.get(record.source, 0), record.time_us or 0)
        out, sides = steps[self._query.output], dict(left)
        for node in self._query.nodes:
            joined = node.twin.pairs is None and any(below.twin.pairs is not None for below in node.walk())
            of_records = {
                _side_named(*side): [self._of(row.traces) if joined else self._given[row.traces[0]] for row in there]
                for side, there in steps[node].sides.items()
            }
            made = {_side_named(*side): [_shown(row.values) for row in there] for side, there in steps[node].made.items()}
            sides |= {side: [*sides.get(side, []), *there] for side, there in {**of_records, **made}.items() if there}
        return Pushed([self._row(row) for row in out.rows], sides)

    def _begin(self) -> None:
        """Before the first batch: the state of keys that a table has."""
        if self._begun:
            return
        names = [node.twin.begins_with for node in self._query.nodes if node.twin.begins_with is not None]
        self._tree.begins({name: _table(self._tables, name) for name in names})
        self._begun = True

    def _row(self, row: Row) -> Shown:
        if row.group is not None:
            (key, start), contents = row.group.key, row.group.contents
            named = dict(zip(self._query.grouped.by if self._query.grouped else (), key, strict=True))
            bounds = {"window_start": _instant(start), "window_end": _instant(contents.end_us)}
            return {**named, **bounds, "rows": self._inside(contents)}
        return _shown(row.values) if self._query.output.twin.makes else self._of(row.traces)

    def _inside(self, contents: WindowContents) -> list[Shown]:
        """What is in a window: the records, or the rows of a join; of a window of windows those of all that went into it."""
        if self._query.pairs is None:
            return [self._of(apart(name)) for name in contents.traces]
        if contents.parts:
            return [one for _, part in contents.parts for one in self._inside(part)]
        return [self._of(apart(name)) for name in contents.members]

    def _of(self, traces: Sequence[str]) -> Shown:
        """A row by the traces of its records: as it came, or of a join."""
        pairs = self._query.pairs
        return self._given[traces[0]] if pairs is None else self._pair(pairs.key, traces)

    def _pair(self, key: Sequence[str], traces: Sequence[str]) -> Shown:
        """A row of a join: the columns of the left row, then those of the right one but for the key; nulls for a side that is not there."""
        there = {self._stream_of[trace]: self._given[trace] for trace in traces}
        (lefts, rights) = self._query.together
        left, right = (next((there[name] for name in names if name in there), None) for names in (lefts, rights))
        ours, theirs = ({name for one in names for name in self._columns.get(one, ())} for names in (lefts, rights))
        found = dict(left or dict.fromkeys(sorted(ours)))
        found |= {name: (left or right or {}).get(name) for name in key}
        for name in right or sorted(theirs):
            if name not in key:
                found[f"{name}_right" if name in ours else name] = (right or {}).get(name)
        return found

    def _as_joined(self, key: Sequence[str], stream: str, values: Shown) -> Shown:
        """The values of a row by the names that they have in the rows of a join, as far as the left stream's names are known by what was pushed."""
        lefts, _ = self._query.together
        ours = {name for one in lefts for name in self._columns.get(one, ())} - set(key)
        return dict(values) if stream in lefts else {f"{name}_right" if name in ours else name: one for name, one in values.items()}

    def _arrived(self, trace: str, stream: str, row: Shown) -> Arrived:
        event_time = self._event_times[stream]
        values = {name: _micros(value) if name == event_time else _plain(value) for name, value in row.items()}
        time_us = values.get(event_time)
        if time_us is None:
            return Arrived(trace, "rejected", f"no event time in {event_time}")
        way = self._query.way_of(stream)
        found = _OneByOne(values, self._tables)
        for twin in way.steps:
            found = twin.applied(found)
            if found.fate is not None:
                return Arrived(trace, found.fate[0], found.fate[1])
        self._given[trace] = {**row, **{name: value for name, value in found.values.items() if name not in row}}
        pairs = self._query.pairs
        if pairs is not None:  # columns of windows after a join may be of the other stream
            found = replace(found, values=self._as_joined(pairs.key, stream, found.values))
        for fields in (node.twin.declares for node in self._query.nodes if node.twin.declares):
            require_free(fields, found.values)
        required = way.columns if pairs is None else pairs.key
        missing = next((name for name in required if name.split(".")[0] not in found.values), None)
        if missing is not None:
            raise JobDefinitionError(f'The rows of the test have no column "{missing}".', required=f"They have {', '.join(row)}.")
        reason = way.refuses(found.values)
        if reason is not None:
            return Arrived(trace, "rejected", reason)
        return Arrived(trace, "passed", None, time_us, found.values, stream)


@dataclass(frozen=True)
class _OneByOne:
    """One row, as the row-wise steps look at it, and the tables of the test; `fate` says where it has left."""

    values: Shown
    tables: Mapping[str, PlainTable] = field(default_factory=dict)
    fate: tuple[str, str] | None = None

    def required(self, conditions: Any) -> "_OneByOne":
        for said, condition in conditions:
            holds = _value(condition, self.values)
            if holds is not True:
                return replace(self, fate=("rejected", said if holds is False else f"{said} (is null)"))
        return self

    def kept(self, condition: Any, name: str) -> "_OneByOne":
        return self if _value(condition, self.values) is True else replace(self, fate=("filtered", name))

    def made(self, function: Callable[[Any], Any]) -> "_OneByOne":
        raise _needs_spark("transform()")

    def looked_up(self, twin: LooksUp) -> "_OneByOne":
        state = _table(self.tables, twin.table)
        instant = None if twin.as_of is None else self.values.get(twin.as_of)
        try:
            number = twin.finder(state).find([self.values.get(name) for name in twin.on], instant)
        except ValueError as problem:
            raise _two_rows(twin) from problem
        if number is None and not twin.keeps_all:
            return replace(self, fate=("unmatched", twin.unmatched))
        names = twin.added(state, list(dict.fromkeys(name for row in state.rows for name in row)))
        found = dict.fromkeys(names) if number is None else {name: state.rows[number].get(name) for name in names}
        return replace(self, values={**self.values, **found})

    def ruled(self, twin: HoldsRules) -> "_OneByOne":
        holding, failing = list[str](), list[str]()
        for name, text in twin.conditions(_table(self.tables, twin.table)):
            try:
                if _worked_out(text, self.values) is True:
                    holding.append(name)
            except _FAILS:
                failing.append(name)
        return replace(self, values={**self.values, twin.into: holding, f"{twin.into}_failed": failing})


def _table(tables: Mapping[str, PlainTable], name: str) -> PlainTable:
    if name not in tables:
        raise JobDefinitionError(
            f'OperatorTest() knows no table "{name}".', remedy=f'Say what it holds: test.table("{name}", [{{...}}, ...]).'
        )
    return tables[name]


def _value(condition: Any, values: Shown) -> Any:
    if not isinstance(condition, str):
        raise _needs_spark("a condition that is a PySpark column")
    try:
        return _worked_out(condition, values)
    except _FAILS as problem:
        raise DataError(
            f'"{condition}" fails on a row of the test: {problem}.',
            required="Spark stops a job there.",
            remedy="Have the condition hold for such rows too, for example by try_divide() or try_cast(), or require() before it what it needs.",
        ) from problem


def _worked_out(condition: str, values: Shown) -> Any:
    """What a condition gives for a row; `_FAILS` where Spark would raise."""
    try:
        return sql.value_of(condition)({name.lower(): value for name, value in values.items()})
    except sql.NotModelled as problem:
        raise _needs_spark(f'"{condition}" ({problem})') from problem


def _two_rows(twin: LooksUp) -> DataError:
    at = "" if twin.as_of is None else " that hold at one instant"
    return DataError(
        f'The table "{twin.table}" of the test has two rows for one {", ".join(twin.on.values())}{at}.',
        required="With two rows for one key it would not be known which one a row of the stream gets: no job takes such a table.",
        remedy="Leave one of them in the table, or look up by more columns; rows that hold one after the other need valid_from and as_of.",
    )


def _needs_spark(what: str) -> JobDefinitionError:
    return JobDefinitionError(
        f"OperatorTest() cannot work out {what}.",
        required="It runs without Spark: conditions are SQL that a proof works out in plain Python, and there is no transform().",
        remedy="Leave that step out, and push rows as they are after it; sp.prove() and sp.run() take it as it is.",
    )


def _micros(given: Any) -> Any:
    if given is None:
        return None
    found = datetime.fromisoformat(given) if isinstance(given, str) else given
    return sql.Instant(to_micros(found if found.tzinfo else found.replace(tzinfo=UTC))) if isinstance(found, datetime) else found


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return _micros(value) if isinstance(value, datetime) else plain(value)


def _side_named(kind: str, name: str) -> str:
    return f"{kind}:{name}" if name else kind


def _instant(us: int) -> datetime:
    return datetime.fromtimestamp(us // 1_000_000, UTC).replace(microsecond=us % 1_000_000)


def _shown(values: Shown) -> Shown:
    return {name: _value_shown(value) for name, value in values.items()}


def _value_shown(value: Any) -> Any:
    if isinstance(value, sql.Instant):
        return _instant(value)
    if isinstance(value, Mapping):
        return _shown(value)
    return [_value_shown(one) for one in value] if isinstance(value, tuple) else value


def _only_main(outputs: Outputs) -> AskedStream:
    """The stream of a job's only main output."""
    found = streams_in(outputs)
    if len(found) != 1:
        raise JobDefinitionError(
            f"OperatorTest() got a job with {len(found)} main outputs: {', '.join(found)}.",
            required="A test looks at one stream.",
            remedy="Write the steps of one of them as a function that takes a stream and returns one, and call it in the job and in the test.",
        )
    return next(iter(found.values()))
