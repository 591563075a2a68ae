"""What a random job has left, held against the twin, batch by batch: rows of each output, counts, watermarks, the account at the end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from random_jobs.chain import Chain, Left, Row
from random_jobs.jobs import RandomJob
from random_jobs.running import Left as Remains
from streamproof.core.account import COUNTED, OF_A_BATCH, Account
from streamproof.prove.artifacts.reading import OutputRow
from streamproof.prove.oracle.arrived import Arrived, BatchRead, RowFate
from streamproof.prove.oracle.expectation import BatchOutcome, Expectation
from streamproof.prove.oracle.model import Tree, simulate
from streamproof.prove.oracle.query import Query, query_asked
from streamproof.prove.oracle.rows import WindowContents, WindowKey
from streamproof.prove.oracle.trace import apart, event_id
from streamproof.prove.subjects.job.as_written import event_time_asked, event_times_asked
from streamproof.prove.subjects.job.calls import calls_of

NO_TIME = "no event time in ts"
AGAIN = "a row of its key was taken before"
LATE = "at or behind the late bound"
ALONE = "no row of the other stream has met it"
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
        tree = query_asked(query, asked, event_time_asked(left.config, asked.sources[0]), times)
        twin = _Twin(job, chain, tree)
        model = simulate(tree, twin.arrived, left.queries[query].batches, twin.traces_of_file)
        found += [f"{query}: {said}" for said in _of_query(twin, model, left, query)]
        if left.batch is not None:
            found += [f"{query}, as a batch: {said}" for said in _of_batch(twin, tree, left, query)]
    return found


class _Twin:
    """The rows of a chain, in plain Python."""

    def __init__(self, job: RandomJob, chain: Chain, query: Query) -> None:
        self.job, self.chain, self.by = job, chain, query.grouped.by if query.grouped is not None else ()
        self.columns = query.columns
        self.rows: dict[str, Row] = {}
        self.reasons: dict[str, str | None] = {}
        self.left: dict[str, Row] = {}
        self.arrived: dict[str, Arrived] = {}
        self.lines = {trace: line for events in job.samples.values() for trace, line in events.lines.items()}
        self.traces_of_file = {name: traces for events in job.samples.values() for name, traces in events.traces.items()}
        of_source = [(source, *read) for source, events in job.samples.items() for read in events.rows.items()]
        for read_from, trace, read in of_source:
            found = self._behind(read, read_from)
            source = read_from if job.others is not None else ""
            if isinstance(found, Left):
                self.reasons[trace] = found.reason or None
                self.left[trace] = found.row
                self.arrived[trace] = Arrived(trace, RowFate(found.fate), found.reason, source=source)
            else:
                self.rows[trace] = found
                values = self._values(found, read_from)
                refused = query.way_of(read_from).refuses(values)
                assert refused is None, f"the chain lets a row through: {refused}"
                self.arrived[trace] = Arrived(trace, RowFate.PASSED, None, found["ts"], values, source)

    def _values(self, row: Row, source: str) -> Row:
        """Its values of the columns that operators look at; of a join's rows those that its side has."""
        names = {name: name for name in self.columns}
        if self.chain.joined:
            as_they_are = {*self.chain.joined, *self.chain.of_right}
            of_right = {name if name in as_they_are else f"{name}_right": name for name in row}
            names = of_right if source == "others" else {name: name for name in row}
        return {name: row[names[name]] for name in self.columns if name in names}

    def _behind(self, read: Row | None, source: str) -> Row | Left:
        """A record after what the source and the row-wise calls do; what the source says of a torn line is its own affair."""
        if read is None:
            return Left("rejected", "")
        return Left("rejected", NO_TIME) if read["ts"] is None else self.chain.row_wise(read, source)

    def emitted(self, outcome: BatchOutcome) -> list[Row]:
        """The rows that a batch publishes."""
        if self.chain.joined and not self.chain.aggregates:
            return [self.of_pair(row.traces) for row in outcome.out.rows]
        if outcome.output is not None and outcome.output.twin.makes:
            return [dict(row.values) for row in outcome.out.rows]
        if not self.chain.aggregates:
            return [self.rows[trace] for trace in outcome.kept]
        return self.of_windows(outcome.emitted, outcome.revisions)

    def of_pair(self, traces: Sequence[str]) -> Row:
        """The row that records of both sides make together, or the one that is alone."""
        sides = {"events" if trace in self.job.events.rows else "others": self.rows[trace] for trace in traces}
        return self.chain.row_of_pair(sides.get("events"), sides.get("others"))

    def copies(self, outcome: BatchOutcome) -> list[Row]:
        """The rows that a deduplication drops."""
        dropped = [row.traces for row in outcome.side("duplicate")]
        of = [self.of_pair(traces) if self.chain.joined else self.rows[event_id(traces[0])] for traces in dropped]
        return [{**row, "reason": AGAIN} for row in of]

    def left_alone(self, outcome: BatchOutcome, side: str) -> list[Row]:
        """The rows of one side of a join that leave without a partner."""
        rows = (row for step in outcome.steps.values() for row in step.sides.get(("unmatched", side), ()))
        return [{**self.rows[trace], "reason": ALONE} for row in rows for trace in row.traces]

    def late_of(self, outcome: BatchOutcome, side: str) -> list[Row]:
        """The late rows of one side of a join."""
        rows = (row for step in outcome.steps.values() for row in step.sides.get(("late", side), ()))
        return [{**self.rows[trace], "reason": LATE} for row in rows for trace in row.traces]

    def of_windows(
        self, windows: Mapping[WindowKey, WindowContents], revisions: Mapping[WindowKey, int] | None = None
    ) -> list[Row]:
        """The rows that windows are published as."""
        rows = []
        for key, contents in windows.items():
            by = dict(zip(self.by, key[0], strict=True))
            held = [self.of_pair(apart(name)) if self.chain.joined else self.rows[name] for name in contents.members]
            rows.append(self.chain.row_of_window(by, key[1], contents.end_us, held, (revisions or {}).get(key, 0)))
        return rows

    def late(self, outcome: BatchOutcome) -> list[Row]:
        """The late rows of a batch; where windows overlap, with the window that each is late for."""
        late = [(trace, row.values) for row in outcome.side("late") for trace in row.traces]
        bounds = [{name: values[name] for name in ("window_start", "window_end") if name in values} for _, values in late]
        return [{**self.rows[trace], "reason": LATE, **of} for (trace, _), of in zip(late, bounds, strict=True)]

    def unmatched(self, traces: Iterable[str]) -> list[Row]:
        """The rows that had none in the table, as they were then; those of a join without a partner have an output of their own."""
        return [{**self.left[trace], "reason": self.reasons[trace]} for trace in traces if trace in self.left]

    def rejected(self, outcome: BatchOutcome) -> list[Row]:
        """The rejected lines of a batch with their reasons, where these are ours to know."""
        return [{"original": self.lines[trace], "reason": self.reasons[trace]} for trace in outcome.left_by("rejected")]


def _of_query(twin: _Twin, model: Expectation, left: Remains, query: str) -> Iterator[str]:
    history, sides = left.queries[query], left.sides[query]
    if model.ambiguous and model.query.output.twin.makes:
        return  # of events of one time Spark takes the one first whose hash is lower, which the twin does not know
    if model.ambiguous:
        yield f"the generator made keys that are ambiguous, {model.ambiguous[:_SHOWN]}"
    for outcome in model.batches:
        number = outcome.batch
        if outcome.read.effective and outcome.predicted_ms != outcome.read.watermark_ms:
            yield f"batch {number}: the watermark is {outcome.read.watermark_ms}, the twin says {outcome.predicted_ms}"
        wanted = {query: twin.emitted(outcome)}
        if "late" in sides:
            wanted[sides["late"]] = twin.late(outcome)
        for side in ("left", "right"):
            if f"late:{side}" in sides:
                wanted[sides[f"late:{side}"]] = twin.late_of(outcome, side)
            if f"unmatched:{side}" in sides:
                wanted[sides[f"unmatched:{side}"]] = twin.left_alone(outcome, side)
        if "duplicate" in sides:
            wanted[sides["duplicate"]] = twin.copies(outcome)
        if "unmatched" in sides:
            wanted[sides["unmatched"]] = twin.unmatched(outcome.left_by("unmatched"))
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
        counts = {name: manifest.counts.get(name, 0) for name in OF_A_BATCH}
        expected = _counts(outcome)
        yield from (
            f"batch {number}: {name} is {counts[name]}, the twin says {expected[name]}"
            for name in OF_A_BATCH
            if counts[name] != expected[name]
        )
    account = next(each for each in left.result.accounts if each.query == query)
    if account.account != model.account:
        yield f"the account is {account.account}, the twin says {model.account}"
    if not account.adds_up:
        yield f"the account does not add up: {account}"
    damaged = [problem for output in history.outputs.values() for problem in output.damaged]
    yield from damaged


def _of_batch(twin: _Twin, tree: Query, left: Remains, query: str) -> Iterator[str]:
    """The same job as a batch: nothing is late, every window has ended, copies are dropped however late they come."""
    assert left.batch is not None
    passed = [record for record in twin.arrived.values() if record.fate is RowFate.PASSED]
    states = Tree(tree)
    outcome = BatchOutcome(BatchRead(0, 0), 0, 0, output=tree.output, steps=states.walk(passed, -_END_OF_TIME, _END_OF_TIME))
    if any((node.twin.order is not None or node.twin.makes) and states.states[node].held().ambiguous for node in tree.keeping):
        return
    fates = Counter(record.fate for record in twin.arrived.values())
    wanted, taken_before = twin.emitted(outcome), len(outcome.side("duplicate"))
    yield from _unlike(wanted, [row.values for row in left.batch_rows[query]])
    late = left.sides[query].get("late")
    yield from _unlike([], [row.values for row in left.batch_rows[late]] if late else [])
    unmatched = left.sides[query].get("unmatched")
    if unmatched:
        traces = [trace for trace, record in twin.arrived.items() if record.fate is RowFate.UNMATCHED]
        yield from _unlike(twin.unmatched(traces), [row.values for row in left.batch_rows[unmatched]])
    again = left.sides[query].get("duplicate")
    if again:
        # Which of them stays is another one here than in the stream, and where different events share a key that can be seen.
        dropped = len(left.batch_rows[again])
        if dropped != taken_before:
            yield f"{dropped} rows are in {again}, the twin has dropped {taken_before}"
    left_by = {place: len(outcome.left_by(place)) for place in COUNTED}
    of_records = {
        "rejected": fates[RowFate.REJECTED],
        "filtered": fates[RowFate.FILTERED],
        "unmatched": fates[RowFate.UNMATCHED] + left_by["unmatched"],
    }
    expected = Account.of({**left_by, **of_records, "emitted": outcome.out.emitted})
    account, expanded = next(each for each in left.batch.accounts if each.query == query), outcome.further
    if (account.account, account.expanded) != (expected, expanded):
        yield f"the account is {account.account} and {account.expanded} further windows, the twin says {expected} and {expanded}"


def _counts(outcome: BatchOutcome) -> Mapping[str, int]:
    return {
        **{place: len(outcome.left_by(place)) for place in COUNTED},
        "input": len(outcome.traces),
        "expanded": outcome.further,
        "emitted": outcome.out.emitted,
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
