"""The operators that random jobs are made of. Each adds itself by one function: it draws its arguments, writes its call, and says in plain
Python what the twin cannot know: what it does with a row, or with the rows of a window.

What it keeps in state, when it emits and what comes late is not said here: `prove/oracle` reads that from the job itself.
"""

from collections.abc import Callable, Mapping
from typing import Any

from random_jobs.chain import Chain, Left, Row
from streamproof.core.randomness import Seeded
from streamproof.prove.oracle.durations import micros

Add = Callable[[Seeded, Chain], None]

CONDITIONS: tuple[tuple[str, Callable[[Row], bool | None]], ...] = (
    ("v >= 0", lambda row: None if row["v"] is None else row["v"] >= 0),
    ("v < 17", lambda row: None if row["v"] is None else row["v"] < 17),
    ("client <> 'c'", lambda row: None if row["client"] is None else row["client"] != "c"),
    ("kind < 3", lambda row: row["kind"] < 3),
    ("client is not null", lambda row: row["client"] is not None),
)
"""As SQL, and in Python; None is null."""


# -- before the first state


def require(seed: Seeded, chain: Chain) -> None:
    text, holds = seed.choice(CONDITIONS)
    as_column = seed.chance(0.3)
    written = f"F.expr({text!r})" if as_column else repr(text)
    said = "asked" if as_column else text
    chain.calls.append(f".require(asked={written})")

    def step(row: Row) -> Row | Left:
        found = holds(row)
        return row if found else Left("rejected", said if found is False else f"{said} (is null)")

    chain.steps.append(step)


def filtered(seed: Seeded, chain: Chain) -> None:
    text, holds = seed.choice(CONDITIONS)
    name = f"{chain.filters}_{len(chain.steps)}"
    chain.calls.append(f".filter({text!r}, name={name!r})")
    chain.steps.append(lambda row: row if holds(row) else Left("filtered", name))


def transformed(seed: Seeded, chain: Chain) -> None:
    match seed.choice(("column", "column", "value", "time", "key")):
        case "column" if "odd" not in chain.keys:
            chain.calls.append('.transform(lambda rows: rows.withColumn("odd", F.pmod("v", F.lit(2))))')
            chain.steps.append(lambda row: {**row, "odd": None if row["v"] is None else row["v"] % 2})
            chain.keys.append("odd")
        case "value":
            chain.calls.append('.transform(lambda rows: rows.withColumn("v", F.col("v") * 3 - 1))')
            chain.steps.append(lambda row: {**row, "v": None if row["v"] is None else row["v"] * 3 - 1})
        case "time":
            by = seed.choice((-2_500, 1, 4_000))
            chain.calls.append(
                f'.transform(lambda rows: rows.withColumn("ts", F.timestamp_micros(F.unix_micros("ts") + {by * 1_000})))'
            )
            chain.steps.append(lambda row: {**row, "ts": row["ts"] + by * 1_000})
        case _:
            chain.calls.append(".transform(lambda rows: rows.withColumn(\"client\", F.coalesce('client', F.lit('none'))))")
            chain.steps.append(lambda row: {**row, "client": "none" if row["client"] is None else row["client"]})


WEIGHTS: Mapping[str, int] = {"a": 3, "c": 8}
"""What the table of the random jobs holds: by client a weight; b has none."""


def looked_up(seed: Seeded, chain: Chain) -> None:
    if "weight" in chain.keys:  # each column is there once
        filtered(seed, chain)
        return
    keeps_all = seed.chance(0.4)
    chain.calls.append(f'.lookup("weights", on={{"client": "who"}}{", how=" + repr("left") if keeps_all else ""})')
    chain.keys.append("weight")

    def step(row: Row) -> Row | Left:
        weight = WEIGHTS.get(row["client"])
        return Left("unmatched", "no row in weights", row) if weight is None and not keeps_all else {**row, "weight": weight}

    chain.steps.append(step)


def put_together(seed: Seeded, chain: Chain) -> None:
    """A union right after the sources. What each side takes by itself changes no row: an event and its copy in the other source stay alike."""
    sides = {source: Chain(chain.scale, filters=source) for source in ("events", "others")}
    for side in sides.values():
        for _ in range(seed.below(3)):
            seed.choice((require, filtered))(seed, side)
    mine, theirs = ("".join(side.calls) for side in sides.values())
    chain.calls.append(f"{mine}.union(others{theirs})")
    chain.before_union = {source: side.steps for source, side in sides.items()}


def joined_with_others(seed: Seeded, chain: Chain) -> None:
    """A join of both sources. Columns that steps before it make are of one side, so that their names are those of their rows."""
    sides = {source: Chain(chain.scale, filters=source) for source in ("events", "others")}
    for side in sides.values():
        for _ in range(seed.below(3)):
            seed.choice(BEFORE)(seed, side)
    mine, theirs = ("".join(side.calls) for side in sides.values())
    key = seed.choice((("id",), ("kind",), ("client",), ("client", "kind")))
    on = repr(key[0]) if len(key) == 1 and seed.chance(0.5) else repr(key)
    gaps = (*chain.scale.gaps, chain.scale.longest)
    earliest, latest = seed.choice((f"-{seed.choice(gaps)}", "0 seconds")), seed.choice(("0 seconds", *gaps))
    if seed.chance(0.2):  # both on one side
        earliest, latest = seed.choice((("1 second", gaps[-1]), (f"-{gaps[-1]}", "-1 second")))
    how = seed.choice(("inner", "inner", "left", "right", "full"))
    chain.calls.append(f"{mine}.join(others{theirs}, on={on}, between=({earliest!r}, {latest!r}), how={how!r})")
    chain.before_union = {source: side.steps for source, side in sides.items()}
    chain.joined, chain.stateful, chain.ended = key, True, True
    chain.of_right = frozenset(sides["others"].keys) - frozenset(sides["events"].keys)
    kept = {"inner": (), "full": ("left", "right")}.get(how, (how,))
    chain.alone = tuple(side for side in ("left", "right") if side not in kept and seed.chance(0.7))
    if "id" not in key and seed.chance(0.25):
        within = seed.choice((None, *chain.scale.gaps))
        chain.calls.append(f'.deduplicate("id", "id_right"{"" if within is None else f", within={within!r}"})')
        chain.copies = seed.chance(0.5)
    if seed.chance(0.5):
        window_after_join(seed, chain)
    elif ".deduplicate(" in chain.calls[-1]:
        pass
    elif seed.chance(0.3):
        chain.calls.append('.transform(lambda rows: rows.withColumn("both", F.expr("ts is not null and ts_right is not null")))')
        chain.behind.append(lambda row: {**row, "both": row.get("ts") is not None and row.get("ts_right") is not None})


def window_after_join(seed: Seeded, chain: Chain) -> None:
    """A window of a join's rows: by no key, or by columns of either side."""
    window = seed.choice([f"sp.tumbling({size!r})" for size in chain.scale.sizes])
    of_right = [f"{name}_right" for name in ("id", "client", "kind") if name not in chain.joined]
    by = seed.choice((None, chain.joined[0], "kind", seed.choice(of_right), ("client", seed.choice(of_right))))
    lateness = seed.choice((None, None, *chain.scale.lateness))
    given = [window, *([] if by is None else [f"by={by!r}"]), *([] if lateness is None else [f"allowed_lateness={lateness!r}"])]
    chain.calls.append(f".window({', '.join(given)})")
    chain.calls.append(f".aggregate({', '.join(f'{name}={made}' for name, (made, _) in OF_PAIRS.items())})")
    chain.aggregates = {name: of for name, (_, of) in OF_PAIRS.items()}


def _sum_of(name: str) -> Callable[[list[Row]], Any]:
    return lambda rows: sum(values) if (values := [row[name] for row in rows if row.get(name) is not None]) else None


OF_PAIRS: dict[str, tuple[str, Callable[[list[Row]], Any]]] = {
    "n": ('F.count("*")', len),
    "total": ('F.sum("v")', _sum_of("v")),
    "paid": ('F.sum("v_right")', _sum_of("v_right")),
    "times": (
        "F.sort_array(F.collect_list(F.unix_micros(F.coalesce('ts', 'ts_right'))))",
        lambda rows: tuple(sorted(_time(row) for row in rows)),
    ),
}
"""Aggregates of rows that are of two records, or of one of either side."""


def _time(row: Row) -> int:
    return row["ts"] if row.get("ts") is not None else row["ts_right"]


# -- once


def deduplicated(seed: Seeded, chain: Chain) -> None:
    key = seed.choice((("id",), ("id", "client")))
    within = seed.choice((None, None, *chain.scale.gaps, *chain.scale.sizes[-2:]))
    horizon = "" if within is None else f", within={within!r}"
    chain.calls.append(f".deduplicate({', '.join(map(repr, key))}{horizon})")
    chain.stateful = True
    chain.copies = seed.chance(0.5)


def deduplicated_in_order(seed: Seeded, chain: Chain) -> None:
    key = seed.choice((("id",), ("client",), ("id", "client")))
    within = seed.choice(chain.scale.gaps)
    # Of a client two events can have one value and one time: which of them stays a hash of their rows decides.
    order, keep = seed.choice(("v", "ts", "kind", "client") if "id" in key else ("id",)), seed.choice(("first", "last"))
    chain.calls.append(f".deduplicate({', '.join(map(repr, key))}, within={within!r}, order_by={order!r}, keep={keep!r})")
    chain.stateful = chain.ended = True


def newest(seed: Seeded, chain: Chain) -> None:
    key = seed.choice((("id",), ("client",), ("client", "kind")))
    within = seed.choice((*chain.scale.gaps, chain.scale.longest))
    # Of a client two events can have one value and one time: which of them is newer a hash of their rows decides.
    order = seed.choice(("v", "ts", "kind", "client") if key == ("id",) else ("id",))
    chain.calls.append(f".latest({', '.join(map(repr, key))}, order_by={order!r}, within={within!r})")
    chain.stateful = chain.ended = True


FIELDS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("last", '"CAST(NULL AS BIGINT)"', {"last": "coalesce(v, last)"}),
    ("held", 'sp.list_of("bigint", at_most=3)', {"held[]": "v"}),
    ("held", 'sp.list_of("timestamp", at_most=4)', {"held": "array_append(filter(held, at -> at > ts - INTERVAL {gap}), ts)"}),
    ("by", 'sp.map_of("bigint", "bigint", at_most=2)', {"by[v]": "coalesce(by[v], 0L) + 1L"}),
)
"""A field beside the count: its name, what it is, what a row sets."""
TIMERS = (
    "greatest(due, ts + INTERVAL {gap})",
    "ts + INTERVAL {gap}",
    "coalesce(due, ts + INTERVAL {gap})",
    "IF(v < 9, ts + INTERVAL {gap}, NULL)",
)
FIRES = ({"n": "0L"}, {"due": "IF(n > 2, NULL, timer + INTERVAL {gap})", "n": "n + 1"}, {"n": "n + 10"})


def remembered(seed: Seeded, chain: Chain) -> None:
    """Declared state of a client and kind, of which few events have one time; what the twin makes of it is its own."""
    gap, ttl = seed.choice(chain.scale.gaps), seed.choice((*chain.scale.gaps, chain.scale.longest, "never"))
    name, is_a, sets = seed.choice(FIELDS)
    sets = {"n": "n + 1", **sets}
    whens = (None, "n > 1", "v >= 0", "before.n = 0 OR kind < 3")
    when = seed.choice(whens)
    columns = (
        f'"client", "kind", "n", "before.n AS was", "{ {"last": "last", "held": "size(held)", "by": "size(by)"}[name] } AS more"'
    )
    timer = ""
    if seed.chance(0.6):
        sets |= {"due": seed.choice(TIMERS)}
        timer = f", on_timer={{'due': sp.step(set={seed.choice(FIRES)!r}, emit=sp.emit({columns}, \"unix_micros(timer) AS at\"))}}"
    emit = f'sp.emit({columns}, "unix_micros(ts) AS at"{"" if when is None else f", when={when!r}"})'
    call = f".keyed('client', 'kind', state={{'n': '0L', {name!r}: {is_a}}}, on_row=sp.step(set={sets!r}, emit={emit}){timer}, ttl={ttl!r})"
    chain.calls.append(call.replace("{gap}", gap))
    chain.steps.append(lambda row: row if row["client"] is not None else Left("rejected", "key client (is null)"))
    chain.stateful = chain.ended = True


# -- windows


def tumbling(seed: Seeded, chain: Chain) -> None:
    size = seed.choice(chain.scale.sizes)
    offset = seed.choice((None, *chain.scale.offsets))
    _windowed(seed, chain, f"sp.tumbling({size!r}{'' if offset is None else f', offset={offset!r}'})")


def hopping(seed: Seeded, chain: Chain) -> None:
    size, every = seed.choice(chain.scale.hops)
    offset = seed.choice((None, *chain.scale.offsets[:2]))
    _windowed(seed, chain, f"sp.hopping({size!r}, every={every!r}{'' if offset is None else f', offset={offset!r}'})")


def session(seed: Seeded, chain: Chain) -> None:
    gap = _own_gap(seed, chain) if seed.chance(0.5) else repr(seed.choice(chain.scale.gaps))
    longest = seed.choice((None, chain.scale.longest))
    _windowed(seed, chain, f"sp.session({gap}{'' if longest is None else f', longest={longest!r}'})", keyed=True)


def _own_gap(seed: Seeded, chain: Chain) -> str:
    """A gap that is a column's: one that a transform makes, or before a deduplication one that is there."""
    seconds, longest = chain.scale.own_gaps
    at_most = seed.choice(longest)
    column = seed.choice(("v", "kind")) if chain.stateful else "idle"
    if column == "idle":
        chain.calls.append(f'.transform(lambda rows: rows.withColumn("idle", F.col("v") * {seconds}))')
        chain.steps.append(lambda row: {**row, "idle": None if row["v"] is None else row["v"] * seconds})
    most = micros(at_most)

    def judged(row: Row) -> Row | Left:
        gap = row[column]
        if gap is None:
            return Left("rejected", f"session gap {column} (is null)")
        if gap <= 0:
            return Left("rejected", f"session gap {column} (is not above zero)")
        return Left("rejected", f"session gap {column} (is above {at_most})") if gap * 1_000_000 > most else row

    chain.steps.append(judged)
    return f"sp.gap_of({column!r}, at_most={at_most!r})"


def calendar(seed: Seeded, chain: Chain) -> None:
    unit = seed.choice(("day", "day", "week"))
    zone = seed.choice(("UTC", "Europe/Berlin", "America/Havana", "Asia/Kathmandu"))
    _windowed(seed, chain, f"sp.calendar({unit!r}, zone={zone!r})")


def shifts(seed: Seeded, chain: Chain) -> None:
    times = seed.choice((("06:00", "14:00", "22:00"), ("02:30", "14:30"), ("00:00", "02:00", "03:00", "18:00"), ("12:00",)))
    zone = seed.choice(("UTC", "Europe/Berlin", "Europe/Berlin", "Asia/Kathmandu"))
    _windowed(seed, chain, f"sp.shifts({', '.join(map(repr, times))}, zone={zone!r})")


EMISSIONS = ("final", "early", "corrections", "corrections")
"""A session has final rows only."""
AGGREGATES: dict[str, tuple[str, Callable[[list[Row]], Any]]] = {
    "n": ('F.count("*")', len),
    "total": ('F.sum("v")', lambda rows: sum(_values(rows)) if _values(rows) else None),
    "most": ('F.max("v")', lambda rows: max(_values(rows), default=None)),
    "least": ('F.min("v")', lambda rows: min(_values(rows), default=None)),
    "mean": ('F.avg("v")', lambda rows: sum(_values(rows)) / len(_values(rows)) if _values(rows) else None),
    "newest": ('F.max("ts")', lambda rows: max(row["ts"] for row in rows)),
    "squares": (
        'sp.accumulator(zero={"s": "0L"}, add={"s": "s + coalesce(v * v, 0L)"}, merge={"s": "left.s + right.s"}, result="s")',
        lambda rows: sum(value * value for value in _values(rows)),
    ),
    "spread": (
        'sp.accumulator(zero={"low": "CAST(NULL AS BIGINT)", "high": "CAST(NULL AS BIGINT)"}, '
        'add={"low": "least(low, v)", "high": "greatest(high, v)"}, '
        'merge={"low": "least(left.low, right.low)", "high": "greatest(left.high, right.high)"}, result="high - low")',
        lambda rows: max(_values(rows)) - min(_values(rows)) if _values(rows) else None,
    ),
    "ids": ('F.sort_array(F.collect_list("id"))', lambda rows: tuple(sorted(row["id"] for row in rows))),
}
"""Spark's aggregates and declared ones, and what each is over the rows of a window. Every job has `ids`: which events are in a window, copies too."""


def _values(rows: list[Row]) -> list[int]:
    return [row["v"] for row in rows if row["v"] is not None]


def _windowed(seed: Seeded, chain: Chain, window: str, *, keyed: bool = False) -> None:
    by = seed.choice((*([] if keyed else [None]), *chain.keys, tuple(chain.keys[:2])))
    lateness = seed.choice((None, *chain.scale.lateness))
    given = [window, *([] if by is None else [f"by={by!r}"]), *([] if lateness is None else [f"allowed_lateness={lateness!r}"])]
    emit = "final" if keyed else seed.choice(EMISSIONS)
    given += [] if emit == "final" else [f"emit={emit!r}"]
    names = [name for name in AGGREGATES if name == "ids" or seed.chance(0.4)]
    chain.calls.append(f".window({', '.join(given)})")
    made = [f"{name}={AGGREGATES[name][0]}" for name in names]
    if "spread" not in names and seed.chance(0.25):  # a number of that name is no aggregate
        made.append("spread=3")
    chain.calls.append(f".aggregate({', '.join(made)})")
    chain.aggregates = {name: AGGREGATES[name][1] for name in names}
    chain.revised = emit != "final"
    chain.stateful = True


# -- after a window


def transformed_behind(seed: Seeded, chain: Chain) -> None:
    chain.calls.append('.transform(lambda rows: rows.withColumn("held", F.size("ids")))')
    chain.behind.append(lambda row: {**row, "held": len(row["ids"])})


BEFORE: tuple[Add, ...] = (require, filtered, transformed, looked_up)
ONCE: tuple[Add, ...] = (deduplicated, deduplicated, deduplicated_in_order, newest, remembered)
WINDOWS: tuple[Add, ...] = (tumbling, hopping, session, calendar, shifts)
BEHIND: tuple[Add, ...] = (transformed_behind,)
"""By room what can stand there: a job draws some of the first, and one or none of each other."""
OF_DAYS: tuple[Add, ...] = (calendar, shifts)
"""Windows that are hours long: only jobs whose events go over days have them."""
