"""Patterns over a value of a key: what records add up to, and when it is another one than before."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed import emit, step
from streamproof.stream.keyed.declared import parsed
from streamproof.stream.patterns.parts import Key, key_of

if TYPE_CHECKING:
    from streamproof.stream.stream import Stream


def running(stream: "Stream", key: Key, *, ttl: str, columns: Sequence[str] = (), **sums: tuple[str, str]) -> "Stream":
    """A row for each record, with sums of its key up to there: a balance.

    Parameters
    ----------
    ttl
        How long a key is remembered after its latest record; "never" for ever.
    columns
        What rows have beside the key and the sums, as `sp.emit` takes it.
    sums
        By name what it starts as and what each record adds: `balance=("0L", "amount_in_cents")`. A null adds nothing. Where it starts as a
        `CAST(0 AS DECIMAL(18, 2))`, the sum keeps that type, and is rounded to its digits with each record.

    Raises
    ------
    JobDefinitionError
        Without a sum, or as `keyed` does: a fraction does not fit into "0L".
    """
    if not sums:
        raise JobDefinitionError("running() adds nothing up.", remedy='For example: balance=("0L", "amount_in_cents").')
    for name, given in sums.items():
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise JobDefinitionError(
                f"running({name}=...) is no pair.",
                required="A sum is what it starts as, and what each record adds.",
                remedy=f'For example: {name}=("0L", "amount_in_cents").',
            )
    return stream.keyed(
        *key_of(key),
        state={name: starts for name, (starts, _) in sums.items()},
        on_row=step(
            set={name: _added(name, starts, what) for name, (starts, what) in sums.items()},
            emit=emit(*key_of(key), *columns, *sums),
        ),
        ttl=ttl,
    )


def _added(name: str, starts: str, what: str) -> str:
    """A sum of decimals has more digits than its parts, so it is cast back to what it starts as; of other types a sum that does not fit is refused."""
    from sqlglot import exp

    found = parsed(starts)
    added = f"coalesce({name} + ({what}), {name})"
    decimal = isinstance(found, exp.Cast) and found.args["to"].this == exp.DataType.Type.DECIMAL
    return f"CAST({added} AS {found.args['to'].sql(dialect='spark')})" if decimal else added


def changes(stream: "Stream", key: Key, value: str, *, time: str, starts: str, ttl: str, columns: Sequence[str] = ()) -> "Stream":
    """A row where the last known value of a key is another one than before: the key, `was` and `now`.

    A record that is older than the newest one of its key changes nothing.

    Parameters
    ----------
    value
        What is looked at, such as "status".
    time
        The column of the event time.
    starts
        A null of the type of the value: "CAST(NULL AS STRING)".
    ttl
        How long a key is remembered after its latest record; "never" for ever. After that its first value is a change from null.
    columns
        What rows have beside these, as `sp.emit` takes it.

    Raises
    ------
    JobDefinitionError
        As `keyed` does.
    """
    return stream.keyed(
        *key_of(key),
        state={"pattern_known": starts, "pattern_known_at": "CAST(NULL AS TIMESTAMP)"},
        on_row=step(
            set={
                "pattern_known": f"IF(pattern_known_at IS NULL OR {time} >= pattern_known_at, {value}, pattern_known)",
                "pattern_known_at": f"greatest(pattern_known_at, {time})",
            },
            emit=emit(
                *key_of(key),
                *columns,
                "before.pattern_known AS was",
                "pattern_known AS now",
                when="NOT before.pattern_known <=> pattern_known",
            ),
        ),
        ttl=ttl,
    )
