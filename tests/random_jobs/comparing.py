"""What a random job has left, held against the twin, batch by batch: rows of each output, counts, watermarks, the account at the end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from random_jobs.chain import Chain, Left, Row
from random_jobs.jobs import RandomJob
from random_jobs.running import Left as Remains
from streamproof.core.account import Account
from streamproof.prove.artifacts.reading import OutputRow
from streamproof.prove.oracle.arrived import Arrived, RowFate
from streamproof.prove.oracle.asked import shape_asked
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation, WindowContents, WindowKey
from streamproof.prove.oracle.model import simulate
from streamproof.prove.oracle.operators.ordered import OrderedDeduplication
from streamproof.prove.oracle.operators.window import Windows
from streamproof.prove.oracle.shape import QueryShape
from streamproof.prove.oracle.windows import PlainGap
from streamproof.prove.subjects.job.as_written import event_time_asked, event_times_asked
from streamproof.prove.subjects.job.calls import calls_of

COUNTS = ("input", "expanded", "emitted", "late", "rejected", "duplicate", "filtered")
NO_TIME = "no event time in ts"
AGAIN = "a row of its key was taken before"
LATE = "at or behind the late bound"
_SHOWN = 3
_END_OF_TIME = 2**62

Plain = tuple[tuple[str, Any], ...]


def differences(job: RandomJob, left: Remains) -> list[str]:
    """What differs between Spark and the twin; empty where nothing does."""
    found: list[str] = []
    calls = calls_of(left.config)
    for query, chain in job.chains.items():
        asked = calls[query]
        times = event_times_asked(left.config, asked.sources)
        shape = shape_asked(query, asked, event_time_asked(left.config, asked.source), times)
        twin = _Twin(job, chain, shape, asked.gap)
        model = simulate(shape, twin.arrived, left.queries[query].batches, twin.traces_of_file)
        found += [f"{query}: {said}" for said in _of_query(twin, model, left, query)]
        if left.batch is not None:
            found += [f"{query}, as a batch: {said}" for said in _of_batch(twin, shape, left, query)]
    return found


class _Twin:
    """The rows of a chain, in plain Python."""

    def __init__(self, job: RandomJob, chain: Chain, shape: QueryShape, gap: PlainGap | None) -> None:
        by, key, order_by = shape.by, shape.deduplicate or (), shape.order_by
        self.job, self.chain, self.by = job, chain, by
        self.rows: dict[str, Row] = {}
        self.reasons: dict[str, str | None] = {}
        self.arrived: dict[str, Arrived] = {}
        self.lines = {trace: line for events in job.samples.values() for trace, line in events.lines.items()}
        self.traces_of_file = {name: traces for events in job.samples.values() for name, traces in events.traces.items()}
        of_source = [(source, *read) for source, events in job.samples.items() for read in events.rows.items()]
        for read_from, trace, read in of_source:
            found = self._behind(read, read_from)
            source = read_from if job.others is not None else ""
            if isinstance(found, Left):
                self.reasons[trace] = found.reason or None
                self.arrived[trace] = Arrived(trace, RowFate(found.fate), found.reason, source=source)
            else:
                self.rows[trace] = found
                of_key = tuple(found[name] for name in key) if key else None
                order = found[order_by] if order_by is not None else None
                own = gap.judged(found[gap.column]) if gap is not None else None
                assert not isinstance(own, str), f"the chain lets a row through: {own}"
                of_window = tuple(found[name] for name in by)
                self.arrived[trace] = Arrived(trace, RowFate.PASSED, None, found["ts"], of_window, of_key, source, order, own)

    def _behind(self, read: Row | None, source: str) -> Row | Left:
        """A record after what the source and the row-wise calls do; what the source says of a torn line is its own affair."""
        if read is None:
            return Left("rejected", "")
        return Left("rejected", NO_TIME) if read["ts"] is None else self.chain.row_wise(read, source)

    def emitted(self, outcome: BatchOutcome) -> list[Row]:
        """The rows that a batch publishes."""
        if not self.chain.aggregates:
            return [self.rows[trace] for trace in outcome.kept]
        return self.of_windows(outcome.emitted, outcome.revisions)

    def of_windows(
        self, windows: Mapping[WindowKey, WindowContents], revisions: Mapping[WindowKey, int] | None = None
    ) -> list[Row]:
        """The rows that windows are published as."""
        rows = []
        for key, contents in windows.items():
            by = dict(zip(self.by, key[0], strict=True))
            held = [self.rows[trace] for trace in contents.traces]
            rows.append(self.chain.row_of_window(by, key[1], contents.end_us, held, (revisions or {}).get(key, 0)))
        return rows

    def late(self, outcome: BatchOutcome, size_us: int | None) -> list[Row]:
        """The late rows of a batch; where windows overlap, with the window that each is late for."""
        rows = [{**self.rows[trace], "reason": LATE} for trace in outcome.late]
        if not outcome.late_ends or size_us is None:
            return rows
        ends = zip(rows, outcome.late_ends, strict=True)
        return [{**row, "window_start": end - size_us, "window_end": end} for row, end in ends]

    def rejected(self, outcome: BatchOutcome) -> list[Row]:
        """The rejected lines of a batch with their reasons, where these are ours to know."""
        return [{"original": self.lines[trace], "reason": self.reasons[trace]} for trace in outcome.rejected]


def _of_query(twin: _Twin, model: Expectation, left: Remains, query: str) -> Iterator[str]:
    history, sides = left.queries[query], left.sides[query]
    if model.ambiguous:
        yield f"the generator made keys that are ambiguous, {model.ambiguous[:_SHOWN]}"
    size_us = model.shape.window.at_least_us if model.shape.window is not None else None
    for outcome in model.batches:
        number = outcome.batch
        if outcome.read.effective and outcome.predicted_ms != outcome.read.watermark_ms:
            yield f"batch {number}: the watermark is {outcome.read.watermark_ms}, the twin says {outcome.predicted_ms}"
        wanted = {query: twin.emitted(outcome)}
        if "late" in sides:
            wanted[sides["late"]] = twin.late(outcome, size_us)
        if "duplicate" in sides:
            wanted[sides["duplicate"]] = [{**twin.rows[event], "reason": AGAIN} for event in outcome.duplicates]
        if "rejected" in sides:
            wanted[sides["rejected"]] = twin.rejected(outcome)
        for output, rows in wanted.items():
            published = history.outputs[output].by_batch.get(number, ())
            of_rejected = output == sides.get("rejected")
            seen = [_rejected(row) for row in published] if of_rejected else [row.values for row in published]
            yield from (f"batch {number}, {output}: {said}" for said in _unlike(rows, seen))
        manifest = history.manifests.get(number)
        if manifest is None:
            yield f"batch {number}: there is no manifest"
            continue
        counts = {name: manifest.counts.get(name, 0) for name in COUNTS}
        expected = _counts(outcome, windowed=model.shape.window is not None)
        yield from (
            f"batch {number}: {name} is {counts[name]}, the twin says {expected[name]}"
            for name in COUNTS
            if counts[name] != expected[name]
        )
    account = next(each for each in left.result.accounts if each.query == query)
    if account.account != model.account:
        yield f"the account is {account.account}, the twin says {model.account}"
    if not account.adds_up:
        yield f"the account does not add up: {account}"
    damaged = [problem for output in history.outputs.values() for problem in output.damaged]
    yield from damaged


def _of_batch(twin: _Twin, shape: QueryShape, left: Remains, query: str) -> Iterator[str]:
    """The same job as a batch: nothing is late, every window has ended, copies are dropped however late they come."""
    assert left.batch is not None
    passed = [record for record in twin.arrived.values() if record.fate is RowFate.PASSED]
    kept = list({record.dedup: record for record in reversed(passed)}.values()) if shape.deduplicate else passed
    if shape.order_by is not None:
        ordered = OrderedDeduplication(shape.horizon_us, shape.keep == "last")
        ordered.add(passed)
        kept, _ = ordered.due(_END_OF_TIME)
        if ordered.ambiguous:
            return
    fates = Counter(record.fate for record in twin.arrived.values())
    emitted, expanded = len(kept), 0
    wanted: list[Row] = [twin.rows[record.trace] for record in kept]
    if shape.window is not None:
        windows = Windows(shape.window)
        pairs = windows.pairs(kept)
        windows.add(pairs)
        emitted, expanded = len(pairs), len(pairs) - len(kept)
        wanted = twin.of_windows(windows.frozen())
    yield from _unlike(wanted, [row.values for row in left.batch_rows[query]])
    late = left.sides[query].get("late")
    yield from _unlike([], [row.values for row in left.batch_rows[late]] if late else [])
    again = left.sides[query].get("duplicate")
    if again:
        # Which of them stays is another one here than in the stream, and where different events share a key that can be seen.
        dropped = len(left.batch_rows[again])
        if dropped != len(passed) - len(kept):
            yield f"{dropped} rows are in {again}, the twin has dropped {len(passed) - len(kept)}"
    expected = Account(
        emitted=emitted,
        rejected=fates[RowFate.REJECTED],
        filtered=fates[RowFate.FILTERED],
        duplicate=len(passed) - len(kept),
    )
    account = next(each for each in left.batch.accounts if each.query == query)
    if (account.account, account.expanded) != (expected, expanded):
        yield f"the account is {account.account} and {account.expanded} further windows, the twin says {expected} and {expanded}"


def _counts(outcome: BatchOutcome, *, windowed: bool) -> Mapping[str, int]:
    return {
        "input": len(outcome.traces),
        "expanded": len(outcome.expanded),
        "emitted": outcome.newly_emitted if windowed else len(outcome.kept),
        "late": len(outcome.late),
        "rejected": len(outcome.rejected),
        "duplicate": len(outcome.duplicates),
        "filtered": len(outcome.filtered),
    }


def _rejected(row: OutputRow) -> Row:
    original = row.original
    text = None if original is None else original.decode("utf-8", "surrogateescape")
    torn = text is not None and not text.endswith("}")
    return {"original": text, "reason": None if torn else row.values.get("reason")}


def _unlike(expected: Iterable[Row], published: Iterable[Row]) -> Iterator[str]:
    """Rows that are on one side only, each as often as it is there."""
    wanted, seen = Counter(map(_plain, expected)), Counter(map(_plain, published))
    for rows, said in ((wanted - seen, "not published"), (seen - wanted, "published, and the twin has it not")):
        for row, times in list(rows.items())[:_SHOWN]:
            yield f"{said}{f' {times} times' if times > 1 else ''}: {dict(row)}"
        if len(rows) > _SHOWN:
            yield f"... and {len(rows) - _SHOWN} more {said}"


def _plain(row: Row) -> Plain:
    """A row as it is compared: without nulls, which JSON need not write."""
    values = ((name, tuple(value) if isinstance(value, list) else value) for name, value in row.items() if value is not None)
    return tuple(sorted(values))
