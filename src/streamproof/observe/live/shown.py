"""A picture as plain values, ready for JSON: ages instead of instants wherever a browser's clock would have to agree with ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streamproof.core.account import PLACES, shown
from streamproof.core.phases import Phase
from streamproof.observe.live.histories import MOST_PARTITIONS, State, Topic
from streamproof.observe.live.picture import Batch, Picture, Query
from streamproof.observe.live.standing import Standing, input_per_second, seconds_to_catch_up, usual_seconds
from streamproof.observe.moment import Moment
from streamproof.runtime.watching.watched import WORK_AND_WRITE

PHASES = tuple(str(phase) for phase in Phase if phase not in (Phase.START, Phase.MAINTENANCE))
OF_PLAIN_JOBS = (str(Phase.PLAN), WORK_AND_WRITE, str(Phase.COMMIT))
"""What Spark tells apart of a batch of a plain PySpark job."""
SHOWN_PARTITIONS = 16
"""Of a topic, those with the most to read; the others are one line."""
_LEAST_SECONDS = 60.0
"""Over less than this no growth is worked out."""


@dataclass(frozen=True)
class _Of:
    """When a picture is looked at."""

    now: Moment

    def age(self, steady: float) -> float:
        """How many seconds ago."""
        return round(max(0.0, self.now.steady - steady), 1)


def shown_run(picture: Picture, standing: Standing, now: Moment) -> dict[str, Any]:
    """What the page of a run shows, at this moment."""
    of = _Of(now)
    ended = picture.ended
    return {
        "of": "run",
        "job": picture.job,
        "now": _iso(now.wall),
        "word": str(standing.word),
        "why": standing.why,
        "for_seconds": of.age(standing.since),
        "began_seconds": of.age(picture.began.steady),
        "doing": picture.doing,
        "ended": None if ended is None else _iso(ended.at.wall),
        "jump": None if picture.jump is None else {"at": _iso(picture.jump.at), "seconds": round(picture.jump.by.total_seconds())},
        "phases": _phases(picture),
        "queries": [_query(query, of, _phases(picture)) for query in picture.queries.values()],
        "more_queries": picture.more_queries,
        "troubles": [
            {
                "at": _iso(each.at),
                "code": each.code,
                "query": each.query,
                "batch": each.batch,
                "what": each.what,
                "todo": each.todo,
                "times": each.times,
                "around": list(each.around),
            }
            for each in picture.troubles
        ],
    }


def _phases(picture: Picture) -> list[str]:
    """The phases to show: those of ours, or those that Spark tells apart, or both."""
    of_plain = {query.plain is not None for query in picture.queries.values()}
    ours = PHASES if of_plain != {True} else OF_PLAIN_JOBS
    return [*ours, *(OF_PLAIN_JOBS[1:2] if of_plain == {True, False} else ())]


def _query(query: Query, of: _Of, phases: Sequence[str]) -> dict[str, Any]:
    done, times, rate = query.done, query.times, input_per_second(query)
    usual = usual_seconds(query)
    return {
        "name": query.name,
        "doing": query.doing,
        "since_seconds": of.age(query.since.steady),
        "committed": done.committed,
        "last_commit_seconds": of.age(done.batches[-1].at.steady) if done.batches else None,
        "usual_seconds": None if usual is None else round(usual, 2),
        "input_per_second": None if rate is None else round(rate, 1),
        "plain": query.plain is not None,
        "account": _account(query) if query.plain is None else None,
        "read": query.counts.get("input", 0),
        "batches": [_batch(batch, of, phases) for batch in done.batches],
        "under_way": None
        if done.under_way is None
        else {
            "number": done.under_way.number,
            "phase": str(done.under_way.phase),
            "seconds": of.age(done.under_way.since),
            "phase_seconds": of.age(done.under_way.phase_since),
        },
        "times": {
            "watermark": _iso(times.watermark),
            "newest": _iso(times.newest),
            "gap_seconds": _seconds(times.newest, times.watermark),
            "points": [[of.age(point.at), _millis(point.watermark), _millis(point.newest)] for point in times.points],
        },
        "latency": [
            {"source": each.source, "since": str(each.since), "p50_ms": each.p50_ms, "p95_ms": each.p95_ms, "p99_ms": each.p99_ms}
            for each in query.latency
        ],
        "topics": [_topic(topic, of) for topic in query.topics],
        "state": [_state(state, of) for state in query.state],
        "outputs": [{"name": name, "rows": rows} for name, rows in query.outputs.rows.items()],
        "more_outputs": query.outputs.more,
        "waiting": [
            {
                "output": output,
                "batches": waits.batches,
                "why": waits.why[:300],
                "seconds": of.age(waits.since),
                "again_seconds": round(max(0.0, waits.again - of.now.steady)),
            }
            for output, waits in query.outputs.waiting.items()
        ],
    }


def _account(query: Query) -> dict[str, Any]:
    """The places with their counts; `off` is how many are missing (positive) or too many, once the run has looked into the state."""
    told = query.account
    if told is None:
        places: Mapping[str, int] = {**query.counts, "open_state": max(0, query.open)}
        read, expanded, off = query.counts.get("input", 0), query.counts.get("expanded", 0), 0
    else:
        places, read, expanded, off = told.account.as_dict(), told.input, told.expanded, told.wanted - told.account.total
    return {
        "input": read,
        "expanded": expanded,
        "places": [
            {"name": place, "word": PLACES[place].word, "means": PLACES[place].meaning, "count": places.get(place, 0)}
            for place in shown(places)
        ],
        "off": off,
        "checked": told is not None,
        "unknown_since": None if told is None else told.unknown_since,
    }


def _batch(batch: Batch, of: _Of, phases: Sequence[str]) -> dict[str, Any]:
    longest = max(batch.phases_ms, key=lambda phase: batch.phases_ms[phase], default=None)
    return {
        "number": batch.number,
        "at": _iso(batch.at.wall),
        "seconds_ago": of.age(batch.at.steady),
        "input": batch.input,
        "total_ms": batch.total_ms,
        "phases_ms": [batch.phases_ms.get(phase) for phase in phases],
        "longest": longest,
    }


def _topic(topic: Topic, of: _Of) -> dict[str, Any]:
    most = sorted(topic.partitions, key=lambda partition: (-topic.partitions[partition], partition))
    shown_ones, others = most[:SHOWN_PARTITIONS], most[SHOWN_PARTITIONS:]
    return {
        "source": topic.source,
        "name": topic.name,
        "lag": topic.lag,
        "catches_up_seconds": _rounded(seconds_to_catch_up({each.at: each.lag for each in topic.sums})),
        "partitions": [
            {
                "partition": partition,
                "lag": topic.partitions[partition],
                "change": topic.partitions[partition] - topic.before[partition] if partition in topic.before else None,
            }
            for partition in sorted(shown_ones)
        ],
        "more": len(others) + topic.more,
        "more_lag": sum(topic.partitions[partition] for partition in others) + topic.more_lag,
        "kept": MOST_PARTITIONS,
        "not_kept": topic.more,
        "points": [[of.age(each.at), each.lag] for each in topic.sums],
    }


def _state(state: State, of: _Of) -> dict[str, Any]:
    first, last = state.sizes[0], state.sizes[-1]
    hours = (last.at - first.at) / 3_600
    enough = last.at - first.at >= _LEAST_SECONDS
    return {
        "operator": f"{state.place} {state.operator}",
        "rows": state.rows,
        "bytes": state.bytes,
        "on_disk": state.on_disk,
        "dropped": state.dropped,
        "bytes_per_hour": round((last.bytes - first.bytes) / hours) if enough else None,
        "points": [[of.age(size.at), size.bytes] for size in state.sizes],
    }


def _seconds(newest: datetime | None, watermark: datetime | None) -> float | None:
    return None if newest is None or watermark is None else round((newest - watermark).total_seconds(), 1)


def _rounded(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)


def _millis(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1_000)


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")


def without_secrets(value: Any, hide: Any) -> Any:
    """Plain values with every text as `hide` leaves it."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {key: without_secrets(inner, hide) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [without_secrets(inner, hide) for inner in value]
    return value
