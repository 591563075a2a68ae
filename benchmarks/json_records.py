"""A record of JSON into nothing: in one pass, by Spark's parser as before, by `spark.read.json` and by `from_json`, in turns in one process.

`python -m benchmarks.json_records` makes lines of four columns (79 bytes) and of a nested record with decimals and times, and prints for each
the medians of nanoseconds a record in one thread, without the reading of the lines, and the ratios.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter_ns

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from streamproof._jvm.java import java_class
from streamproof.runtime.spark.session import start_session

FLAT = "trade_id string, client string, notional double, ts long"
NESTED = "id string, at timestamp, price decimal(12,4), day date, who struct<name: string, tags: array<string>>, sizes map<string, bigint>"
CORRUPT = "_corrupt"


def flat(number: int) -> Mapping[str, object]:
    return {
        "trade_id": f"t-{number:08}",
        "client": f"c{number % 97:02}",
        "notional": number * 37 % 500_000 / 100,
        "ts": 1_767_603_600_000 + number,
    }


def nested(number: int) -> Mapping[str, object]:
    return {
        "id": f"o-{number:08}",
        "at": f"2026-01-05T{number % 24:02}:{number % 60:02}:{number * 7 % 60:02}.{number % 1000:03}Z",
        "price": number * 37 % 5_000_000 / 10_000,
        "day": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
        "who": {"name": f"n{number % 97}", "tags": ["new", f"tag {number % 13}"]},
        "sizes": {"s": number % 10, "m": number % 7},
    }


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.json_records", description=__doc__)
    asked.add_argument("--records", type=int, default=1_000_000)
    asked.add_argument("--rounds", type=int, default=5, help="after a first one that is left aside")
    wanted = asked.parse_args()
    spark = start_session("json records", {"spark.master": "local[1]", "spark.driver.memory": "3g"})
    with tempfile.TemporaryDirectory(prefix="streamproof-benchmark-") as folder:
        for title, schema, record in (("four columns", FLAT, flat), ("nested, with decimals and times", NESTED, nested)):
            path = Path(folder, title.replace(" ", "-").replace(",", ""), "lines.jsonl")
            path.parent.mkdir()
            with path.open("w") as file:
                file.writelines(json.dumps(record(number), separators=(",", ":")) + "\n" for number in range(wanted.records))
            _print(title, _measured(spark, str(path), schema, wanted.records, wanted.rounds))


def _measured(spark: SparkSession, path: str, schema: str, records: int, rounds: int) -> dict[str, list[float]]:
    type_ = StructType.fromDDL(schema)
    with_corrupt = StructType.fromDDL(f"{schema}, {CORRUPT} string")

    def ours(function: str) -> Callable[[Column], Column]:
        made = getattr(java_class(spark, "JsonRecord"), function)
        return lambda line: Column(made(spark._jsparkSession, line._jc, with_corrupt.json(), CORRUPT, False))

    def of_lines(read: Callable[[Column], Column]) -> DataFrame:
        return spark.read.text(path).select(read(F.col("value")).alias("r")).select("r.*")

    ways: dict[str, DataFrame] = {
        "the lines alone": spark.read.text(path),
        "in one pass": of_lines(ours("column")),
        "by Spark's parser": of_lines(ours("bySparksParser")),
        "spark.read.json": spark.read.schema(type_).json(path),
        "from_json": of_lines(lambda line: F.from_json(line, type_)),
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds + 1):
        for way, frame in ways.items():
            began = perf_counter_ns()
            frame.write.format("noop").mode("overwrite").save()
            found[way].append((perf_counter_ns() - began) / records)
    return {way: times[1:] for way, times in found.items()}


def _print(title: str, found: Mapping[str, list[float]]) -> None:
    lines = statistics.median(found["the lines alone"])
    print(f"{title}: the lines alone {lines:.0f} ns a record; beside that")
    one_pass = found["in one pass"]
    for way, times in found.items():
        if way != "the lines alone":
            ratio = statistics.median(one / other for one, other in zip(one_pass, times, strict=True))
            print(f"  {way:<20} {statistics.median(times) - lines:>6.0f} ns    whole, one pass against it {ratio:.2f}")


if __name__ == "__main__":
    main()
