"""Patterns over the records of a key in the duration up to each of them: how many there are, and what they add up to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from streamproof.stream.keyed import Step, emit, list_of, step
from streamproof.stream.patterns.parts import Key, columns_of, interval, key_of, require_number, row_of, row_type

if TYPE_CHECKING:
    from streamproof.stream.stream import Stream

_SUMS = ("n", "total", "least", "most")
_VALUES = "struct<at: timestamp, v: double>"
"""Of each record its instant, and what is added up."""


def velocity(
    stream: "Stream", key: Key, *, time: str, at_least: int, within: str, at_most: int, columns: Sequence[str] = ()
) -> "Stream":
    """A row for each record that is at least the n-th of its key within a duration: the key, and `n`.

    It counts the records that have come by then. One that comes late, and is not too late, is counted for those that come after it, and changes no
    row that is out.

    Parameters
    ----------
    time
        The column of the event time.
    at_least
        From which number on there is a row.
    within
        How long before a record others count, such as "10 minutes"; one that is exactly so old does not.
    at_most
        How many records of a key the state holds; those before are in `.overflow("recent")`, and count no longer.
    columns
        What rows have beside the key and `n`, as `sp.emit` takes it.

    Raises
    ------
    JobDefinitionError
        If an argument makes no sense, or as `keyed` does.
    """
    require_number("velocity(at_least=...)", at_least)
    ago = interval("velocity(within=...)", within)
    n = f"size(filter(recent, one -> one.at > {time} - {ago} AND one.at <= {time}))"
    return stream.keyed(
        *key_of(key),
        state={"recent": list_of("struct<at: timestamp>", at_most=at_most)},
        on_row=step(
            set=_kept(f"struct({time} AS at)", time, ago),
            emit=emit(*key_of(key), *columns, f"{n} AS n", when=f"{n} >= {at_least}"),
        ),
        on_timer={"pattern_forget": _forget(ago)},
        ttl=within,
    )


def sliding(stream: "Stream", key: Key, value: str, *, time: str, over: str, at_most: int, columns: Sequence[str] = ()) -> "Stream":
    """A row for each record, over the records of its key in the duration up to it: the key, `n`, `total`, `least`, `most`.

    It is over the records that have come by then. One that comes late, and is not too late, is in the rows of those that come after it, and changes
    no row that is out: `sliding_complete` waits for it.

    Parameters
    ----------
    value
        A number, which is taken as a double. A null counts in `n` only.
    time
        The column of the event time.
    over
        How long before a record others are in its row, such as "1 hour"; one that is exactly so old is not.
    at_most
        How many records of a key the state holds; those before are in `.overflow("recent")`, and are in no row any more.
    columns
        What rows have beside these, as `sp.emit` takes it.

    Raises
    ------
    JobDefinitionError
        If an argument makes no sense, or as `keyed` does.
    """
    ago = interval("sliding(over=...)", over)
    there = f"filter(recent, one -> one.at > {time} - {ago} AND one.at <= {time})"
    return stream.keyed(
        *key_of(key),
        state={"recent": list_of(_VALUES, at_most=at_most)},
        on_row=step(
            set=_kept(_value(value, time), time, ago),
            emit=emit(*key_of(key), *columns, *_sums("each"), each=f"array({_values(there)})"),
        ),
        on_timer={"pattern_forget": _forget(ago)},
        ttl=over,
    )


def sliding_complete(
    stream: "Stream", key: Key, value: str, *, time: str, over: str, at_most: int, columns: Mapping[str, str]
) -> "Stream":
    """A row for each record, over all records of its key in the duration up to it, once the watermark is there: the key, the time, the columns, `n`,
    `total`, `least`, `most`.

    The rows are those of a batch query: it makes no difference in which order records come. Records of one instant are in the rows of each other.

    Parameters
    ----------
    value
        A number, which is taken as a double. A null counts in `n` only.
    time
        The column of the event time.
    over
        How long before a record others are in its row, such as "1 hour"; one that is exactly so old is not.
    at_most
        How many records of a key the state holds, and how many wait; those before are in `.overflow("recent")`, and are in no row any more, and in
        `.overflow("waiting")`, and have no row.
    columns
        What rows have of the record, by name with the SQL type: {"order_id": "string"}.

    Raises
    ------
    JobDefinitionError
        If an argument makes no sense, or as `keyed` does.
    """
    ago = interval("sliding_complete(over=...)", over)
    kept = columns_of("sliding_complete(columns=...)", columns, ("at", time.lower(), *_SUMS))
    later, there = "one -> one.at > timer", f"filter(before.recent, one -> one.at > timer - {ago} AND one.at <= timer)"
    return stream.keyed(
        *key_of(key),
        state={"recent": list_of(_VALUES, at_most=at_most), "waiting": list_of(row_type(kept), at_most=at_most)},
        on_row=step(
            set={
                "recent": f"array_append(recent, {_value(value, time)})",
                "waiting": f"array_append(waiting, {row_of(time, {name: name for name in kept})})",
                "pattern_due": f"least(pattern_due, {time})",
                "pattern_forget": _forget_at(time, ago),
            }
        ),
        on_timer={
            "pattern_due": step(
                set={
                    "recent": f"filter(recent, one -> one.at > timer - {ago})",
                    "waiting": f"filter(waiting, {later})",
                    "pattern_due": f"array_min(transform(filter(waiting, {later}), one -> one.at))",
                },
                emit=emit(
                    *key_of(key),
                    f"each.it.at AS {time}",
                    *(f"each.it.{name} AS {name}" for name in kept),
                    *_sums("each.values"),
                    each=f"transform(filter(before.waiting, one -> one.at <= timer), it -> struct(it AS it, {_values(there)} AS values))",
                ),
            ),
            "pattern_forget": _forget(ago),
        },
        ttl=over,
    )


def _value(value: str, time: str) -> str:
    return f"struct({time} AS at, CAST({value} AS DOUBLE) AS v)"


def _values(there: str) -> str:
    return f"transform({there}, one -> one.v)"


def _sums(values: str) -> list[str]:
    """What rows say of a list of values."""
    return [
        f"size({values}) AS n",
        f"aggregate({values}, 0D, (sum, v) -> sum + coalesce(v, 0D)) AS total",
        f"array_min({values}) AS least",
        f"array_max({values}) AS most",
    ]


def _kept(row: str, time: str, ago: str) -> dict[str, str]:
    return {"recent": f"array_append(recent, {row})", "pattern_forget": _forget_at(time, ago)}


def _forget_at(time: str, ago: str) -> str:
    return f"coalesce(pattern_forget, {time} + {ago})"


def _forget(ago: str) -> Step:
    """What no record that can still come has in its duration goes when the watermark says so: what a record finds does not depend on when it comes.

    The timer is set as long as the list holds anything: a key without a timer begins anew with a record that is newer by the duration, also while
    older ones can still come. It fires once in each duration, and not for each record. A list holds what has come in two.
    """
    still = f"one -> one.at > timer - {ago}"
    next_ = f"greatest(timer, array_min(transform(filter(recent, {still}), one -> one.at))) + {ago}"
    return step(set={"recent": f"filter(recent, {still})", "pattern_forget": f"IF(exists(recent, {still}), {next_}, NULL)"})
