"""When nothing has come of a key for a while."""

from typing import TYPE_CHECKING

from streamproof.stream.keyed import emit, list_of, step
from streamproof.stream.patterns.parts import Key, interval, key_of

if TYPE_CHECKING:
    from streamproof.stream.stream import Stream

_RUN = "struct<begun: timestamp, latest: timestamp>"


def inactivity(stream: "Stream", key: Key, *, time: str, after: str, at_most: int = 1_000) -> "Stream":
    """A row when nothing has happened of a key for a duration: the key, `first_at` and `last_at` of the records before, and `silent_at`.

    There is a row for each such silence, also where records after it come before the watermark has seen it.

    Parameters
    ----------
    time
        The column of the event time.
    after
        How long after a record the next one is missed, such as "30 minutes"; one that comes exactly then is not.
    at_most
        How many silences of a key can be open at once; those before leave by `.overflow("active")`. There is more than one only where records come
        later than others by more than `after`.

    Raises
    ------
    JobDefinitionError
        If the duration is none, or as `keyed` does.
    """
    gone = interval("inactivity(after=...)", after)
    last = "get(runs, size(runs) - 1)"
    longer = f"struct({last}.begun AS begun, greatest({last}.latest, one.latest) AS latest)"
    # Records that follow each other are one run, as in a session; what comes between two runs can make one of them.
    put_in = (
        f"aggregate(sort_array(array_append(active, struct({time} AS begun, {time} AS latest))), CAST(array() AS array<{_RUN}>), (runs, one) -> "
        f"IF(one.begun <= {last}.latest + {gone}, array_append(slice(runs, 1, size(runs) - 1), {longer}), array_append(runs, one)))"
    )
    over, on = f"one -> one.latest + {gone} <= timer", f"one -> one.latest + {gone} > timer"
    return stream.keyed(
        *key_of(key),
        state={"active": list_of(_RUN, at_most=at_most)},
        on_row=step(set={"active": put_in, "pattern_silence": f"get({put_in}, 0).latest + {gone}"}),
        on_timer={
            "pattern_silence": step(
                set={"active": f"filter(active, {on})", "pattern_silence": f"get(filter(active, {on}), 0).latest + {gone}"},
                emit=emit(
                    *key_of(key),
                    "each.begun AS first_at",
                    "each.latest AS last_at",
                    "timer AS silent_at",
                    each=f"filter(before.active, {over})",
                ),
            )
        },
        ttl=after,
    )
