"""Rows of a key in the order of their event times."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed import Emit, Field, Step, emit, list_of, step
from streamproof.stream.keyed.rules import NEVER
from streamproof.stream.patterns.parts import Key, columns_of, interval, key_of, row_of, row_type

if TYPE_CHECKING:
    from streamproof.stream.stream import Stream

_GAP = "struct<missing_from: bigint, missing_to: bigint, noticed_at: timestamp>"


def reorder(
    stream: "Stream",
    key: Key,
    *,
    time: str,
    columns: Mapping[str, str],
    ttl: str,
    at_most: int,
    number: str | None = None,
    begins: int | None = None,
) -> "Stream":
    """The rows of a key in the order of their event times, each once the watermark is there: the key, the time, the columns, and `position`.

    `position` counts the rows of a key that have left, from 1 on. With `number` there are also rows of `.tagged("gaps")`, the key, `missing_from`,
    `missing_to` and `noticed_at`, where a row leaves whose number is not the next one.

    Parameters
    ----------
    time
        The column of the event time. Rows of one time leave by their number, and then by their columns.
    columns
        What rows have, by name with the SQL type: {"entry_id": "string", "amount": "decimal(18,2)"}.
    ttl
        How long a key is remembered after the latest row that has left, "never" for ever. A row of that instant or later begins anew: with position 1,
        and with `begins`. What counts is the event times of rows, and not when they come.
    at_most
        How many rows of a key wait at once; the earliest of more leave by `.overflow("waiting")`.
    number
        A column with a whole number that goes up by one from row to row.
    begins
        What the first number is. Default: whichever comes first.

    Raises
    ------
    JobDefinitionError
        If an argument makes no sense, or as `keyed` does.
    """
    kept = columns_of(
        "reorder(columns=...)", columns, ("at", time.lower(), "position", *([] if number is None else [number.lower()]))
    )
    if begins is not None and (number is None or not isinstance(begins, int) or isinstance(begins, bool)):
        raise JobDefinitionError(
            f"reorder(begins={begins!r}) is not the first of any numbers.",
            remedy='Say which column has them: number="sequence", begins=1.',
        )
    numbered = {} if number is None else {number: f"CAST({number} AS BIGINT)"}
    types = row_type({**dict.fromkeys(numbered, "bigint"), **kept})
    now, later = "one -> one.at <= timer", "one -> one.at > timer"
    leaving = f"filter(before.waiting, {now})"
    columns_out = [f"each.it.{name} AS {name}" for name in (*numbered, *kept)]
    emits = [
        emit(
            *key_of(key),
            f"each.it.at AS {time}",
            *columns_out,
            "each.position AS position",
            each=f"transform({leaving}, (one, place) -> struct(one AS it, before.pattern_position + place + 1 AS position))",
        )
    ]
    state: dict[str, str | Field] = {"waiting": list_of(types, at_most=at_most), "pattern_position": "0L"}
    sets = {
        "waiting": f"filter(waiting, {later})",
        "pattern_position": f"pattern_position + size(filter(waiting, {now}))",
        "pattern_due": f"get(filter(waiting, {later}), 0).at",
    }
    if number is not None:
        state["pattern_known"] = "CAST(NULL AS BIGINT)" if begins is None else f"CAST({begins - 1} AS BIGINT)"
        sets["pattern_known"] = f"greatest(pattern_known, array_max(transform(filter(waiting, {now}), one -> one.{number})))"
        emits.append(_gaps(key_of(key), leaving, number))
    leave: dict[str, Step] = {}
    if ttl != NEVER:
        # How old a key is goes by the rows that have left. The timer holds it, and is due before rows of its instant leave.
        sets["pattern_forget"] = f"timer + {interval('reorder(ttl=...)', ttl)}"
        leave["pattern_forget"] = step(set={name: starts for name, starts in state.items() if isinstance(starts, str)})
    leave["pattern_due"] = step(set=sets, emit=emits)
    return stream.keyed(
        *key_of(key),
        state=state,
        on_row=step(
            set={
                "waiting": f"sort_array(array_append(waiting, {row_of(time, {**numbered, **{name: name for name in kept}})}))",
                "pattern_due": f"least(pattern_due, {time})",
            }
        ),
        on_timer=leave,
        ttl=ttl,
    )


def _gaps(key: tuple[str, ...], leaving: str, number: str) -> Emit:
    """A row for each stretch of numbers that is not there when a later one leaves."""
    gap = f"struct(found.known + 1 AS missing_from, one.{number} - 1 AS missing_to, one.at AS noticed_at)"
    found = (
        f"aggregate({leaving}, struct(before.pattern_known AS known, CAST(array() AS array<{_GAP}>) AS gaps), (found, one) -> struct("
        f"greatest(found.known, one.{number}) AS known, "
        f"IF(one.{number} > found.known + 1, array_append(found.gaps, {gap}), found.gaps) AS gaps), found -> found.gaps)"
    )
    columns = ("missing_from", "missing_to", "noticed_at")
    return emit(*key, *(f"each.{name} AS {name}" for name in columns), each=found, to="gaps")
