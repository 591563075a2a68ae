"""`sp.OperatorTest`: rows and watermarks pushed into what a job does with a stream, without a cluster and without a JVM.

What answers is the twin that a proof holds Spark against: plain Python, the same rules, milliseconds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from streamproof.core.clock import to_micros
from streamproof.core.durations import parse_duration
from streamproof.errors import JobDefinitionError
from streamproof.prove.oracle import sql
from streamproof.prove.oracle.arrived import Arrived, plain
from streamproof.prove.oracle.asked import AskedTime
from streamproof.prove.oracle.model import Tree
from streamproof.prove.oracle.query import Query, query_asked
from streamproof.prove.oracle.rows import Row
from streamproof.prove.subjects.job.calls import AskedStream, stream_of, written_down

_LIKE_AN_INSTANT = 10**14
"""Microseconds since 1970 from 1973 on: such a number in a row or in state is shown as an instant."""
Shown = Mapping[str, Any]


@dataclass(frozen=True)
class Pushed:
    """What a batch gave.

    Parameters
    ----------
    rows
        The rows of the main output. Of a window they have its key, `window_start`, `window_end` and `rows`, what is in it.
    sides
        By name the rows of each side output, and what is only counted: "late", "rejected", "absorbed", "duplicate", "tag:alerts".
    """

    rows: Sequence[Shown] = ()
    sides: Mapping[str, Sequence[Shown]] = field(default_factory=dict)


class OperatorTest:
    """An operator, or several one after another, as a test pushes rows into it.

    Parameters
    ----------
    steps
        What a job does with a stream: `lambda payments: payments.keyed(...)`.
    event_time
        The column of the event time: datetimes, or texts in ISO 8601, of UTC where they name no zone.
    lag
        How far the watermark is behind the newest event, as in `streamproof.toml`.

    Raises
    ------
    JobDefinitionError
        If the steps have a function of the user's or a PySpark column in them: these need Spark, and a proof has it.
    """

    def __init__(self, steps: Callable[[Any], Any], *, event_time: str, lag: str = "0 seconds") -> None:
        with written_down():
            asked = steps(stream_of("rows"))
        if not isinstance(asked, AskedStream):
            raise JobDefinitionError(
                f"OperatorTest() got steps that return a {type(asked).__name__}.",
                required="They take a stream and return one.",
                remedy='For example: sp.OperatorTest(lambda rows: rows.deduplicate("id"), event_time="ts").',
            )
        self._query: Query = query_asked("rows", asked.asked, AskedTime(event_time, parse_duration(lag)))
        self._tree, self._event_time = Tree(self._query), event_time
        self._given: dict[str, Shown] = {}
        self._bound_us = self._watermark_us = self._newest_us = 0

    def push(self, *rows: Shown) -> Pushed:
        """A batch of rows; the watermark is then that of the rows of earlier batches."""
        self._watermark_us = max(self._watermark_us, (self._newest_us - self._query.delay_us) // 1_000 * 1_000)
        return self._batch(rows)

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
                "rows": [self._given[one] for one in contents.traces],
            }
            for (key, start), contents in held.groups.items()
        }
        return {**windows, **{key: {"expires": _instant(expiry)} for key, expiry in held.keys.items()}}

    def _batch(self, rows: Sequence[Shown]) -> Pushed:
        passed, left = [], dict[str, list[Shown]]()
        for row in rows:
            trace = f"r-{len(self._given):06d}"
            self._given[trace] = row
            record = self._arrived(trace, row)
            if record.fate == "passed":
                passed.append(record)
            else:
                left.setdefault(str(record.fate), []).append({**row, "reason": record.reason})
        steps = self._tree.walk(passed, self._bound_us, self._watermark_us)
        self._bound_us = self._watermark_us
        times = [record.time_us for record in passed if record.time_us is not None]
        self._newest_us = max([self._newest_us, *times])
        out, sides = steps[self._query.output], dict(left)
        for node in self._query.nodes:
            of_records = {
                kind: [self._given[one] for row in there for one in row.traces] for (kind, _), there in steps[node].sides.items()
            }
            made = {f"{kind}:{name}": [_shown(row.values) for row in there] for (kind, name), there in steps[node].made.items()}
            sides |= {side: [*sides.get(side, []), *there] for side, there in {**of_records, **made}.items() if there}
        return Pushed([self._row(row) for row in out.rows], sides)

    def _row(self, row: Row) -> Shown:
        if row.group is not None:
            (key, start), contents = row.group.key, row.group.contents
            named = dict(zip(self._query.grouped.by if self._query.grouped else (), key, strict=True))
            bounds = {"window_start": _instant(start), "window_end": _instant(contents.end_us)}
            return {**named, **bounds, "rows": [self._given[trace] for trace in contents.traces]}
        return _shown(row.values) if self._query.output.twin.makes else self._given[row.traces[0]]

    def _arrived(self, trace: str, row: Shown) -> Arrived:
        values = {name: _micros(value) if name == self._event_time else plain(value) for name, value in row.items()}
        time_us = values.get(self._event_time)
        if time_us is None:
            return Arrived(trace, "rejected", f"no event time in {self._event_time}")
        (way,) = self._query.ways
        found = _OneByOne(values)
        for twin in way.steps:
            found = twin.applied(found)
            if found.fate is not None:
                return Arrived(trace, found.fate[0], found.fate[1])
        missing = next((name for name in way.columns if name.split(".")[0] not in row), None)
        if missing is not None:
            raise JobDefinitionError(f'The rows of the test have no column "{missing}".', required=f"They have {', '.join(row)}.")
        reason = way.refuses(values)
        return Arrived(trace, "rejected", reason) if reason is not None else Arrived(trace, "passed", None, time_us, values)


@dataclass(frozen=True)
class _OneByOne:
    """One row, as the row-wise steps look at it; `fate` says where it has left."""

    values: Shown
    fate: tuple[str, str] | None = None

    def required(self, conditions: Any) -> "_OneByOne":
        for said, condition in conditions:
            holds = _value(condition, self.values)
            if holds is not True:
                return _OneByOne(self.values, ("rejected", said if holds is False else f"{said} (is null)"))
        return self

    def kept(self, condition: Any, name: str) -> "_OneByOne":
        return self if _value(condition, self.values) is True else _OneByOne(self.values, ("filtered", name))

    def made(self, function: Callable[[Any], Any]) -> "_OneByOne":
        raise _needs_spark("transform()")


def _value(condition: Any, values: Shown) -> Any:
    if not isinstance(condition, str):
        raise _needs_spark("a condition that is a PySpark column")
    try:
        return sql.value_of(condition)({name.lower(): value for name, value in values.items()})
    except sql.NotModelled as problem:
        raise _needs_spark(f'"{condition}" ({problem})') from problem


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
    return to_micros(found if found.tzinfo else found.replace(tzinfo=UTC)) if isinstance(found, datetime) else found


def _instant(us: int) -> datetime:
    return datetime.fromtimestamp(us // 1_000_000, UTC).replace(microsecond=us % 1_000_000)


def _shown(values: Shown) -> Shown:
    return {name: _value_shown(value) for name, value in values.items()}


def _value_shown(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LIKE_AN_INSTANT:
        return _instant(value)
    if isinstance(value, Mapping):
        return _shown(value)
    return [_value_shown(one) for one in value] if isinstance(value, tuple) else value
