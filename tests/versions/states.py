"""Plain PySpark jobs, one for each kind of state that Spark has, and what has to be in that state by their own data.

As a program it runs them on the Spark beside it, and leaves a checkpoint for each kind and store:

    python states.py FOLDER [--only 'windows*']

It imports PySpark alone, so that it runs in the environment of each version. What each state has to hold is worked out in plain Python.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
EVENTS = 24
FILES = 2
STEP, DELAY, WINDOW, GAP, BEFORE, AFTER, LATER, SHIFT = 5, 30, 30, 20, 12, 60, 60, 3
"""Seconds: from an event to the next, how late the watermark is, a window, the gap of sessions, the ends of a join's interval, a timer, and
from a left row to its right one."""
FIRST_OF_FILES = 1_700_000_000
LIMIT = 10
WRITTEN = "written"
MATCHED = "matched of left"
"""Whether a left row has met a partner; of a right one it does not matter."""
_SCHEMA = "id string, client string, at timestamp, amount double"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_CHANGELOGS = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_STATE = "org.apache.spark.sql.execution.streaming.state"
_ROCKSDB = {_PROVIDER: f"{_STATE}.RocksDBStateStoreProvider"}

STORES: Mapping[str, Mapping[str, str]] = {
    "hdfs": {_PROVIDER: f"{_STATE}.HDFSBackedStateStoreProvider"},
    "rocksdb": _ROCKSDB,
    "changelogs": {**_ROCKSDB, _CHANGELOGS: "true"},
    "ids": {**_ROCKSDB, _FORMAT: "2"},
    "ids-changelogs": {**_ROCKSDB, _FORMAT: "2", _CHANGELOGS: "true"},
}
"""Where state is kept: by name the settings. With "ids" the names of its files have them (checkpoint format 2)."""
ONLY_ROCKSDB = tuple(name for name in STORES if name != "hdfs")

Row = Mapping[str, Any]
Table = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Kind:
    """A kind of state.

    Parameters
    ----------
    says
        What the guide calls it.
    query
        Gives the writer of its query, of a session and the folder of its files.
    holds
        By operator the columns that are compared, and the rows of the state after the last batch; of a state variable under "0 NAME".
    settings
        Beside those of the store.
    since
        The first version of Spark that has it.
    stores
        Names of `STORES`.
    until
        The last version of Spark that takes it.
    since_with_ids
        The first version whose files have ids in their names.
    once
        Whether all is read in one batch: with time mode ProcessingTime Spark plans batches without end.
    """

    says: str
    query: Callable[[Any, Path], Any]
    holds: Callable[[], Mapping[str, tuple[Sequence[str], Table]]]
    settings: Mapping[str, str] = field(default_factory=dict)
    since: str = "3.5"
    stores: Sequence[str] = tuple(STORES)
    until: str = ""
    since_with_ids: str = "4.0"
    once: bool = False

    def there(self, version: str, store: str) -> bool:
        """Whether a version of Spark has this kind of state in this kind of store."""
        since = max(_numbers(self.since), _numbers(self.since_with_ids) if store.startswith("ids") else (0,))
        over = self.until != "" and _numbers(version) > _numbers(self.until)
        return store in self.stores and _numbers(version) >= since and not over


def events() -> list[Row]:
    return [
        {"id": f"e{number}", "client": f"c{number % 3}", "at": at(number * STEP), "amount": float(number)}
        for number in range(EVENTS)
    ]


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


WATERMARK = (EVENTS - 1) * STEP - DELAY
"""Seconds after the begin, once all is read."""


# -- what each state holds


def _windows() -> Mapping[str, tuple[Sequence[str], Table]]:
    sums: dict[tuple[Any, ...], tuple[float, int]] = {}
    for event in events():
        start = int((event["at"] - BEGIN).total_seconds()) // WINDOW * WINDOW
        key = (at(start), at(start + WINDOW), event["client"])
        total, count = sums.get(key, (0.0, 0))
        sums[key] = (total + event["amount"], count + 1)
    rows = [(*key, *values) for key, values in sums.items() if key[1] > at(WATERMARK)]
    return {"0": (("window_start", "window_end", "client", "sum", "count"), rows)}


def _by_client() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for event in events():
        found.setdefault(event["client"], []).append(event)
    return found


def _groups() -> Mapping[str, tuple[Sequence[str], Table]]:
    rows = [
        (client, sum(one["amount"] for one in of), len(of), max(one["at"] for one in of)) for client, of in _by_client().items()
    ]
    return {"0": (("client", "sum", "count", "max"), rows)}


def _sessions() -> Mapping[str, tuple[Sequence[str], Table]]:
    rows = [(client, of[0]["at"], of[-1]["at"] + timedelta(seconds=GAP), len(of)) for client, of in _by_client().items()]
    return {"0": (("client", "session_start", "session_end", "count"), rows)}


def _ids() -> Mapping[str, tuple[Sequence[str], Table]]:
    return {"0": (("id",), [(event["id"],) for event in events()])}


def _ids_with_time() -> Mapping[str, tuple[Sequence[str], Table]]:
    return {"0": (("id", "at"), [(one["id"], one["at"]) for one in events() if one["at"] > at(WATERMARK)])}


def _ids_for_a_while() -> Mapping[str, tuple[Sequence[str], Table]]:
    kept = [(event["id"], event["at"] + timedelta(seconds=DELAY)) for event in events()]
    return {"0": (("id", "expires_at"), [one for one in kept if one[1] > at(WATERMARK)])}


def _pairs(*, matched: bool) -> Mapping[str, tuple[Sequence[str], Table]]:
    """Whether a row has met a partner is kept from format 2 on; of the formats 3 and 4 Spark's reader does not show it."""
    right = [(f"e{number}", at(number * STEP + SHIFT)) for number in range(0, EVENTS, 2)]
    watermark = min(at(WATERMARK), right[-1][1] - timedelta(seconds=DELAY))
    has_partner = {one for one, _ in right}
    lefts = [
        ("left", (one["id"] in has_partner) if matched else None, one["id"], one["client"], one["at"], None, None)
        for one in events()
        if one["at"] + timedelta(seconds=AFTER) > watermark
    ]
    rights = [("right", None, None, None, None, one, when) for one, when in right if when + timedelta(seconds=BEFORE) > watermark]
    return {"0": (("side", MATCHED, "id", "client", "at", "rid", "rat"), [*lefts, *rights])}


def _totals() -> Mapping[str, tuple[Sequence[str], Table]]:
    rows = [
        (client, len(of), sum(one["amount"] for one in of), of[-1]["at"] + timedelta(seconds=LATER))
        for client, of in _by_client().items()
    ]
    return {"0": (("client", "n", "total", "expires_at"), rows)}


def _variables() -> Mapping[str, tuple[Sequence[str], Table]]:
    per = _by_client()
    return {
        "0 count": (("client", "n"), [(client, len(of)) for client, of in per.items()]),
        "0 seen": (("client", "seen"), [(client, one["at"]) for client, of in per.items() for one in of]),
        "0 amounts": (("client", "id", "amount"), [(client, one["id"], one["amount"]) for client, of in per.items() for one in of]),
        "0 timers": (("client", "expires_at"), [(client, of[-1]["at"] + timedelta(seconds=LATER)) for client, of in per.items()]),
    }


def _variables_that_end() -> Mapping[str, tuple[Sequence[str], Table]]:
    """They end an hour after they were written, by the clock of the machine: "an hour" stands for that."""
    return {
        name: ((*columns, "expires_at"), [(*row, "an hour") for row in rows])
        for name, (columns, rows) in _variables().items()
        if name != "0 timers"
    }


def _limited() -> Mapping[str, tuple[Sequence[str], Table]]:
    return {"0": (("value",), [(LIMIT,)])}


def _several() -> Mapping[str, tuple[Sequence[str], Table]]:
    """Operator 0 is nearest to the sink."""
    return {"0": _windows()["0"], "1": _ids_for_a_while()["0"]}


# -- the jobs; they run on each version


def _read(spark: Any, folder: Path, schema: str = _SCHEMA) -> Any:
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(folder))


def _timed(spark: Any, folder: Path) -> Any:
    return _read(spark, folder / "events").withWatermark("at", f"{DELAY} seconds")


def _windows_query(spark: Any, folder: Path) -> Any:
    return _aggregated(_timed(spark, folder)).writeStream.outputMode("append")


def _aggregated(rows: Any) -> Any:
    from pyspark.sql import functions as F

    return rows.groupBy(F.window("at", f"{WINDOW} seconds"), "client").agg(F.sum("amount"), F.count("*"))


def _groups_query(spark: Any, folder: Path) -> Any:
    from pyspark.sql import functions as F

    grouped = _read(spark, folder / "events").groupBy("client").agg(F.sum("amount"), F.count("*"), F.max("at"))
    return grouped.writeStream.outputMode("update")


def _sessions_query(spark: Any, folder: Path) -> Any:
    from pyspark.sql import functions as F

    grouped = _timed(spark, folder).groupBy(F.session_window("at", f"{GAP} seconds"), "client").agg(F.count("*"))
    return grouped.writeStream.outputMode("append")


def _ids_query(spark: Any, folder: Path) -> Any:
    return _read(spark, folder / "events").dropDuplicates(["id"]).writeStream


def _ids_with_time_query(spark: Any, folder: Path) -> Any:
    return _timed(spark, folder).dropDuplicates(["id", "at"]).writeStream


def _ids_for_a_while_query(spark: Any, folder: Path) -> Any:
    return _timed(spark, folder).dropDuplicatesWithinWatermark(["id"]).writeStream


def _pairs_query(kind: str) -> Callable[[Any, Path], Any]:
    def query(spark: Any, folder: Path) -> Any:
        from pyspark.sql import functions as F

        right = _read(spark, folder / "others", "rid string, rat timestamp").withWatermark("rat", f"{DELAY} seconds")
        near = f"id = rid AND rat >= at - INTERVAL {BEFORE} SECONDS AND rat <= at + INTERVAL {AFTER} SECONDS"
        return _timed(spark, folder).join(right, F.expr(near), kind).writeStream

    return query


def _totals_query(spark: Any, folder: Path) -> Any:
    import pandas as pd
    from pyspark.sql.streaming.state import GroupStateTimeout

    def folded(key: Any, parts: Any, state: Any) -> Any:
        n, total = state.get if state.exists else (0, 0.0)
        last = None
        for part in parts:
            n, total, last = n + len(part), total + float(part["amount"].sum()), part["at"].max()
        state.update((n, total))
        if last is not None:
            state.setTimeoutTimestamp(int((last.tz_localize("UTC").timestamp() + LATER) * 1_000))
        yield pd.DataFrame({"client": [key[0]], "n": [n]})

    totals = _timed(spark, folder).groupBy("client")
    return totals.applyInPandasWithState(
        folded, "client string, n bigint", "n bigint, total double", "update", GroupStateTimeout.EventTimeTimeout
    ).writeStream.outputMode("update")


def _variables_query(call: str, *, ends: bool) -> Callable[[Any, Path], Any]:
    def query(spark: Any, folder: Path) -> Any:
        grouped = _timed(spark, folder).groupBy("client")
        time_mode = "ProcessingTime" if ends else "EventTime"
        given = (_processor(rows=call == "transformWithState", ends=ends), "client string, n bigint", "Update", time_mode)
        return getattr(grouped, call)(*given).writeStream.outputMode("update")

    return query


def _processor(*, rows: bool, ends: bool) -> Any:
    """A processor with a value, a list, a map and a timer; where they end, each after an hour, without the timer."""
    import pandas as pd
    from pyspark.sql import Row as SparkRow
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    hour = 3_600_000 if ends else None

    class Processor(StatefulProcessor):  # type: ignore[misc]
        def init(self, handle: Any) -> None:
            self.handle = handle
            self.count = handle.getValueState("count", "n bigint", hour)
            self.seen = handle.getListState("seen", "seen timestamp", hour)
            self.amounts = handle.getMapState("amounts", "id string", "amount double", hour)

        def handleInputRows(self, key: Any, given: Any, timers: Any) -> Any:
            known = self.count.get() if self.count.exists() else (0,)
            n, last = known[0], None
            taken = given if rows else (one for part in given for one in part.itertuples())
            for one in taken:
                last = one.at if last is None else max(last, one.at)
                n += 1
                self.seen.appendValue((one.at if rows else one.at.to_pydatetime(),))
                self.amounts.updateValue((one.id,), (one.amount,))
            self.count.update((n,))
            if not ends:
                for timer in [*self.handle.listTimers()]:
                    self.handle.deleteTimer(timer)
                seconds = (last.replace(tzinfo=UTC) if last.tzinfo is None else last).timestamp()
                self.handle.registerTimer(int((seconds + LATER) * 1_000))
            yield SparkRow(client=key[0], n=n) if rows else pd.DataFrame({"client": [key[0]], "n": [n]})

        def close(self) -> None:
            pass

    return Processor()


def _limited_query(spark: Any, folder: Path) -> Any:
    return _read(spark, folder / "events").limit(LIMIT).writeStream


def _several_query(spark: Any, folder: Path) -> Any:
    return _aggregated(_timed(spark, folder).dropDuplicatesWithinWatermark(["id"])).writeStream.outputMode("append")


def _version_of(what: str, number: int) -> dict[str, str]:
    return {f"spark.sql.streaming.{what}.stateFormatVersion": str(number)}


_V4 = {**_version_of("join", 4), "spark.sql.streaming.join.stateFormatV4.enabled": "true"}
_AVRO = {"spark.sql.streaming.stateStore.encodingFormat": "avro"}

KINDS: Mapping[str, Kind] = {
    "windows": Kind("windows", _windows_query, _windows),
    "windows-1": Kind(
        "windows, state format 1", _windows_query, _windows, _version_of("aggregation", 1), stores=("hdfs", "rocksdb")
    ),
    "groups": Kind("`groupBy().agg()` without a watermark", _groups_query, _groups),
    "sessions": Kind("session windows", _sessions_query, _sessions),
    "ids": Kind("`dropDuplicates` without a watermark", _ids_query, _ids),
    "ids-with-time": Kind("`dropDuplicates` with the event time", _ids_with_time_query, _ids_with_time),
    "ids-for-a-while": Kind("`dropDuplicatesWithinWatermark`", _ids_for_a_while_query, _ids_for_a_while),
    "join-1": Kind(
        "inner join, state format 1",
        _pairs_query("inner"),
        lambda: _pairs(matched=False),
        _version_of("join", 1),
        until="4.0",
        stores=("hdfs", "rocksdb"),
    ),
    "join": Kind("left outer join, state format 2", _pairs_query("leftOuter"), lambda: _pairs(matched=True)),
    "join-3": Kind(
        "left outer join, state format 3",
        _pairs_query("leftOuter"),
        lambda: _pairs(matched=False),
        _version_of("join", 3),
        since="4.1",
        stores=ONLY_ROCKSDB,
    ),
    "join-4": Kind(
        "left outer join, state format 4",
        _pairs_query("leftOuter"),
        lambda: _pairs(matched=False),
        _V4,
        since="4.3",
        stores=ONLY_ROCKSDB,
    ),
    "totals": Kind("`applyInPandasWithState`", _totals_query, _totals),
    "variables-in-pandas": Kind(
        "`transformWithStateInPandas`: value, list, map, timers",
        _variables_query("transformWithStateInPandas", ends=False),
        _variables,
        since="4.0",
        stores=ONLY_ROCKSDB,
    ),
    "variables-that-end": Kind(
        "`transformWithStateInPandas`: values, lists and maps that end",
        _variables_query("transformWithStateInPandas", ends=True),
        _variables_that_end,
        since="4.0",
        stores=ONLY_ROCKSDB,
        once=True,
    ),
    "variables": Kind(
        "`transformWithState`: value, list, map, timers",
        _variables_query("transformWithState", ends=False),
        _variables,
        since="4.1",
        stores=ONLY_ROCKSDB,
    ),
    "variables-in-avro": Kind(
        "`transformWithState`, kept as Avro",
        _variables_query("transformWithState", ends=False),
        _variables,
        _AVRO,
        since="4.1",
        stores=("changelogs",),
    ),
    "limited": Kind("`limit`", _limited_query, _limited, since_with_ids="4.1"),
    "several": Kind("a deduplication, and windows behind it", _several_query, _several),
}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


def cases(version: str, only: str = "*") -> Iterator[tuple[str, str]]:
    """The names of kind and store that a version has, whose name "kind/store" fits a glob."""
    for name, kind in KINDS.items():
        for store in STORES:
            if kind.there(version, store) and fnmatch(f"{name}/{store}", only):
                yield name, store


def write_files(folder: Path) -> None:
    """The events, and the rows of the right side of a join, in files that Spark reads in their order."""
    every = events()
    size = EVENTS // FILES
    for number in range(FILES):
        part = every[number * size : (number + 1) * size]
        lefts = [{**one, "at": one["at"].isoformat()} for one in part]
        rights = [{"rid": one["id"], "rat": (one["at"] + timedelta(seconds=SHIFT)).isoformat()} for one in part[::2]]
        for name, rows in (("events", lefts), ("others", rights)):
            path = folder / name / f"{number}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
            os.utime(path, (FIRST_OF_FILES + number,) * 2)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--only", default="*", help="a glob over KIND/STORE")
    given = asked.parse_args()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    write_files(given.folder)
    builder = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    )
    spark = builder.config("spark.sql.session.timeZone", "UTC").config("spark.sql.streaming.metricsEnabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    failed = 0
    for name, store in cases(spark.version, given.only):
        checkpoint = given.folder / "checkpoints" / name / store
        try:
            _run(spark, KINDS[name], store, given.folder, checkpoint)
            said = WRITTEN
        except Exception as problem:  # noqa: BLE001 -- whatever it is, the other jobs are written
            failed += 1
            said = " ".join(str(problem).split())[:600]
        print(json.dumps({"kind": name, "store": store, "said": said}), flush=True)
    spark.stop()
    return 1 if failed else 0


def _run(spark: Any, kind: Kind, store: str, folder: Path, checkpoint: Path) -> None:
    own = spark.newSession()
    for key, value in {**STORES[store], **kind.settings}.items():
        own.conf.set(key, value)
    writer = kind.query(own, folder).option("checkpointLocation", str(checkpoint)).format("noop")
    writer.trigger(**({"once": True} if kind.once else {"availableNow": True})).start().awaitTermination()


if __name__ == "__main__":
    sys.exit(main())
