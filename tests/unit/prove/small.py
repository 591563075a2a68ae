"""A small subject for tests of the model and the checkers: a few records in a few batches, and the history a faultless run leaves."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import (
    Bounded,
    Declared,
    Handwritten,
    History,
    OperatorState,
    OutputHistory,
    OutputRow,
    QueryHistory,
    QueryView,
    StateContents,
)
from streamproof.prove.artifacts.reading import readings
from streamproof.prove.checkers import CheckResult, Finding, registry, run_checker
from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.query import Clock, Query, twins_of
from streamproof.prove.oracle.rows import Row
from streamproof.prove.oracle.trace import event_id
from streamproof.prove.oracle.watermark import Watermark
from streamproof.prove.oracle.windows import PlainTumbling, PlainWindow
from streamproof.prove.scenario.generate import Event, Kind
from streamproof.prove.scenario.offered import Offered
from streamproof.prove.scenario.scenario import Expect

SECOND = 1_000_000


@dataclass(frozen=True)
class Level:
    """A window before another one."""

    window: PlainWindow
    by: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shape:
    """A query in few words: what tests ask for, in microseconds. Rows go through a requirement and a filter, then a deduplication, then windows."""

    name: str
    event_time_column: str | None = None
    delay_us: int = 0
    window: PlainWindow | None = None
    by: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    deduplicate: tuple[str, ...] | None = None
    within_us: int | None = None
    max_future_us: int | None = None
    emit: str = "final"
    lateness_us: int = 0
    clocks: Mapping[str, Clock] = field(default_factory=dict)
    before: Level | None = None
    order_by: str | None = None
    keep: str | None = None

    @property
    def stateful(self) -> bool:
        return self.window is not None or self.deduplicate is not None

    @property
    def revised(self) -> bool:
        return self.emit != "final"

    @property
    def asked(self) -> Asked:
        """The calls that it is asked for by."""
        first, *others = self.clocks or ("s",)
        asked = Asked(first)
        for source in others:
            asked = asked.then("union", Asked(source))
        asked = asked.then("require", conditions={"positive": "total > 0"}).then("filter", condition="true", name="small")
        if self.deduplicate is not None:
            within = None if self.within_us is None else timedelta(microseconds=self.within_us)
            asked = asked.then("deduplicate", key=self.deduplicate, within=within, order_by=self.order_by, keep=self.keep)
        if self.before is not None:
            asked = self._cut(asked, self.before, "final")
        return asked if self.window is None else self._cut(asked, Level(self.window, self.by, self.aggregates), self.emit)

    def _cut(self, asked: Asked, level: Level, emit: str) -> Asked:
        lateness = timedelta(microseconds=self.lateness_us)
        aggregates = dict.fromkeys(level.aggregates, 1)
        return asked.then("window", window=level.window, by=level.by, allowed_lateness=lateness, emit=emit, aggregates=aggregates)

    @property
    def query(self) -> Query:
        clocks = self.clocks or {"": Clock(self.delay_us, self.max_future_us)}
        return Query(self.name, twins_of(self.asked), clocks, self.event_time_column)


WINDOW = Shape("totals", "ts", 10 * SECOND, PlainTumbling(30 * SECOND), ("client",), ("total",))
ONCE = replace(WINDOW, deduplicate=("id",))
DEDUPLICATED = replace(ONCE, window=None, by=(), aggregates=())
EARLY = replace(WINDOW, emit="early")
CORRECTED = replace(WINDOW, emit="corrections", delay_us=80 * SECOND, lateness_us=70 * SECOND)
PLAIN = Shape("rows", "ts")
FILE = "batch=000003/part-00000-bbbb.parquet"


def at(trace: str, second: float, client: str = "a", *, fate: str = "passed", key: str | None = None) -> Arrived:
    """A record with its event time in seconds after 1970; its deduplication key is its event id unless another is given."""
    reason = {"rejected": "total > 0", "filtered": "small"}.get(fate)
    return Arrived(trace, fate, reason, int(second * SECOND), {"client": client, "id": key or event_id(trace)})


def having(record: Arrived, **values: Any) -> Arrived:
    """The record with other values."""
    return replace(record, values={**record.values, **values})


RECORDS = [
    [at("e-1", 61), at("e-2", 62), at("e-1+1", 61), at("e-3", 63, "b"), at("e-4", 64, fate="rejected")],
    [at("e-5", 130), at("e-6", 65), at("e-7", 66, fate="filtered")],
    [at("e-8", 131), at("e-9", 7), at("e-10", 8)],
]


def batches_of(shape: Shape, batches: Sequence[Sequence[Arrived]], *, no_data: int = 0) -> list[BatchRead]:
    """The batches as Spark would log them: one file a batch, `no_data` empty ones after."""
    watermark = Watermark(shape.delay_us if shape.stateful else None)
    reads = []
    for number, records in enumerate([*batches, *[()] * no_data]):
        files = (f"part-{number}-0.json",) if number < len(batches) else ()
        reads.append(BatchRead(number, watermark.predicted_ms, 0, files))
        passed = [record.time_us for record in records if record.fate == "passed" and record.time_us is not None]
        watermark.saw({"": max(passed)} if passed else {})
    return reads


def files_of(batches: Sequence[Sequence[Arrived]]) -> dict[str, list[str]]:
    return {f"part-{number}-0.json": [record.trace for record in records] for number, records in enumerate(batches)}


def model_of(
    shape: Shape, batches: Sequence[Sequence[Arrived]], *, no_data: int = 0, reads: Sequence[BatchRead] | None = None
) -> Expectation:
    arrived = {record.trace: record for records in batches for record in records}
    return simulate(shape.query, arrived, reads or batches_of(shape, batches, no_data=no_data), files_of(batches))


def event_of(record: Arrived, arrival: int, batch: int) -> Event:
    """The generated event after a record; its total is 1 for each."""
    kind = Kind.OK if record.fate != "rejected" else Kind.INVALID
    values = {"id": event_id(record.trace), "client": record.values["client"], "total": 1.5, "ts": record.time_us}
    line = json.dumps({"_trace": record.trace, **values}).encode()
    return Event(record.trace, kind, values, record.time_us, line, arrival, batch, 0)


def faultless(
    shape: Shape,
    batches: Sequence[Sequence[Arrived]],
    *,
    no_data: int = 0,
    reads: Sequence[BatchRead] | None = None,
    expect: Expect | None = None,
) -> History:
    """The history of a run in which nothing went wrong."""
    model = model_of(shape, batches, no_data=no_data, reads=reads)
    arrived = {record.trace: record for records in batches for record in records}
    numbered = [(record, batch) for batch, records in enumerate(batches) for record in records]
    events = {record.trace: event_of(record, arrival, batch) for arrival, (record, batch) in enumerate(numbered)}
    values = {key: {"total": 1.5 * contents.count} for key, contents in model.emitted.items()}
    view = QueryView(
        _left(shape, model, events),
        model,
        arrived,
        Bounded(
            values if shape.window else None,
            {key: {"total": 1.5 * contents.count} for key, contents in model.rows.items()},
            {
                **{name: {"total": 1.5} for name in (*arrived, *(name for outcome in model.batches for name in outcome.given))},
                **model.made,
            },
        ),
        Handwritten(values if shape.window else None),
        Declared(model.query.root, AskedTime("ts", max_future="1 day")),
    )
    return History([view], Offered(events, files_of(batches)), expect or Expect())


def open_in(model: Expectation, number: int = 0) -> Mapping[Any, Any]:
    """The windows that are open in an operator with state, from the last one on."""
    return model.held[model.query.keeping[-1 - number]].groups


def remembered_in(model: Expectation) -> Mapping[Any, int]:
    """All keys that are remembered, with their expiry."""
    return {key: expiry for held in model.held.values() for key, expiry in held.keys.items()}


def taken_by(model: Expectation, batch: int) -> tuple[str, ...]:
    """The records of a batch that stay: in a row, or in state."""
    return tuple(trace for trace in model.by_batch[batch].traces if model.fates[trace][0] in ("emitted", "open_state"))


def with_left_by(outcome: BatchOutcome, kind: str, *traces: str) -> BatchOutcome:
    """A batch in which these records, too, leave by a side of a kind, at a leaf."""
    leaf = next(node for node in outcome.steps if node.source)
    step = outcome.of(leaf)
    rows = [*step.sides.get((kind, ""), ()), *(Row((trace,), None, {}) for trace in traces)]
    return replace(outcome, steps={**outcome.steps, leaf: replace(step, sides={**step.sides, (kind, ""): rows})})


def copies_in(outcome: BatchOutcome) -> tuple[str, ...]:
    """The event ids of the copies that a batch drops."""
    return tuple(event_id(trace) for trace in outcome.left_by("duplicate"))


def _left(shape: Shape, model: Expectation, events: Mapping[str, Event]) -> QueryHistory:
    main: list[OutputRow] = []
    late: list[OutputRow] = []
    rejected: list[OutputRow] = []
    dropped: list[OutputRow] = []
    for outcome in model.batches:
        file = f"batch={outcome.batch:06d}/part-00000-aaaa.parquet"
        for (by, start), contents in outcome.emitted.items():
            revision = {"revision": outcome.revisions[by, start]} if shape.revised else {}
            window = {"window_start": start, "window_end": contents.end_us, **revision}
            hidden = {"_records": contents.count, "_trace_hash": contents.hash}
            keys = dict(zip(shape.by, by, strict=True))
            main.append(OutputRow(outcome.batch, file, {**keys, **window, "total": 1.5 * contents.count, **hidden}))
        if shape.window is None:
            made = model.made
            main += [
                OutputRow(outcome.batch, file, {"_trace": trace, **made.get(trace, {"total": 1.5})}) for trace in outcome.given
            ]
        late += [
            OutputRow(outcome.batch, file, {"_trace": trace, "total": 1.5, "reason": "late"}) for trace in outcome.left_by("late")
        ]
        copies = outcome.dropped
        dropped += [OutputRow(outcome.batch, file, {"_trace": trace, "total": 1.5, "reason": "a copy"}) for trace in copies]
        for trace in outcome.left_by("rejected"):
            original = {"reason": "total > 0", "original": events[trace].record.decode("utf-8", "replace")}
            rejected.append(OutputRow(outcome.batch, file, original))
    outputs = [OutputHistory(shape.name, "main", tuple(main)), OutputHistory("rejected", "rejected", tuple(rejected))]
    named = _of_names(model)
    outputs += [OutputHistory("late", "late", tuple(late))] if shape.stateful and not named else []
    outputs += named
    outputs += (
        [OutputHistory("again", "duplicate", tuple(dropped))] if shape.deduplicate is not None and shape.order_by is None else []
    )
    operators = tuple(
        OperatorState(
            node.twin.holds,
            {(by, contents.end_us): contents.vector for (by, _), contents in model.held[node].groups.items()},
            dict(model.held[node].keys),
            dict(model.held[node].newest),
            rows=tuple(model.held[node].rows),
        )
        for node in reversed(model.query.keeping)
    )
    state = StateContents(operators)
    reads = tuple(outcome.read for outcome in model.batches)
    return QueryHistory(shape.name, reads, {output.name: output for output in outputs}, {}, state if shape.stateful else None)


def _of_names(model: Expectation) -> list[OutputHistory]:
    """The side outputs of which an operator has several of a kind."""
    rows: dict[tuple[str, str], list[OutputRow]] = {}
    for outcome in model.batches:
        file = f"batch={outcome.batch:06d}/part-00000-aaaa.json"
        for (kind, name), left in ((side, left) for step in outcome.steps.values() for side, left in step.sides.items() if side[1]):
            found = [OutputRow(outcome.batch, file, {"_trace": row.traces[0], "total": 1.5, "reason": kind}) for row in left]
            rows.setdefault((kind, name), []).extend(found)
    return [OutputHistory(f"{kind}_{name}", f"{kind}:{name}", tuple(found)) for (kind, name), found in rows.items()]


def with_rows(history: History, output: str, rows: Iterable[OutputRow]) -> History:
    """The history with other rows in an output of its first query."""
    view = history.queries[0]
    changed = replace(view.left.outputs[output], rows=tuple(rows))
    return with_left(history, replace(view.left, outputs={**view.left.outputs, output: changed}))


def with_two_sinks(history: History, output: str, second: Iterable[OutputRow]) -> History:
    """The history with an output that has two sinks: what was there, and these rows."""
    (view,) = history.queries
    one = view.left.outputs[output]
    sinks = {
        f"{output}.one": replace(one, name=f"{output}.one"),
        f"{output}.two": replace(one, name=f"{output}.two", rows=tuple(second)),
    }
    others = {name: other for name, other in view.left.outputs.items() if name != output}
    left = replace(view.left, outputs={**sinks, **others})
    return replace(history, queries=[replace(view, left=reading) for reading in readings(left)])


def with_left(history: History, left: QueryHistory) -> History:
    return replace(history, queries=[replace(history.queries[0], left=left), *history.queries[1:]])


def held_by(state: StateContents, number: int = 0) -> OperatorState:
    """What was found in the state of an operator, from the last one on."""
    return state.operators[number]


def with_held(state: StateContents, number: int = 0, **changes: Any) -> StateContents:
    """The same with other contents of one of its operators."""
    operators = [replace(one, **changes) if at == number else one for at, one in enumerate(state.operators)]
    return replace(state, operators=tuple(operators))


def rows_of(history: History, output: str) -> list[OutputRow]:
    return list(history.queries[0].left.outputs[output].rows)


def changed(row: OutputRow, **values: Any) -> OutputRow:
    return replace(row, values={**row.values, **values})


def check(name: str, history: History) -> CheckResult:
    """What one checker says of a history."""
    return run_checker(name, registry()[name], history)


def only_finding(name: str, history: History) -> Finding:
    """The finding of a checker that must fail with exactly one."""
    result = check(name, history)
    assert result.verdict is Verdict.FAIL
    assert result.total == 1, result.findings
    return result.findings[0]
