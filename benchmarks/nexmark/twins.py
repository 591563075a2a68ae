"""The plain model's answer to the queries with state that it can say: what proofs hold Spark against, pushed the same batches.

The model has no transforms and no aggregates of Spark. So rows come to it as they are after the transforms, made by the functions of the queries
themselves; and of a window it says which events are in it, from which plain Python works out the columns that are compared.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import streamproof as sp
from benchmarks.nexmark.generator import Input
from benchmarks.nexmark.queries import q8, q9
from benchmarks.nexmark.queries.days import LEVELS
from benchmarks.nexmark.queries.q4 import LONGEST
from benchmarks.nexmark.query import LAG, Query
from streamproof.core.clock import to_micros

Row = Mapping[str, Any]
Made = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Twin:
    """How the model says a query.

    Parameters
    ----------
    steps
        The query without its transforms.
    says
        From a row of the model the columns that are compared.
    of_rows
        By such a column what it is in the output of the query, in SQL; columns that are not there are what they are called.
    before
        By source the transform that stands before the steps.
    """

    steps: Callable[..., Any]
    says: Callable[[Row], Row]
    of_rows: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, Made] = field(default_factory=dict)

    def answers(self, batches: Iterable[Mapping[str, Sequence[Row]]]) -> Iterator[Row]:
        """What it gives in all of these batches, and in one after them that has no rows."""
        test = sp.OperatorTest(self.steps, event_time="dateTime", lag=LAG)
        for batch in (*batches, {}):
            several = len(batch) > 1
            pushed = test.push(**batch) if several else test.push(*(row for rows in batch.values() for row in rows))
            yield from map(self.says, pushed.rows)


def unlike(spark: SparkSession, source: Input, query: Query, rows: DataFrame) -> list[str] | None:
    """How the rows of a query differ from what the model says of the same batches; None where it says nothing."""
    twin = TWINS.get(query.name)
    if twin is None:
        return None
    wanted = Counter(map(_hashable, twin.answers(_batches(spark, source, query, twin))))
    columns = next(iter(wanted), ())
    said = rows.select(*[F.expr(twin.of_rows.get(name, name)).alias(name) for name, _ in columns])
    found = Counter(_hashable(row) for row in _collected(said))
    sides = ("the model", wanted - found), ("Spark", found - wanted)
    return [f"only {side} has {more.total():,} rows, such as {dict(next(iter(more)))}" for side, more in sides if more]


def _batches(spark: SparkSession, source: Input, query: Query, twin: Twin) -> list[dict[str, list[Row]]]:
    """The rows of each batch by their source, behind the transforms that stand before the steps."""
    found: list[dict[str, list[Row]]] = []
    for number in range(source.batches + 1):
        read = {name: spark.read.schema(query.schema(name)).parquet(*source.files(name, number)) for name in query.reads}
        found.append({name: _collected(twin.before.get(name, _unchanged)(rows)) for name, rows in read.items()})
    return found


def _unchanged(rows: DataFrame) -> DataFrame:
    return rows


def _collected(rows: DataFrame) -> list[Row]:
    return [_micros(row.asDict(recursive=True)) for row in rows.collect()]


def _micros(value: Any) -> Any:
    """A value as the model has it: instants, which Spark gives in the zone of this process, are microseconds since 1970."""
    if isinstance(value, Mapping):
        return {name: _micros(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return tuple(map(_micros, value))
    return to_micros(value.astimezone(UTC)) if isinstance(value, datetime) else value


def _hashable(row: Row) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(row.items()))


def _window(row: Row, *key: str) -> dict[str, Any]:
    return {"window_start": to_micros(row["window_start"]), **{name: row[name] for name in key}}


def _hot_items(row: Row) -> Row:
    counts = Counter(one["auction"] for one in row["rows"])
    most = max(counts.values())
    return {**_window(row), "num": most, "auctions": tuple(sorted(one for one, number in counts.items() if number == most))}


def _highest(row: Row) -> Row:
    best = max(row["rows"], key=lambda one: (one["price"], one["auction"], one["bidder"]))
    return {**_window(row), **{name: best[name] for name in ("price", "auction", "bidder")}}


def _new_users(row: Row) -> Row:
    names = [one["name"] for one in row["rows"] if one["name"] is not None]
    auctions = len(row["rows"]) - len(names)
    return {
        **_window(row, "id"),
        "name": max(names, default=None),
        "auctions": auctions,
        "new_seller": bool(names) and auctions > 0,
    }


def _levels(rows: Sequence[Row]) -> dict[str, Sequence[Row]]:
    bounds = {"total": (0, 10**12), "rank1": (0, 10_000), "rank2": (10_000, 1_000_000), "rank3": (1_000_000, 10**12)}
    return {level: [one for one in rows if bounds[level][0] <= one["price"] < bounds[level][1]] for level in LEVELS}


def _counted(row: Row, *key: str, distinct: Sequence[str] = ()) -> dict[str, Any]:
    found = {name: row[name] for name in key}
    for level, there in _levels(row["rows"]).items():
        found[f"{level}_bids"] = len(there)
        for name in distinct:
            found[f"{level}_{name}s"] = len({one[name] for one in there})
    return found


def _prices(row: Row) -> Row:
    prices = [one["price"] for one in row["rows"]]
    least_and_most = {"min_price": min(prices), "max_price": max(prices), "sum_price": sum(prices)}
    return {**_counted(row, "auction"), **least_and_most}


def _top(row: Row) -> Row:
    offers = sorted(((one["price"], one["bidder"]) for one in row["rows"]), reverse=True)
    return {**_window(row, "auction"), "prices": tuple(price for price, _ in offers[:10])}


def _won(row: Row) -> Row:
    names = ("id", "seller", "category", "bidder", "price")
    return {**{name: row[name] for name in names}, "bid_dateTime": to_micros(row["bid_dateTime"])}


def _finals(row: Row, *more: str) -> list[tuple[Any, ...]]:
    """Of each auction in a window what `more` names, its number, and the highest price while it was open; null where none was bid then."""
    found: dict[tuple[Any, ...], int | None] = {}
    for one in row["rows"]:
        key, price = (
            (*(one[name] for name in more), one["auction"]),
            one["price"] if one["dateTime_right"] <= one["expires"] else None,
        )
        found[key] = max((each for each in (found.get(key), price) if each is not None), default=None)
    return [(*key, price) for key, price in found.items()]


def _average(row: Row) -> Row:
    prices = [price for *_, price in _finals(row) if price is not None]
    return {**_window(row, "category"), "average": sum(prices) / len(prices) if prices else None}


def _of_the_last_ten(row: Row) -> Row:
    prices = [price for *_, price in sorted(one for one in _finals(row, "expires") if one[-1] is not None)]
    tens = [prices[max(0, number - 9) : number + 1] for number in range(len(prices))]
    return {"seller": row["seller"], "averages": tuple(sum(ten) / len(ten) for ten in tens)}


def _named(*names: str) -> Callable[[Row], Row]:
    return lambda row: {name: row[name] for name in names}


def _q3(auctions: sp.Stream, persons: sp.Stream) -> sp.Stream:
    wanted, local = auctions.filter("category = 10", name="1"), persons.filter("state IN ('OR', 'ID', 'CA')", name="2")
    return wanted.join(local, on="seller", between=("-1 minute", "10 seconds"))


def _q5(bids: sp.Stream) -> sp.Stream:
    counts = bids.window(sp.hopping("10 seconds", every="2 seconds"), by="auction").aggregate(num=F.count("*"))
    return counts.window(sp.tumbling("2 seconds")).aggregate(num=F.max("num"))


def _winning(length: str, key: str) -> Callable[[sp.Stream, sp.Stream], sp.Stream]:
    """The winning bids of auctions by a column of theirs, in windows of the time when these began."""

    def steps(auctions: sp.Stream, bids: sp.Stream) -> sp.Stream:
        met = auctions.join(bids, on="auction", between=("0 seconds", LONGEST))
        won = met.window(sp.tumbling(length), by=("auction", key)).aggregate(n=F.count("*"))
        return won.window(sp.tumbling(length), by=key).aggregate(n=F.count("*"))

    return steps


def _as_left(rows: DataFrame) -> DataFrame:
    return rows.withColumnRenamed("id", "auction")


def _q20(auctions: sp.Stream, bids: sp.Stream) -> sp.Stream:
    return auctions.filter("category = 10", name="1").join(bids, on="auction", between=("-10 seconds", "1 minute"))


_START = {"window_start": "unix_micros(window_start)"}
_OF_JOINS = ("auction", "category", "reserve", "bidder", "price", "channel")
DISTINCT = ("bidder", "auction")

TWINS: Mapping[str, Twin] = {
    "q3": Twin(_q3, _named("name", "city", "state", "id"), before={"persons": lambda rows: rows.withColumnRenamed("id", "seller")}),
    "q4": Twin(_winning("1 minute", "category"), _average, _START, {"auctions": _as_left}),
    "q6": Twin(_winning("1 day", "seller"), _of_the_last_ten, before={"auctions": _as_left}),
    "q5": Twin(_q5, _hot_items, _START),
    "q7": Twin(lambda bids: bids.window(sp.tumbling("10 seconds")).aggregate(n=F.count("*")), _highest, _START),
    "q8": Twin(
        lambda persons, auctions: persons.union(auctions).window(sp.tumbling("10 seconds"), by="id").aggregate(n=F.count("*")),
        _new_users,
        _START,
        {"auctions": q8.as_sellers},
    ),
    "q11": Twin(
        lambda bids: bids.window(sp.session("10 seconds"), by="bidder").aggregate(n=F.count("*")),
        lambda row: {**_window(row, "bidder"), "bid_count": len(row["rows"])},
        _START,
    ),
    "q15": Twin(
        lambda bids: bids.window(sp.tumbling("1 day")).aggregate(n=F.count("*")), lambda row: _counted(row, distinct=DISTINCT)
    ),
    "q16": Twin(
        lambda bids: bids.window(sp.tumbling("1 day"), by="channel").aggregate(n=F.count("*")),
        lambda row: _counted(row, "channel", distinct=DISTINCT),
    ),
    "q17": Twin(lambda bids: bids.window(sp.tumbling("1 day"), by="auction").aggregate(n=F.count("*")), _prices),
    "q18": Twin(
        lambda bids: bids.deduplicate("bidder", "auction", within="10 seconds", order_by="dateTime", keep="last"),
        _named("bidder", "auction", "price", "dateTime"),
        {"dateTime": "unix_micros(dateTime)"},
    ),
    "q19": Twin(
        lambda bids: bids.window(sp.tumbling("10 seconds"), by="auction").aggregate(n=F.count("*")),
        _top,
        {**_START, "prices": "transform(top, one -> one.price)"},
    ),
    "q20": Twin(_q20, _named(*_OF_JOINS), before={"auctions": _as_left}),
    "q9": Twin(q9.won, _won, {"bid_dateTime": "unix_micros(bid_dateTime)"}, {"auctions": q9.as_auctions, "bids": q9.as_offers}),
}
"""By query; the other ones have no state, and the model says nothing of transforms."""
