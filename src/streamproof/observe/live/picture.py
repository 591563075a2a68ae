"""What is known of a run: a value, and a function that makes the next value from it and an event. No clock, no thread, no server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from streamproof.core.account import COUNTED, OF_A_BATCH
from streamproof.core.phases import Phase
from streamproof.observe.live.histories import Point, State, Topic, state_after, thinned, topics_after
from streamproof.observe.live.plain import Plain
from streamproof.observe.live.troubles import Trouble, trouble_of, with_trouble
from streamproof.observe.moment import Moment
from streamproof.runtime.watching import events
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import RunEvent
from streamproof.runtime.watching.latency import Latency
from streamproof.runtime.watching.result import QueryAccount
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedHeard, WatchedStarted

MOST_QUERIES = 50
MOST_OUTPUTS = 50
"""Of one query."""
MOST_LATENCIES = 20
MOST_BATCHES = 12
"""Of one query, the last ones."""
_CLOCK_JUMPS = timedelta(seconds=5)


@dataclass(frozen=True)
class Batch:
    """A batch that is over.

    Parameters
    ----------
    at
        When its commit was heard.
    phases_ms
        By phase how long it took; empty where Spark has not told it.
    """

    number: int
    at: Moment
    input: int
    phases_ms: Mapping[str, int]
    total_ms: int | None


@dataclass(frozen=True)
class UnderWay:
    """The batch that is being worked on, the phase that it is in, and since when: the batch, and the phase."""

    number: int
    phase: Phase
    since: float
    phase_since: float


@dataclass(frozen=True)
class Waiting:
    """Batches that wait for an output whose store does not answer: why, since when, and when it is asked again, in steady seconds."""

    batches: int
    why: str
    since: float
    again: float


@dataclass(frozen=True)
class Done:
    """How far a query is: the first batch of this run, how many it has committed, the last of these, and the one under way."""

    first: int = 0
    committed: int = 0
    batches: tuple[Batch, ...] = ()
    under_way: UnderWay | None = None


@dataclass(frozen=True)
class EventTimes:
    """The watermark, the newest event time so far, and both at the commits of the last hour."""

    watermark: datetime | None = None
    newest: datetime | None = None
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Outputs:
    """By output the rows that this run has published, and what waits for its store; `more` outputs are beyond those that are kept."""

    rows: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, Waiting] = field(default_factory=dict)
    more: int = 0


@dataclass(frozen=True)
class Query:
    """What is known of one query.

    Parameters
    ----------
    doing
        "starting", "running", "finishing", "ended" or "died".
    counts
        The account since the checkpoint began, without what is in state.
    account
        The account as the end of the query has it; None before.
    latency
        How old records were when readers got them, of the newest batch that has said it.
    plain
        What is known of a query that is not ours; None of one of ours. It has no account.
    """

    name: str
    since: Moment
    doing: str = "starting"
    counts: Mapping[str, int] = field(default_factory=dict)
    account: QueryAccount | None = None
    done: Done = Done()
    times: EventTimes = EventTimes()
    topics: tuple[Topic, ...] = ()
    state: tuple[State, ...] = ()
    latency: tuple[Latency, ...] = ()
    outputs: Outputs = field(default_factory=Outputs)
    plain: Plain | None = None

    @property
    def open(self) -> int:
        """What the account leaves over: records in state, or in rows that can still be corrected."""
        wanted = self.counts.get("input", 0) + self.counts.get("expanded", 0)
        return wanted - sum(self.counts.get(place, 0) for place in COUNTED)


@dataclass(frozen=True)
class Jump:
    """The wall clock went ahead, or back, by so much more than time has passed."""

    at: datetime
    by: timedelta


@dataclass(frozen=True)
class Ended:
    """How a run has ended: `error` is None where it did what it should."""

    at: Moment
    asked: bool = False
    error: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Picture:
    """What is known of a run.

    Parameters
    ----------
    doing
        What is done before the queries run.
    more_queries
        How many queries are beyond those that are kept.
    troubles
        The last things that went wrong, the newest first.
    """

    job: str
    began: Moment
    doing: str = ""
    queries: Mapping[str, Query] = field(default_factory=dict)
    more_queries: int = 0
    troubles: tuple[Trouble, ...] = ()
    jump: Jump | None = None
    heard: Moment | None = None
    ended: Ended | None = None


def after(picture: Picture, event: RunEvent, at: Moment) -> Picture:
    """The picture once an event was heard. Kinds that it does not know change nothing but the time."""
    known = _known(picture, at)
    trouble = trouble_of(event, at.wall)
    if trouble is not None:
        known = replace(known, troubles=with_trouble(known.troubles, trouble))
    known = _of_run(known, event, at)
    begins = isinstance(event, events.QueryStarting | WatchedStarted)
    name = getattr(event, "query", "")
    query = known.queries.get(name)
    if query is None:
        if not begins and not isinstance(event, events.QueryStarted):
            return known
        if len(known.queries) >= MOST_QUERIES:
            known = replace(known, queries=_without_an_ended_one(known.queries), more_queries=known.more_queries + begins)
            if len(known.queries) >= MOST_QUERIES:
                return known
        query = Query(name, at)
    return replace(known, queries={**known.queries, name: _of_query(query, event, at)})


def _without_an_ended_one(queries: Mapping[str, Query]) -> Mapping[str, Query]:
    """One query less, where one has ended: of those the first that was started, and of those that have died none as long as there are others."""
    gone = next((name for doing in ("ended", "died") for name, query in queries.items() if query.doing == doing), None)
    return {name: query for name, query in queries.items() if name != gone}


def failed(picture: Picture, at: Moment, trouble: Trouble) -> Picture:
    """The picture of a run that an error has stopped, with what there is to do."""
    known = replace(_known(picture, at), troubles=with_trouble(picture.troubles, trouble))
    return replace(known, doing="", ended=Ended(at, error=trouble.code, message=trouble.what))


def closed(picture: Picture, at: Moment) -> Picture:
    """The picture of a run that is over, however it ended."""
    return picture if picture.ended is not None else replace(_known(picture, at), doing="", ended=Ended(at, asked=True))


def _known(picture: Picture, at: Moment) -> Picture:
    """The picture with the time, and whether the wall clock has jumped since the event before."""
    before = picture.heard or picture.began
    by = (at.wall - before.wall) - timedelta(seconds=at.steady - before.steady)
    return replace(picture, heard=at, jump=Jump(at.wall, by) if abs(by) > _CLOCK_JUMPS else picture.jump)


def _of_run(picture: Picture, event: RunEvent, at: Moment) -> Picture:
    match event:
        case events.Fetching():
            return replace(picture, doing=f"fetching {event.file}, {event.bytes >> 20} of {event.of_bytes >> 20} MB")
        case events.SparkStarting():
            return replace(picture, doing="starting Spark")
        case events.RunEnded():
            return replace(picture, doing="", ended=Ended(at, asked=event.result.ended_early))
        case events.RunFailed():
            return replace(picture, doing="", ended=Ended(at, error=event.code, message=event.message))
    return picture


def _of_query(query: Query, event: RunEvent, at: Moment) -> Query:
    match event:
        case events.QueryStarting():
            return Query(query.name, at)
        case events.QueryStarted():
            return _started(query, event, at)
        case events.BatchPlanned():
            return _planned(query, event, at)
        case events.BatchStaged():
            return _staged(query, event, at)
        case events.BatchPublished():
            return _published(query, event)
        case events.PublicationWaiting():
            return _waits(query, event, at)
        case events.BatchCommitted():
            return _committed(query, event, at)
        case events.QueryFinishing():
            return replace(query, doing="finishing")
        case QueryDied():
            return replace(query, doing="died", done=replace(query.done, under_way=None))
        case QueryStopped():
            return replace(query, doing="ended", done=replace(query.done, under_way=None))
        case WatchedStarted():
            return Query(query.name, at, doing="running", plain=Plain(at.steady, trigger=event.trigger_seconds))
        case WatchedHeard():
            return replace(query, plain=query.plain and query.plain.after(event, at.steady))
        case WatchedEnded():
            died = "ended" if event.error is None else "died"
            return replace(query, doing=died, plain=query.plain and query.plain.ended(event, at.steady))
        case events.QueryEnded():
            return replace(query, doing="ended", done=replace(query.done, under_way=None), account=event.account)
    return query


def _started(query: Query, event: events.QueryStarted, at: Moment) -> Query:
    kept = dict.fromkeys([*event.outputs][:MOST_OUTPUTS], 0)
    return replace(
        query,
        doing="running",
        since=at,
        counts={key: event.counts.get(key, 0) for key in OF_A_BATCH},
        done=Done(event.batch),
        outputs=replace(query.outputs, rows=kept, more=len(event.outputs) - len(kept)),
    )


def _planned(query: Query, event: events.BatchPlanned, at: Moment) -> Query:
    under_way = UnderWay(event.batch, Phase.WORK, at.steady, at.steady)
    times = replace(query.times, watermark=event.watermark or query.times.watermark)
    return replace(query, done=replace(query.done, under_way=under_way), times=times)


def _staged(query: Query, event: events.BatchStaged, at: Moment) -> Query:
    before = query.done.under_way
    under_way = UnderWay(event.batch, Phase.PUBLISH, at.steady - event.seconds if before is None else before.since, at.steady)
    return replace(query, done=replace(query.done, under_way=under_way))


def _published(query: Query, event: events.BatchPublished) -> Query:
    rows, waiting = dict(query.outputs.rows), dict(query.outputs.waiting)
    known = event.output in rows or len(rows) < MOST_OUTPUTS
    if known:
        rows[event.output] = rows.get(event.output, 0) + event.rows
    before = waiting.pop(event.output, None)
    if before is not None and event.waiting:
        waiting[event.output] = replace(before, batches=event.waiting)
    return replace(query, outputs=Outputs(rows, waiting, query.outputs.more))


def _waits(query: Query, event: events.PublicationWaiting, at: Moment) -> Query:
    waiting = dict(query.outputs.waiting)
    before = waiting.pop(event.output, None)
    if event.batches and len(waiting) < MOST_OUTPUTS:
        since = at.steady if before is None else before.since
        waiting[event.output] = Waiting(event.batches, event.why, since, at.steady + event.seconds)
    return replace(query, outputs=replace(query.outputs, waiting=waiting))


def _committed(query: Query, event: events.BatchCommitted, at: Moment) -> Query:
    over, done = Batch(event.batch, at, event.counts.get("input", 0), event.phases_ms, event.total_ms), query.done
    later = done.under_way is not None and done.under_way.number > event.batch
    return replace(
        query,
        counts={key: query.counts.get(key, 0) + max(0, event.counts.get(key, 0)) for key in OF_A_BATCH},
        done=replace(
            done,
            committed=done.committed + 1,
            batches=(*done.batches, over)[-MOST_BATCHES:],
            under_way=done.under_way if later else None,
        ),
        times=_times(query.times, event, at),
        topics=topics_after(query.topics, event.lag, at.steady),
        state=state_after(query.state, event.state, at.steady),
        latency=tuple(event.latency[:MOST_LATENCIES]) or query.latency,
    )


def _times(times: EventTimes, event: events.BatchCommitted, at: Moment) -> EventTimes:
    watermark, newest = event.watermark or times.watermark, _later(times.newest, event.newest_event)
    if watermark is None and newest is None:
        return times
    return EventTimes(watermark, newest, thinned((*times.points, Point(at.steady, watermark, newest))))


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    known: Sequence[datetime] = [moment for moment in (one, other) if moment is not None]
    return max(known, default=None)
