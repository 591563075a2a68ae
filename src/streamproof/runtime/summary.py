"""What a run has done, once its queries have ended: the totals, the account and the open windows of each, the lag, the notes."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamproof.checkpoint.state import OpenWindows, open_windows
from streamproof.connectors.sources import sources_of
from streamproof.core.account import COUNTED, Account
from streamproof.core.durations import micros_of
from streamproof.core.ends import End
from streamproof.core.instants import instant_at
from streamproof.core.manifest import Manifest
from streamproof.core.notes import Note, NoteCode
from streamproof.core.opened import Opened
from streamproof.core.sides import REJECTED, copies_in
from streamproof.runtime.batch.staging import WRITTEN_COPIES
from streamproof.runtime.binding.several_queries import prices
from streamproof.runtime.watching import events
from streamproof.runtime.watching.events import Emitter, QueryEnded
from streamproof.runtime.watching.lag import lag_of
from streamproof.runtime.watching.result import OutputResult, QueryAccount, RunResult

if TYPE_CHECKING:
    from streamproof.runtime.batch.protocol import BatchProtocol
    from streamproof.runtime.binding.bound import BoundJob
    from streamproof.runtime.query import RunningQuery


def summary(bound: "BoundJob", queries: list["RunningQuery"], emitter: Emitter, seconds: float, *, ended_early: bool) -> RunResult:
    """The result of a run; emits the end of each query on the way, and the notes that are about the whole run."""
    ends = [_end_of(query) for query in queries]
    for end in ends:
        if end.event.account.unknown_since is not None:
            end.query.protocol.events.note(Note(NoteCode.ACCOUNT_UNKNOWN, _said_unknown(end.event.account)))
        if end.query.protocol.losses.outputs:
            end.query.protocol.events.note(Note(NoteCode.LOSS_PENDING, _said_pending(end.query)))
        emitter.emit(end.event)
    outputs = [output for query in queries for output in _outputs(bound, query)]
    of_run = list(prices(bound.outputs.main))
    notes = [*of_run, *(note for query in queries for note in query.notes)]  # each query says what was set from outside
    leaps = [leap for query in queries if (leap := query.protocol.watch.leaps.furthest) is not None]
    behind = [leap.note for leap in leaps]
    for query in queries:
        watch = query.protocol.watch
        behind += [*watch.quiet.notes(watch.idle.now), *watch.idle.notes(), *watch.hot_keys.notes()]
    for output in outputs:
        place = bound.places[output.name]
        if not place.bound:
            said = f"The output {output.name} has no [sink.{output.name}]; its rows are kept at {place.where}."
            behind.append(Note(NoteCode.NOT_BOUND, said))
    read = [source for name, source in sources_of(bound.config).items() if name in bound.inputs]
    spark = queries[0].protocol.query.spark
    lag = lag_of(spark, read, [end.newest for end in ends if end.newest is not None], behind)
    for note in (*of_run, *behind):
        emitter.emit(events.Note("", str(note), str(note.code)))
    first, longest = ends[0].event, max((end.event for end in ends), key=lambda event: event.batches)
    return RunResult(
        job=bound.name,
        batches=longest.batches,
        without_input=longest.without_input,
        rows_in=first.input,
        seconds=seconds,
        outputs=outputs,
        account=first.account.account,
        account_input=first.account.input,
        open_windows=sum(end.event.open_windows for end in ends),
        closes_after=max((end.event.closes_after for end in ends if end.event.closes_after), default=None),
        notes=list(dict.fromkeys((*notes, *behind, *emitter.failures))),
        accounts=[end.event.account for end in ends],
        lag=lag,
        leaps=leaps,
        end=End.INTERRUPTED if ended_early else End.DONE,
    )


def account_of(query: str, newest: Manifest | None, opened: OpenWindows, duplicates_in: str = "") -> QueryAccount:
    """The account of a query from the totals of its newest manifest and its window state; `duplicates_in` is the output they are rows of."""
    counts = newest.counts if newest else {}
    totals = {place: counts.get(f"total.{place}", 0) for place in COUNTED}
    account = Account.of({**totals, "open_state": opened.records})
    since = newest.unknown_since if newest else None
    written = counts.get(f"total.{WRITTEN_COPIES}", 0) if duplicates_in else 0
    return QueryAccount(
        query, counts.get("total.input", 0), account, since, counts.get("total.expanded", 0), duplicates_in, written
    )


@dataclass(frozen=True)
class _End:
    """The end of a query, with the manifest of the newest batch that Spark has committed."""

    query: "RunningQuery"
    newest: Manifest | None
    event: QueryEnded


def _end_of(query: "RunningQuery") -> _End:
    newest, protocol = _newest_committed(query), query.protocol
    open_are, sinks = protocol.query.root.open_are, protocol.query.sinks
    opened = _opened(protocol, newest) if open_are is not None and newest is not None else OpenWindows(0, 0, None)
    done, until = protocol.done, None if opened.latest_end_us is None else instant_at(opened.latest_end_us)
    are_windows = open_are is not None and open_are.are_windows
    account = account_of(query.name, newest, opened, copies_in(sinks.sides))
    event = QueryEnded(
        query=query.name,
        batches=done.batches,
        without_input=done.without_input,
        input=done.input,
        rows={output: done.rows[output] for output in sinks.by_name},
        account=replace(account, open=opened.windows, open_until=until, open_are=open_are or Opened.WINDOW),
        open_windows=opened.windows if are_windows else 0,
        closes_after=until if are_windows else None,
    )
    return _End(query, newest, event)


def _opened(protocol: "BatchProtocol", newest: Manifest) -> OpenWindows:
    """The windows in state; the records of those that have given a row are counted as emitted already."""
    query = protocol.query
    watermark_us, lateness_us = newest.fingerprint.watermark_ms * 1_000, micros_of(query.root.allowed_lateness)
    emitted = query.root.emission.emitted_up_to(watermark_us, lateness_us)
    return open_windows(query.spark, query.journal.manifests.checkpoint, emitted)


def _newest_committed(query: "RunningQuery") -> Manifest | None:
    """The manifest of the newest batch that Spark has committed: one that was interrupted is not in the state either."""
    journal = query.protocol.query.journal
    committed = journal.logs.batches("commits")
    numbers = [number for number in journal.manifests.batches() if committed and number <= committed[-1]]
    return journal.manifests.read(numbers[-1]) if numbers else None


def _outputs(bound: "BoundJob", query: "RunningQuery") -> list[OutputResult]:
    found, done = [], query.protocol.done
    for output, sink in query.protocol.query.sinks.by_name.items():
        place = bound.places[output]
        reasons = done.reasons_of(place.side) if place.side is not None and place.side.kind == REJECTED.kind else {}
        found.append(OutputResult(output, place.where, place.shown_format, done.rows[output], sink.guarantee, reasons))
    return found


def _said_unknown(account: QueryAccount) -> str:
    return (
        f"The account of {account.query} is unknown since batch {account.unknown_since}: a manifest was lost, or a replay accepted. What is "
        "published stands as it is; counts begin anew with a new checkpoint."
    )


def _said_pending(query: "RunningQuery") -> str:
    outputs = ", ".join(sorted(query.protocol.losses.outputs))
    return f"No new batch has written down yet what was accepted as lost of {outputs}: the next one does, and until then no start asks again."
