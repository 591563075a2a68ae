"""Patterns that are declared state written out: each takes a stream and gives what `keyed` gives, so that a proof covers it as that."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed import emit, list_of, step
from streamproof.stream.windows.durations import positive_duration

if TYPE_CHECKING:
    from streamproof.stream.stream import Stream

Key = str | Sequence[str]


def velocity(stream: "Stream", key: Key, *, time: str, at_least: int, within: str, columns: Sequence[str] = ()) -> "Stream":
    """A row for each record that is at least the n-th of its key within a duration.

    Parameters
    ----------
    time
        The column of the event time.
    at_least
        From which number on there is a row. The state holds as many times of a key.
    within
        How long before a record others count, such as "10 minutes".
    columns
        What rows have beside the key and `n`, as `sp.emit` takes it.
    """
    _require_number("velocity", at_least)
    ago = _interval("velocity(within=...)", within)
    recent = f"filter(recent, at -> at > {time} - {ago})"
    kept = f"array_append(IF(size({recent}) >= {at_least}, slice({recent}, 2, {at_least}), {recent}), {time})"
    return stream.keyed(
        *_key(key),
        state={"recent": list_of("timestamp", at_most=at_least + 1)},
        on_row=step(
            set={"recent": kept},
            emit=emit(*_key(key), *columns, "size(recent) AS n", when=f"size(recent) >= {at_least}"),
        ),
        ttl=within,
    )


def inactivity(stream: "Stream", key: Key, *, time: str, after: str) -> "Stream":
    """A row when nothing has come of a key for a duration: the key, `last_at`, and `silent_at`, when that was so."""
    gone = _interval("inactivity(after=...)", after)
    return stream.keyed(
        *_key(key),
        state={"last_at": "CAST(NULL AS TIMESTAMP)"},
        on_row=step(set={"last_at": f"greatest(last_at, {time})", "silence": f"greatest(silence, {time} + {gone})"}),
        on_timer={"silence": step(emit=emit(*_key(key), "last_at", "timer AS silent_at"))},
        ttl=after,
    )


def running(stream: "Stream", key: Key, *, ttl: str, columns: Sequence[str] = (), **sums: tuple[str, str]) -> "Stream":
    """A row for each record, with sums of its key up to there.

    Parameters
    ----------
    ttl
        How long a key is remembered after its latest record; "never" for ever.
    sums
        By name what it starts as and what each record adds: `balance=("0L", "amount_in_cents")`. A null adds nothing.
    """
    if not sums:
        raise JobDefinitionError("running() adds nothing up.", remedy='For example: balance=("0L", "amount_in_cents").')
    added = {name: f"{name} + coalesce({what}, {starts})" for name, (starts, what) in sums.items()}
    return stream.keyed(
        *_key(key),
        state={name: starts for name, (starts, _) in sums.items()},
        on_row=step(set=added, emit=emit(*_key(key), *columns, *sums)),
        ttl=ttl,
    )


def changes(stream: "Stream", key: Key, value: str, *, starts: str, ttl: str, columns: Sequence[str] = ()) -> "Stream":
    """A row where a value of a key is another one than before: the key, `was` and `now`.

    Parameters
    ----------
    starts
        A null of the type of the value: "CAST(NULL AS STRING)".
    """
    return stream.keyed(
        *_key(key),
        state={"known": starts},
        on_row=step(
            set={"known": value},
            emit=emit(*_key(key), *columns, "before.known AS was", "known AS now", when="NOT before.known <=> known"),
        ),
        ttl=ttl,
    )


def sequence(stream: "Stream", key: Key, *, time: str, first: str, then: str, within: str) -> "Stream":
    """A row where a second thing follows a first within a duration: the key, `first_at`, `then_at`. Where it does not, a row of
    `.tagged("missing")` when the duration is over: the key, `first_at`, `missing_at`.

    Parameters
    ----------
    first, then
        Conditions on a record. The latest first one counts.
    """
    long = _interval("sequence(within=...)", within)
    both = f"({then}) AND before.first_at IS NOT NULL AND {time} > before.first_at AND {time} <= before.first_at + {long}"
    follows = f"({then}) AND first_at IS NOT NULL AND {time} > first_at"
    return stream.keyed(
        *_key(key),
        state={"first_at": "CAST(NULL AS TIMESTAMP)"},
        on_row=step(
            set={
                "first_at": f"CASE WHEN {follows} THEN NULL WHEN ({first}) THEN greatest(first_at, {time}) ELSE first_at END",
                "missing": f"CASE WHEN {follows} THEN NULL WHEN ({first}) THEN greatest(missing, {time} + {long}) ELSE missing END",
            },
            emit=emit(*_key(key), "before.first_at AS first_at", f"{time} AS then_at", when=both),
        ),
        on_timer={
            "missing": step(
                set={"first_at": "CAST(NULL AS TIMESTAMP)"},
                emit=emit(*_key(key), "before.first_at AS first_at", "timer AS missing_at", to="missing"),
            )
        },
        ttl=within,
    )


def sliding(
    stream: "Stream", key: Key, value: str, *, time: str, over: str, lag: str, at_most: int, columns: Sequence[str] = ()
) -> "Stream":
    """A row for each record, over the records of its key in the duration up to it: the key, `n`, `total`, `least`, `most`.

    Records that come later and happened before are in the rows of those that come after them, and in no earlier one.

    Parameters
    ----------
    value
        A number, which is taken as a double.
    lag
        How much later than newer records one can come and still find those before it: the lag of the source.
    at_most
        How many records of a key the state holds; those before are in `.overflow("recent")`.
    """
    _require_number("sliding", at_most)
    ago = _interval("sliding(over=...)", over)
    kept = _interval("sliding(lag=...)", lag)
    there = f"filter(recent, one -> one.at > {time} - {ago} AND one.at <= {time})"
    values = f"transform({there}, one -> one.v)"
    return stream.keyed(
        *_key(key),
        state={"recent": list_of("struct<at: timestamp, v: double>", at_most=at_most), "newest": "CAST(NULL AS TIMESTAMP)"},
        on_row=step(
            set={
                "newest": f"greatest(newest, {time})",
                "recent": f"array_append(filter(recent, one -> one.at > greatest(newest, {time}) - {ago} - {kept}), "
                f"struct({time} AS at, CAST({value} AS DOUBLE) AS v))",
            },
            emit=emit(
                *_key(key),
                *columns,
                f"size({there}) AS n",
                f"aggregate({values}, 0D, (sum, v) -> sum + coalesce(v, 0D)) AS total",
                f"array_min({values}) AS least",
                f"array_max({values}) AS most",
            ),
        ),
        ttl=over,
    )


def _key(key: Key) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else tuple(key)


def _interval(call: str, text: str) -> str:
    milliseconds = round(positive_duration(call, text, "it needs a duration").total_seconds() * 1000)
    return f"INTERVAL {milliseconds} MILLISECONDS"


def _require_number(call: str, number: object) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise JobDefinitionError(f"{call}(): {number!r} is no number of records.", required="1 or more.")
