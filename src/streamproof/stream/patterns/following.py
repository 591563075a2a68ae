"""One thing follows another of its key within a duration: seen from the first (`sequence`), and from the second (`attribution`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.errors import JobDefinitionError
from streamproof.stream.keyed import Field, emit, list_of, step
from streamproof.stream.patterns.parts import Key, columns_of, interval, key_of, row_of, row_type

if TYPE_CHECKING:
    from streamproof.stream.stream import Stream

_CREDITS = {"first": "array_min", "last": "array_max"}


@dataclass(frozen=True)
class Event:
    """Which records a pattern looks for, and what it keeps of them; made by `event`."""

    when: str
    columns: Mapping[str, str]

    def waits(self, at_most: int) -> Field:
        """The list of those that wait."""
        return list_of(row_type(self.columns), at_most=at_most)

    def put_in(self, field: str, time: str) -> str:
        """The list with a row's own, where it is one."""
        return f"IF({self.when}, array_append({field}, {row_of(time, {name: name for name in self.columns})}), {field})"

    def shown(self, of: str, called: str) -> list[str]:
        """Its columns, of a row in a list."""
        return [f"{of}.{name} AS {called}_{name}" for name in self.columns]


def event(when: str, /, **columns: str) -> Event:
    """Records that a pattern looks for.

    Parameters
    ----------
    when
        A condition: "kind = 'ad'".
    columns
        Columns of theirs that rows of the pattern have too, by name with the SQL type: `ad_id="string"`. The pattern puts a word before the name.

    Raises
    ------
    JobDefinitionError
        If the condition is no text, or a type is none.
    """
    if not isinstance(when, str) or not when.strip():
        raise JobDefinitionError(
            f"event({when!r}) is no condition.", remedy="""For example: sp.patterns.event("kind = 'ad'", ad_id="string")."""
        )
    return Event(when, columns_of(f"event({when!r})", columns, ("at",)))


def sequence(
    stream: "Stream",
    key: Key,
    *,
    time: str,
    first: str | Event,
    then: str | Event,
    within: str,
    at_most: int,
) -> "Stream":
    """For each first thing the second one that follows it within a duration: a row with the key, `first_at`, `then_at`; or, where none does, a row
    of `.tagged("missing")` with the key, `first_at`, `missing_at`.

    A row leaves when the watermark is at the second thing; one of `missing` when it is at the end of the duration. So it makes no difference in
    which order records come. A second thing can follow several first ones.

    Parameters
    ----------
    time
        The column of the event time.
    first, then
        Conditions on a record, or `sp.patterns.event(...)` with columns, which are called `first_NAME` and `then_NAME`. A record that fulfils neither
        changes nothing.
    within
        How much later the second thing happens, at most.
    at_most
        How many first things of a key, and how many second ones, wait at once; the earliest that came of more leave by `.overflow("firsts")` and
        `.overflow("thens")`.

    Raises
    ------
    JobDefinitionError
        If an argument makes no sense, or as `keyed` does.
    """
    long = interval("sequence(within=...)", within)
    one, other = _event("sequence(first=...)", first), _event("sequence(then=...)", then)
    here = "there -> there.at <= timer"
    on = f"one.at + {long} > timer"

    def met(fields: str) -> str:
        return f"(exists({fields}thens, {here}) AND one.at < timer)"  # those for which it is too late have left at a timer before

    waits = f"one -> {on} AND NOT {met('')}"
    second = f"array_min(filter(before.thens, {here}))"
    of_key, given = [*key_of(key), "each.at AS first_at"], one.shown("each", "first")
    return stream.keyed(
        *key_of(key),
        state={"firsts": one.waits(at_most), "thens": other.waits(at_most)},
        on_row=step(
            set={
                "firsts": one.put_in("firsts", time),
                "thens": other.put_in("thens", time),
                "pattern_due": f"least(pattern_due, IF({one.when}, {time} + {long}, NULL), IF({other.when}, {time}, NULL))",
            }
        ),
        on_timer={
            "pattern_due": step(
                set={
                    "firsts": f"filter(firsts, {waits})",
                    "thens": "filter(thens, there -> there.at > timer)",
                    "pattern_due": f"least(array_min(transform(filter(firsts, {waits}), one -> one.at)) + {long}, "
                    "array_min(transform(filter(thens, there -> there.at > timer), there -> there.at)))",
                },
                emit=[
                    emit(
                        *of_key,
                        "timer AS then_at",
                        *given,
                        *other.shown(second, "then"),
                        each=f"filter(before.firsts, one -> {met('before.')})",
                    ),
                    emit(
                        *of_key,
                        "timer AS missing_at",
                        *given,
                        each=f"filter(before.firsts, one -> NOT {on} AND NOT {met('before.')})",
                        to="missing",
                    ),
                ],
            )
        },
        ttl=within,
    )


def attribution(
    stream: "Stream",
    key: Key,
    *,
    time: str,
    touch: str | Event,
    conversion: str | Event,
    within: str,
    at_most: int,
    credit: str = "last",
) -> "Stream":
    """For each conversion the touch of its key, within a duration before it, that is credited with it: a row with the key, `conversion_at`,
    `touch_at`, and `touches`, how many there were; or, where there was none, a row of `.tagged("unattributed")` with the key, `conversion_at`.

    A conversion leaves when the watermark is at it. So a touch that comes late, and is not too late, counts.

    Parameters
    ----------
    time
        The column of the event time.
    touch, conversion
        Conditions on a record, that an ad was shown, that something was bought; or `sp.patterns.event(...)` with columns, which are called
        `touch_NAME` and `conversion_NAME`. A record that fulfils neither changes nothing.
    within
        How long before a conversion a touch counts, such as "24 hours"; one that is exactly so old does, and one of the same instant too.
    at_most
        How many touches of a key the state holds, and how many conversions wait; the earliest that came of more leave by `.overflow("touches")`
        and `.overflow("waiting")`.
    credit
        Which touch it is: the "first", or the "last". Of several of one instant, their columns decide.

    Raises
    ------
    JobDefinitionError
        If an argument makes no sense, or as `keyed` does.
    """
    if credit not in _CREDITS:
        raise JobDefinitionError(f"attribution(credit={credit!r}) is not known.", required='"first" or "last".')
    long = interval("attribution(within=...)", within)
    shown, bought = _event("attribution(touch=...)", touch), _event("attribution(conversion=...)", conversion)
    there = f"filter(before.touches, one -> one.at >= timer - {long} AND one.at <= timer)"
    credited = f"{_CREDITS[credit]}({there})"
    of_key, given = [*key_of(key), "each.at AS conversion_at"], bought.shown("each", "conversion")
    leaving, still = "filter(before.waiting, one -> one.at <= timer)", f"one -> one.at > timer - {long}"
    return stream.keyed(
        *key_of(key),
        state={"touches": shown.waits(at_most), "waiting": bought.waits(at_most)},
        on_row=step(
            set={
                "touches": shown.put_in("touches", time),
                "waiting": bought.put_in("waiting", time),
                "pattern_due": f"least(pattern_due, IF({bought.when}, {time}, NULL))",
                "pattern_expire": f"IF({shown.when}, coalesce(pattern_expire, {time} + {long}), pattern_expire)",
            }
        ),
        on_timer={
            "pattern_due": step(
                set={
                    "waiting": "filter(waiting, one -> one.at > timer)",
                    "pattern_due": "array_min(transform(filter(waiting, one -> one.at > timer), one -> one.at))",
                },
                emit=[
                    emit(
                        *of_key,
                        f"{credited}.at AS touch_at",
                        f"size({there}) AS touches",
                        *given,
                        *shown.shown(credited, "touch"),
                        each=leaving,
                        when=f"size({there}) > 0",
                    ),
                    emit(*of_key, *given, each=leaving, when=f"size({there}) = 0", to="unattributed"),
                ],
            ),
            # After "pattern_due", which is declared first: a conversion of the same instant still finds its touches.
            "pattern_expire": step(
                set={
                    "touches": f"filter(touches, {still})",
                    "pattern_expire": f"IF(exists(touches, {still}), timer + {long}, NULL)",
                }
            ),
        },
        ttl=within,
    )


def _event(call: str, given: Any) -> Event:
    if isinstance(given, Event):
        return given
    if not isinstance(given, str):
        raise JobDefinitionError(
            f"{call} is a {type(given).__name__}.",
            required='It takes a condition in SQL, or sp.patterns.event("condition", column="type").',
        )
    return event(given)
