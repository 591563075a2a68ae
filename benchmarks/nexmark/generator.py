"""Persons, auctions and bids of Nexmark, made by Spark from a seed.

Fields, proportions, hot keys, prices and the lengths of auctions are those of the public generator for Flink, with its defaults
(https://github.com/nexmark/nexmark: GeneratorConfig, NexmarkConfiguration, PersonGenerator, AuctionGenerator, BidGenerator, PriceGenerator), which has
them from Apache Beam (https://beam.apache.org/documentation/sdks/java/testing/nexmark/). What is another here:

- What is drawn is a hash of the seed, the number of the event and the purpose, so that the same seed gives the same rows on any number of cores.
- Event times have microseconds, so that no two events have one time: which of two rows is the later one never depends on chance.
- Each kind of event is a folder of its own; there they are one stream, of which queries read views.
- At the end comes one event of each kind, two days later: it takes the watermark past every window, and both sides of a comparison give all of their rows.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

PERSONS, AUCTIONS, BIDS = "persons", "auctions", "bids"
SHARES: Mapping[str, int] = {PERSONS: 1, AUCTIONS: 3, BIDS: 46}
"""Events of each kind among so many."""
CYCLE = sum(SHARES.values())
FIELDS: Mapping[str, Mapping[str, str]] = {
    PERSONS: {
        "id": "bigint",
        "name": "string",
        "emailAddress": "string",
        "creditCard": "string",
        "city": "string",
        "state": "string",
        "dateTime": "timestamp",
        "extra": "string",
    },
    AUCTIONS: {
        "id": "bigint",
        "itemName": "string",
        "description": "string",
        "initialBid": "bigint",
        "reserve": "bigint",
        "dateTime": "timestamp",
        "expires": "timestamp",
        "seller": "bigint",
        "category": "bigint",
        "extra": "string",
    },
    BIDS: {
        "auction": "bigint",
        "bidder": "bigint",
        "price": "bigint",
        "channel": "string",
        "url": "string",
        "dateTime": "timestamp",
        "extra": "string",
    },
}
"""The columns of each kind with their types."""
SIDE_INPUT = "side_input"
SIDE_ROWS = 10_000
"""Rows of the table that q13 looks bids up in."""

_BEGIN_US = 1_767_603_600_000_000
"""2026-01-05T09:00:00Z."""
_LAST_AFTER_S = 2 * 86_400
_FIRST_ID, _FIRST_CATEGORY, _CATEGORIES = 1_000, 10, 5
_LEAD = 10
"""So many persons and auctions that do not exist yet are named by others."""
_HOT_EVERY = 100
"""One in so many persons and auctions is hot for a time."""
_HOT_AUCTIONS, _HOT_SELLERS, _HOT_BIDDERS, _HOT_CHANNELS = 2, 4, 4, 2
"""One in so many draws is not of a hot one."""
_IN_FLIGHT, _ACTIVE_PEOPLE, _CHANNELS = 100, 1_000, 10_000
_SIZES: Mapping[str, int] = {PERSONS: 200, AUCTIONS: 500, BIDS: 100}
"""Bytes of an event, on average."""
_SHUFFLE = 953
_FIRST_NAMES = ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"]
_LAST_NAMES = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"]
_CITIES = ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"]
_STATES = ["AZ", "CA", "ID", "OR", "WA", "WY"]
_HOT_NAMES = ["Google", "Facebook", "Baidu", "Apple"]
_OF_A_HASH = 128
"""Letters that one hash gives."""


@dataclass(frozen=True)
class Sample:
    """What is generated.

    Parameters
    ----------
    events
        How many, of all kinds together.
    events_per_second
        By event time.
    out_of_order
        Within groups of so many, events come in another order than that of their times; 1 for none. It is no multiple of 953.
    """

    events: int
    seed: int = 7
    events_per_second: int = 10_000
    out_of_order: int = 1

    def of(self, kind: str, spark: SparkSession, parts: int) -> DataFrame:
        """The events of a kind in the order in which they come."""
        place = F.col("id")
        group = F.lit(self.out_of_order)
        number = (place - place % group + place * F.lit(_SHUFFLE) % group).alias("number")
        return self._made(kind, spark.range(0, self.events, 1, parts).select(number))

    def last(self, kind: str, spark: SparkSession) -> DataFrame:
        """The one event of a kind that comes after all others, and much later."""
        first = (self.events + _LAST_AFTER_S * self.events_per_second) // CYCLE * CYCLE
        return self._made(kind, spark.range(first, first + CYCLE, 1, 1).select(F.col("id").alias("number"))).limit(1)

    def _made(self, kind: str, numbers: DataFrame) -> DataFrame:
        """The events of a kind among those with these numbers."""
        place = F.col("number") % CYCLE
        begins, ends = _places(kind)
        columns = {PERSONS: self._person, AUCTIONS: self._auction, BIDS: self._bid}[kind]()
        made = numbers.where((place >= begins) & (place < ends))
        for name, column in columns.items():
            made = made.withColumn(name, column)
        return made.select(*[F.col(name).cast(kind_of).alias(name) for name, kind_of in FIELDS[kind].items()])

    def _person(self) -> dict[str, Column]:
        card = [F.lpad(self._draw(f"card {part}", F.lit(10_000)).cast("string"), 4, "0") for part in range(4)]
        size = 8 + _lengths("name", "emailAddress", "creditCard", "city", "state")
        return {
            "id": _epoch() + _FIRST_ID,
            "name": F.concat_ws(" ", self._one_of("first", _FIRST_NAMES), self._one_of("last", _LAST_NAMES)),
            "emailAddress": F.concat(self._text("user", 7), F.lit("@"), self._text("host", 5), F.lit(".com")),
            "creditCard": F.concat_ws(" ", *card),
            "city": self._one_of("city", _CITIES),
            "state": self._one_of("state", _STATES),
            "dateTime": self._time(F.col("number")),
            "extra": self._extra(PERSONS, size),
        }

    def _auction(self) -> dict[str, Column]:
        begun, later = self._micros(F.col("number")), self._micros(F.col("number") + _IN_FLIGHT * CYCLE // SHARES[AUCTIONS])
        longest_ms = F.greatest(F.floor((later - begun) / 1_000) * 2, F.lit(1))
        hot_seller = F.floor(_epoch() / _HOT_EVERY) * _HOT_EVERY
        return {
            "id": _auction_number() + _FIRST_ID,
            "itemName": self._text("item", 20),
            "description": self._text("description", 100),
            "initialBid": self._price("first"),
            "reserve": F.col("initialBid") + self._price("reserve"),
            "dateTime": self._time(F.col("number")),
            "expires": F.timestamp_micros((begun + (self._draw("length", longest_ms) + 1) * 1_000).cast("bigint")),
            "seller": self._hot("seller", _HOT_SELLERS, hot_seller, self._someone("seller")) + _FIRST_ID,
            "category": self._draw("category", F.lit(_CATEGORIES)) + _FIRST_CATEGORY,
            "extra": self._extra(AUCTIONS, 48 + _lengths("itemName", "description")),
        }

    def _bid(self) -> dict[str, Column]:
        newest = _auction_number()
        oldest = F.greatest(newest - _IN_FLIGHT, F.lit(0))
        hot_auction = F.floor(newest / _HOT_EVERY) * _HOT_EVERY
        hot_bidder = F.floor(_epoch() / _HOT_EVERY) * _HOT_EVERY + 1
        some_auction = oldest + self._draw("some auction", newest - oldest + 1 + _LEAD)
        name = self._hot("channel", _HOT_CHANNELS, self._one_of("hot channel", _HOT_NAMES), self._rare_channel())
        return {
            "auction": self._hot("auction", _HOT_AUCTIONS, hot_auction, some_auction) + _FIRST_ID,
            "bidder": self._hot("bidder", _HOT_BIDDERS, hot_bidder, self._someone("bidder")) + _FIRST_ID,
            "price": self._price("bid"),
            "channel": name,
            "url": self._url(),
            "dateTime": self._time(F.col("number")),
            "extra": self._extra(BIDS, F.lit(32)),
        }

    def _rare_channel(self) -> Column:
        return F.concat(F.lit("channel-"), self._draw("rare channel", F.lit(_CHANNELS)).cast("string"))

    def _url(self) -> Column:
        """That of a channel: each has one, and nine in ten of the rare ones have an id in it."""
        of_channel = F.xxhash64("channel", F.lit(self.seed))
        folders = [self._letters(of_channel, f"folder {part}", 4, F.pmod(of_channel + part, F.lit(2)) + 3) for part in range(3)]
        rare = F.col("channel").startswith("channel-") & (F.pmod(of_channel, F.lit(10)) > 0)
        named = F.concat(F.lit("&channel_id="), F.pmod(of_channel, F.lit(2**31)).cast("string"))
        base = F.concat_ws("/", F.lit("https://www.nexmark.com"), *folders, F.lit("item.htm?query=1"))
        return F.concat(base, F.when(rare, named).otherwise(F.lit("")))

    def _someone(self, purpose: str) -> Column:
        """The number of one of the active persons, or of one who comes soon."""
        people = _epoch() + 1
        active = F.least(people, F.lit(_ACTIVE_PEOPLE))
        return people - active + self._draw(f"some {purpose}", active + _LEAD)

    def _hot(self, purpose: str, ratio: int, hot: Column, other: Column) -> Column:
        return F.when(self._draw(f"hot {purpose}?", F.lit(ratio)) > 0, hot).otherwise(other)

    def _price(self, purpose: str) -> Column:
        """In cents, from 100 to 100,000,000: as many between each two powers of ten."""
        share = self._draw(f"price {purpose}", F.lit(2**53)) / F.lit(float(2**53))
        return F.round(F.pow(F.lit(10.0), share * 6) * 100).cast("bigint")

    def _one_of(self, purpose: str, names: Sequence[str]) -> Column:
        return F.element_at(F.array(*map(F.lit, names)), (self._draw(purpose, F.lit(len(names))) + 1).cast("int"))

    def _text(self, purpose: str, shorter_than: int) -> Column:
        """Letters, three at least."""
        length = self._draw(f"length of {purpose}", F.lit(shorter_than - 3)) + 3
        return self._letters(F.col("number"), purpose, shorter_than, length)

    def _extra(self, kind: str, size: Column) -> Column:
        """Letters that make an event of so many bytes as large as one of its kind is on average, a fifth more or less."""
        wanted = F.greatest(F.lit(_SIZES[kind]) - size, F.lit(0))
        spread = F.round(wanted * 0.2)
        length = wanted - spread + self._draw("extra", F.greatest(spread * 2, F.lit(1)))
        return self._letters(F.col("number"), "extra", _SIZES[kind], length)

    def _letters(self, of: Column, purpose: str, at_most: int, length: Column) -> Column:
        hashes = [
            F.sha2(F.concat_ws(" ", of.cast("string"), F.lit(f"{purpose} {part} {self.seed}")), 512)
            for part in range(-(-at_most // _OF_A_HASH))
        ]
        return F.translate(F.concat(*hashes).substr(F.lit(1), length.cast("int")), "0123456789", "ghijklmnop")

    def _draw(self, purpose: str, below: Column) -> Column:
        return F.pmod(F.xxhash64(F.col("number"), F.lit(purpose), F.lit(self.seed)), below.cast("bigint"))

    def _micros(self, number: Column) -> Column:
        return F.lit(_BEGIN_US) + F.floor(number * 1_000_000 / self.events_per_second)

    def _time(self, number: Column) -> Column:
        return F.timestamp_micros(self._micros(number).cast("bigint"))


def _places(kind: str) -> tuple[int, int]:
    """Where events of a kind stand in a cycle: from the first to the one after the last."""
    before = sum(share for other, share in list(SHARES.items())[: list(SHARES).index(kind)])
    return before, before + SHARES[kind]


def _epoch() -> Column:
    """The number of the cycle, which is that of its one person."""
    return F.floor(F.col("number") / CYCLE)


def _auction_number() -> Column:
    """The number of the newest auction: itself, if the event is one."""
    begins, ends = _places(AUCTIONS)
    return _epoch() * SHARES[AUCTIONS] + F.least(F.col("number") % CYCLE, F.lit(ends - 1)) - begins


def _lengths(*names: str) -> Column:
    return sum((F.length(name) for name in names[1:]), F.length(names[0]))


def events_of(kinds: Iterable[str], events: int) -> int:
    """How many of so many events are of these kinds."""
    return events // CYCLE * sum(SHARES[kind] for kind in kinds)


def side_input(spark: SparkSession) -> DataFrame:
    """The table of q13: a number, and the same as a text."""
    return spark.range(0, SIDE_ROWS, 1, 1).select(F.col("id").alias("key"), F.col("id").cast("string").alias("value"))


@dataclass(frozen=True)
class Input:
    """A sample on disk: a folder for each kind, read in batches of so many files; state is in so many partitions."""

    folder: Path
    events: int
    batches: int
    files_per_batch: int
    partitions: int = 2

    def files(self, kind: str, batch: int) -> list[str]:
        """The files of a kind that a batch reads; the last batch has the last event."""
        found = sorted((self.folder / kind).glob("part-*"), key=lambda path: path.stat().st_mtime)
        first = batch * self.files_per_batch
        return [str(path) for path in found[first : first + self.files_per_batch]]


def written(spark: SparkSession, folder: Path, sample: Sample, *, batches: int, files_per_batch: int) -> Input:
    """Writes a sample as Parquet, and the table of q13; the last file of each kind has its last event."""
    files = batches * files_per_batch
    if sample.events % (files * CYCLE):
        raise ValueError(f"{sample.events} events are no multiple of {files * CYCLE}: {files} files of whole cycles of {CYCLE}.")
    for kind in SHARES:
        place = folder / kind
        sample.of(kind, spark, files).write.parquet(str(place))
        first = sorted(place.glob("part-*"))
        sample.last(kind, spark).write.mode("append").parquet(str(place))
        last = [path for path in place.glob("part-*") if path not in first]
        # Spark takes files in the order of their modification times, and tasks end in any order.
        for number, path in enumerate([*first, *last]):
            os.utime(path, (1_700_000_000 + number,) * 2)
    side_input(spark).write.parquet(str(folder / SIDE_INPUT))
    return Input(folder, sample.events, batches, files_per_batch)
