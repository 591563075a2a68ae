"""What keeps state in the queries of a job, and whether Spark ever frees it: read from the plan of a run without a fault.

A finding is what grows with time or with the events themselves. What grows with the number of its keys alone, such as a total for each
customer, is said in the report: whether there are so many customers is for its author to know.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof._jvm import Key, Operator, operators_of_query

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

FILE = "stateful.json"
"""In the folder of a recorded run: the stateful operators of each query."""
COUNTS = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
"""The setting by which RocksDB counts the rows of a state; a proof leaves it out elsewhere, since it costs time."""
_NEW_KEYS = 0.25
"""From this share of the rows on that bring a new key, state grows with the events: at every fourth row at least."""
_NO_TIMEOUT = ("NoTimeout", "NoTime", "None")


@dataclass(frozen=True)
class Stateful:
    """A stateful operator in a run.

    Parameters
    ----------
    counts
        By batch how many rows the query has read, and how many the state had at its end; empty where they are not known.
    dropped
        How many rows Spark says that it dropped there as late.
    """

    query: str
    operator: Operator
    counts: tuple[tuple[int, int], ...] = ()
    dropped: int = 0

    @property
    def at_end(self) -> int:
        return self.counts[-1][1] if self.counts else 0

    @property
    def drops_late(self) -> bool:
        """Whether Spark drops rows before it that are behind the watermark."""
        kind, bounded = self.operator.kind, any(key.bounded for key in self.operator.keys)
        by_kind = {
            "aggregation": bounded and self.operator.mode != "complete",
            "limit": False,
            "groups": "EventTime" in self.operator.timeout,
            "processor": "EventTime" in self.operator.timeout,
        }
        return self.operator.watermarked and by_kind.get(kind, True)

    @property
    def grows_with_events(self) -> bool:
        """Whether in the second half of the run as good as each row has made the state larger."""
        with_data = [(rows, kept) for rows, kept in self.counts if rows]
        half = len(with_data) // 2
        if half < 1:
            return False
        before, (_, kept) = with_data[half - 1][1], with_data[-1]
        rows = sum(rows for rows, _ in with_data[half:])
        return kept - before >= _NEW_KEYS * rows


def note(queries: "Sequence[tuple[str, StreamingQuery]]", folder: Path) -> None:
    """Writes down what keeps state in queries that have ended."""
    found, problem = [], ""
    try:
        found = [asdict(one) for name, running in queries for one in _of(name, running)]
    except Exception as what:  # noqa: BLE001 -- a plan of another version of Spark: what is not known is said, and nothing stops
        problem = f"what keeps state could not be read from Spark's plan ({type(what).__name__})"
    (folder / FILE).write_text(json.dumps({"operators": found, "problem": problem}))


def noted(folder: Path) -> tuple[tuple[Stateful, ...], str]:
    """What was written down in the folder of a run, and in words why it could not be read."""
    file = folder / FILE
    if not file.exists():
        return (), "what keeps state was not looked at"
    found = json.loads(file.read_text())
    return tuple(map(_read, found["operators"])), found["problem"]


def _of(name: str, running: "StreamingQuery") -> Iterator[Stateful]:
    operators = operators_of_query(running)
    progress = [one for one in running.recentProgress if len(one["stateOperators"]) == len(operators)]
    for place, operator in enumerate(operators):
        counts = tuple((int(one["numInputRows"]), int(one["stateOperators"][place]["numRowsTotal"])) for one in progress)
        dropped = sum(int(one["stateOperators"][place]["numRowsDroppedByWatermark"]) for one in progress)
        yield Stateful(name, operator, counts, dropped)


def _read(found: Mapping[str, Any]) -> Stateful:
    of = found["operator"]
    operator = Operator(**{**of, "keys": tuple(Key(**key) for key in of["keys"]), "sides": tuple(of["sides"])})
    return replace(Stateful(**{**found, "operator": operator}), counts=tuple((rows, kept) for rows, kept in found["counts"]))


@dataclass(frozen=True)
class NeverFreed:
    """A state that Spark never frees.

    Parameters
    ----------
    what
        Which state it is, as a whole sentence.
    remedy
        What frees it.
    certain
        Whether it grows with time or with the events; else with the number of its keys, which only the author knows.
    page
        The page below docs/incidents that tells of it.
    """

    query: str
    what: str
    remedy: str
    certain: bool
    rows: int
    page: str = "state-without-time-to-live"


def never_freed(one: Stateful) -> NeverFreed | None:
    """What is to be said of a state that is never freed; None where it is freed, or bounded by itself."""
    judge = _JUDGES.get(one.operator.kind)
    return judge(one) if judge is not None else None


def _aggregation(one: Stateful) -> NeverFreed | None:
    keys, complete = one.operator.keys, one.operator.mode == "complete"
    if not keys or (any(key.bounded for key in keys) and not complete):
        return None  # a total of all rows is one row
    by = _named(keys)
    windows = [key for key in keys if key.type.startswith("struct<start:timestamp")]
    remedy = "aggregate in append or update mode" if complete else "withWatermark on its event time frees what is behind it"
    if windows:
        why = " in complete mode" if complete else ", and no watermark bounds them"
        return NeverFreed(
            one.query, f"it keeps a row for each {by}{why}, and time brings new windows for ever", remedy, True, one.at_end
        )
    remedy = "group by a window of its event time too, with withWatermark, or let the state be where the keys are few"
    return NeverFreed(one.query, f"it keeps a row for each {by} for ever", remedy, one.grows_with_events, one.at_end)


def _deduplication(one: Stateful) -> NeverFreed | None:
    keys = one.operator.keys
    if any(key.bounded for key in keys):
        return None
    remedy = "withWatermark, and then dropDuplicatesWithinWatermark, or the event time among the columns of dropDuplicates"
    return NeverFreed(one.query, f"its deduplication keeps each {_named(keys)} that it has ever seen", remedy, True, one.at_end)


def _join(one: Stateful) -> NeverFreed | None:
    sides = [side for side, freed in zip(("left", "right"), one.operator.sides, strict=True) if not freed]
    if not sides:
        return None
    what = f"its join of streams keeps every row of {'both sides' if len(sides) == 2 else f'its {sides[0]} side'} for ever"
    remedy = "withWatermark on both sides, and a condition that says how far the times of a pair may be apart"
    return NeverFreed(one.query, what, remedy, True, one.at_end, "join-without-a-time-bound")


def _keyed(one: Stateful) -> NeverFreed | None:
    operator = one.operator
    if operator.timeout not in _NO_TIMEOUT:
        return None
    how = "its groups have no timeout" if operator.kind == "groups" else "its processor has no timers and no TTL (time mode None)"
    remedy = (
        "a timeout that removes the state"
        if operator.kind == "groups"
        else "timers or a TTL, by the time mode EventTime or ProcessingTime"
    )
    what = f"{how}, so that what it keeps for each {_named(operator.keys)} stays until the job removes it itself"
    return NeverFreed(one.query, what, remedy, one.grows_with_events, one.at_end)


_JUDGES = {"aggregation": _aggregation, "deduplication": _deduplication, "join": _join, "groups": _keyed, "processor": _keyed}


def _named(keys: Sequence[Key]) -> str:
    return " and ".join(key.name for key in keys) or "row"
