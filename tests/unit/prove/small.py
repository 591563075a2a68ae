"""A small subject for tests of the model and the checkers: a few records in a few batches, and the history a faultless run leaves."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.history import History, OutputHistory, OutputRow, QueryHistory, QueryView, StateContents
from streamproof.prove.artifacts.reading import readings
from streamproof.prove.checkers import CheckResult, Finding, registry, run_checker
from streamproof.prove.oracle.arrived import Arrived, BatchRead
from streamproof.prove.oracle.asked import Asked, AskedTime
from streamproof.prove.oracle.expectation import Expectation
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.oracle.trace import event_id
from streamproof.prove.oracle.watermark import Watermark
from streamproof.prove.oracle.windows import PlainTumbling
from streamproof.prove.scenario.generate import Event, Kind
from streamproof.prove.scenario.offered import Offered
from streamproof.prove.scenario.scenario import Expect

SECOND = 1_000_000
WINDOW = QueryShape("totals", "ts", 10 * SECOND, PlainTumbling(30 * SECOND), ("client",), ("total",))
ONCE = replace(WINDOW, deduplicate=("id",))
DEDUPLICATED = replace(ONCE, window=None, by=(), aggregates=())
EARLY = replace(WINDOW, emit="early")
CORRECTED = replace(WINDOW, emit="corrections", delay_us=80 * SECOND, lateness_us=70 * SECOND)
PLAIN = QueryShape("rows", "ts")
FILE = "batch=000003/part-00000-bbbb.parquet"


def at(trace: str, second: float, client: str = "a", *, fate: str = "passed", key: str | None = None) -> Arrived:
    """A record with its event time in seconds after 1970; its deduplication key is its event id unless another is given."""
    reason = {"rejected": "total > 0", "filtered": "small"}.get(fate)
    return Arrived(trace, fate, reason, int(second * SECOND), (client,), (key or event_id(trace),))


RECORDS = [
    [at("e-1", 61), at("e-2", 62), at("e-1+1", 61), at("e-3", 63, "b"), at("e-4", 64, fate="rejected")],
    [at("e-5", 130), at("e-6", 65), at("e-7", 66, fate="filtered")],
    [at("e-8", 131), at("e-9", 7), at("e-10", 8)],
]


def batches_of(shape: QueryShape, batches: Sequence[Sequence[Arrived]], *, no_data: int = 0) -> list[BatchRead]:
    """The batches as Spark would log them: one file a batch, `no_data` empty ones after."""
    watermark = Watermark(shape.delay_us if shape.stateful else None)
    reads = []
    for number, records in enumerate([*batches, *[()] * no_data]):
        files = (f"part-{number}-0.json",) if number < len(batches) else ()
        reads.append(BatchRead(number, watermark.predicted_ms, 0, files))
        passed = [record.time_us for record in records if record.fate == "passed" and record.time_us is not None]
        watermark.saw(max(passed, default=None))
    return reads


def files_of(batches: Sequence[Sequence[Arrived]]) -> dict[str, list[str]]:
    return {f"part-{number}-0.json": [record.trace for record in records] for number, records in enumerate(batches)}


def model_of(
    shape: QueryShape, batches: Sequence[Sequence[Arrived]], *, no_data: int = 0, reads: Sequence[BatchRead] | None = None
) -> Expectation:
    arrived = {record.trace: record for records in batches for record in records}
    return simulate(shape, arrived, reads or batches_of(shape, batches, no_data=no_data), files_of(batches))


def event_of(record: Arrived, arrival: int, batch: int) -> Event:
    """The generated event after a record; its total is 1 for each."""
    kind = Kind.OK if record.fate != "rejected" else Kind.INVALID
    values = {"id": event_id(record.trace), "client": record.by[0], "total": 1.5, "ts": record.time_us}
    line = json.dumps({"_trace": record.trace, **values}).encode()
    return Event(record.trace, kind, values, record.time_us, line, arrival, batch, 0)


def faultless(
    shape: QueryShape,
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
        values if shape.window else None,
        values if shape.window else None,
        {trace: {"total": 1.5} for trace in arrived},
        asked=asked_of(shape),
        asked_time=AskedTime("ts", max_future="1 day"),
        equivalence_of_rows={key: {"total": 1.5 * contents.count} for key, contents in model.rows.items()},
    )
    return History([view], Offered(events, files_of(batches)), expect or Expect())


def asked_of(shape: QueryShape) -> Asked:
    """The calls that a query of this shape is asked for by."""
    asked = Asked("s").then("require", conditions={"positive": "total > 0"}).then("filter", condition="true", name="small")
    if shape.deduplicate is not None:
        asked = asked.then("deduplicate", key=shape.deduplicate)
    return asked if shape.window is None else asked.then("window", by=shape.by).then("aggregate", aggregates={"total": 1})


def _left(shape: QueryShape, model: Expectation, events: Mapping[str, Event]) -> QueryHistory:
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
            main += [OutputRow(outcome.batch, file, {"_trace": trace, "total": 1.5}) for trace in outcome.kept]
        late += [OutputRow(outcome.batch, file, {"_trace": trace, "total": 1.5, "reason": "late"}) for trace in outcome.late]
        elsewhere = {*outcome.kept, *outcome.late, *outcome.rejected, *outcome.filtered, *outcome.unknown}
        copies = [trace for trace in outcome.traces if trace not in elsewhere] if shape.deduplicate is not None else []
        dropped += [OutputRow(outcome.batch, file, {"_trace": trace, "total": 1.5, "reason": "a copy"}) for trace in copies]
        for trace in outcome.rejected:
            original = {"reason": "total > 0", "original": events[trace].record.decode("utf-8", "replace")}
            rejected.append(OutputRow(outcome.batch, file, original))
    outputs = [OutputHistory(shape.query, "main", tuple(main)), OutputHistory("rejected", "rejected", tuple(rejected))]
    outputs += [OutputHistory("late", "late", tuple(late))] if shape.stateful else []
    outputs += (
        [OutputHistory("again", "duplicate", tuple(dropped))] if shape.deduplicate is not None and shape.order_by is None else []
    )
    state = StateContents(
        {(by, contents.end_us): contents.vector for (by, _), contents in model.open.items()},
        dict(model.remembered),
        windows_before={(by, contents.end_us): contents.vector for (by, _), contents in model.open_before.items()},
    )
    reads = tuple(outcome.read for outcome in model.batches)
    return QueryHistory(shape.query, reads, {output.name: output for output in outputs}, {}, state if shape.stateful else None)


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
