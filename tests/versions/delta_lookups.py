"""A job whose rows are looked up in a table of Delta Lake, on the Spark beside it and with Delta's own jar: what it does while the table changes.

As a program it prints a line of JSON for each case:

    python -m versions.delta_lookups FOLDER --packages io.delta:delta-spark_4.2_2.13:4.4.0 [--only 'killed*']

Delta Lake writes the tables itself. One case kills the process of the job between the manifest and the commit of a batch, and goes on by the command line.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import streamproof as sp
from streamproof.config import load
from streamproof.errors import StreamproofError
from streamproof.runtime.run import run_job
from streamproof.runtime.spark.session import start_session

YES = "yes"
SETTINGS: Mapping[str, str] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
PACKAGES = "spark.jars.packages"
_FIRST_OF_FILES = 1_700_000_000
_NINE = 1_767_603_600_000
_JOB = """import streamproof as sp


@sp.job
def priced(orders: sp.Stream) -> sp.Outputs:
    priced = orders.lookup("prices", on="sku"{more})
    return sp.Outputs(priced=priced, unknown=priced.unmatched)
"""
_PLAIN = "sku string, price double"
_VALID = "sku string, price double, since timestamp, until timestamp"


@dataclass
class Shop:
    """The job in a folder of its own, and its table of Delta Lake."""

    spark: Any
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    refresh: str | None = "0 seconds"
    valid: bool = False
    heard: list[Any] = field(default_factory=list)
    _files: int = 0

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "orders").mkdir(parents=True)
        (self.folder / "job.py").write_text(_JOB.format(more=', as_of="ts"' if self.valid else ""))
        lines = [
            '[job]\nentry = "job.py:priced"\ncheckpoint = "checkpoint"',
            '[source.orders]\nconnector = "files"\npath = "orders"\nformat = "json"\nfiles_per_batch = 1',
            'schema = "id string, sku string, ts long"',
            'event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds" }',
            '[table.prices]\nconnector = "delta"\npath = "prices"',
            *([f'refresh = "{self.refresh}"'] if self.refresh else []),
            *(['valid_from = "since"\nvalid_to = "until"'] if self.valid else []),
            *(f'[sink.{name}]\nconnector = "files"\npath = "out/{name}"\nformat = "parquet"' for name in ("priced", "unknown")),
            "[spark]",
            '"spark.sql.shuffle.partitions" = "2"',
            *(f'"{key}" = "{value}"' for key, value in self.settings.items()),
        ]
        (self.folder / "streamproof.toml").write_text("\n".join(lines) + "\n")

    @property
    def table(self) -> Path:
        return self.folder / "prices"

    def put(self, rows: Sequence[tuple[Any, ...]], mode: str = "overwrite", **options: str) -> None:
        """A commit of Delta Lake: these rows instead of all others, or beside them (`append`)."""
        columns = _VALID if self.valid else _PLAIN
        writer = self.spark.createDataFrame(list(rows), columns).coalesce(1).write.format("delta").mode(mode)
        writer.options(**options).save(str(self.table))

    def sql(self, text: str) -> None:
        """A statement of SQL; `{table}` in it is the table."""
        self.spark.sql(text.format(table=f"delta.`{self.table}`")).collect()

    def feed(self, *orders: tuple[str, str, int]) -> None:
        """A file of orders: id, article, seconds after nine; each file is a batch."""
        rows = [{"id": id_, "sku": sku, "ts": _NINE + at * 1000} for id_, sku, at in orders]
        self._files += 1
        path = self.folder / "orders" / f"{self._files}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        os.utime(path, (_FIRST_OF_FILES + self._files,) * 2)

    def run(self, *changes: Callable[[], object], **options: Any) -> Any:
        """Runs the job over what is there; after each batch the next change of the table is made."""
        left = list(changes)
        self.heard.clear()

        def hear(event: Any) -> None:
            self.heard.append(event)
            if event.kind == "batch-staged" and left:
                left.pop(0)()

        return run_job(load(self.folder), spark=self.spark, listener=hear, **options)

    def refused(self, **options: Any) -> str:
        """What a start says that is refused; empty where it is not."""
        try:
            self.run(**options)
        except StreamproofError as problem:
            return f"{type(problem).__name__}: {problem}"
        return ""

    def shown(self, output: str = "priced") -> dict[str, Any]:
        """By the id of an order what it was given."""
        files = sorted((self.folder / "out" / output).glob("batch=*/[!_.]*.parquet"))
        rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
        found = {row["id"]: row.get("price") for row in rows}
        return found if len(found) == len(rows) else {"twice": len(rows)}

    def pinned(self, batch: int) -> str:
        path = self.folder / f"checkpoint/priced/_streamproof/tables/_pinned/{batch}"
        return str(json.loads(path.read_text())["tables"]["prices"])

    def manifest(self, batch: int) -> str:
        path = self.folder / f"checkpoint/priced/_streamproof/manifests/{batch}"
        return str(json.loads(path.read_text())["fingerprint"]["tables"]["prices"])

    def stayed(self) -> list[str]:
        return [event.why for event in self.heard if event.kind == "table-stays"]


class Unlike(Exception):
    """What was found is not what was wanted."""


def require(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Unlike(f"{what}: found {found}, wanted {wanted}")


def require_said(text: str, *parts: str) -> None:
    for part in parts:
        if part not in text:
            raise Unlike(f"it is not said: {part!r} in {text!r}")


Make = partial[Shop]


def read_at_the_start(make: Make) -> None:
    shop = make(refresh=None)
    shop.put([("a", 1.0)])
    for number in range(2):
        shop.feed((f"{number}", "a", number), (f"b{number}", "b", number))
    shop.run(lambda: shop.put([("b", 5.0)], "append"))
    require("the first run", (shop.shown(), sorted(shop.shown("unknown"))), ({"0": 1.0, "1": 1.0}, ["b0", "b1"]))
    shop.feed(("2", "a", 2), ("b2", "b", 2))
    (account,) = shop.run().accounts
    require("the second run", shop.shown(), {"0": 1.0, "1": 1.0, "2": 1.0, "b2": 5.0})
    require("the account adds up", account.adds_up, True)


def read_again(make: Make) -> None:
    shop = make()
    shop.put([("a", 1.0)])
    for number in range(5):
        shop.feed((f"{number}", "a", number), (f"b{number}", "b", number))
    (account,) = shop.run(
        lambda: shop.put([("b", 5.0)], "append"),
        lambda: shop.put([("a", 2.0), ("b", 6.0)]),
        lambda: shop.sql("UPDATE {table} SET price = 7.0 WHERE sku = 'b'"),
        lambda: shop.sql("DELETE FROM {table} WHERE sku = 'b'"),
    ).accounts
    wanted = {"0": 1.0, "1": 1.0, "b1": 5.0, "2": 2.0, "b2": 6.0, "3": 2.0, "b3": 7.0, "4": 2.0}
    require("prices", (shop.shown(), sorted(shop.shown("unknown"))), (wanted, ["b0", "b4"]))
    require("manifests", [shop.manifest(n) for n in range(5)], [shop.pinned(n) for n in range(5)])
    require("versions", len({shop.manifest(n) for n in range(5)}), 5)
    require("the account adds up", account.adds_up, True)


def with_deletion_vectors(make: Make) -> None:
    shop = make()
    shop.put([(sku, 1.0) for sku in "abcdefgh"])
    shop.sql("ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = true)")
    shop.feed(("0", "a", 0), ("b0", "b", 0))
    shop.feed(("1", "a", 1), ("b1", "b", 1))
    shop.run(lambda: shop.sql("DELETE FROM {table} WHERE sku = 'b'"))
    require("a file of deleted rows", bool([*shop.table.glob("**/deletion_vector*.bin")]), True)
    require("prices", (shop.shown(), sorted(shop.shown("unknown"))), ({"0": 1.0, "b0": 1.0, "1": 1.0}, ["b1"]))


def as_of_event_time(make: Make) -> None:
    shop = make(valid=True)
    shop.put([("a", 1.0, _at(0), None)])
    shop.feed(("0", "a", 0), ("20", "a", 20))
    shop.feed(("5", "a", 15), ("30", "a", 30))
    shop.run(lambda: shop.put([("a", 1.0, _at(0), _at(25)), ("a", 2.0, _at(25), None)]))
    require("prices", shop.shown(), {"0": 1.0, "20": 1.0, "5": 1.0, "30": 2.0})


def killed_and_done_again(make: Make) -> None:
    """The process of the job is killed after it has written the manifest of batch 1, and the table is another before it starts again."""
    shop = make(own_session=True)
    shop.put([("a", 1.0)])
    shop.feed(("0", "a", 0), ("b0", "b", 0))
    shop.feed(("1", "a", 1), ("b1", "b", 1))
    died = subprocess.run([sys.executable, __file__, "--dies", shop.folder], capture_output=True, text=True, check=False)
    require(f"how the process ended ({died.stderr[-600:]})", died.returncode, -signal.SIGKILL)
    require("a commit of batch 1", (shop.folder / "checkpoint/priced/commits/1").exists(), False)
    manifest = shop.manifest(1)
    shop.put([("a", 9.0), ("b", 9.0)])
    shop.sql("VACUUM {table} RETAIN 0 HOURS")
    require("files of the version that batch 1 used", len([*shop.table.glob("*.parquet")]), 1)
    shop.feed(("2", "a", 2), ("b2", "b", 2))
    command = Path(sys.executable).with_name("streamproof")
    again = subprocess.run([command, "run", ".", "--json"], cwd=shop.folder, capture_output=True, text=True, check=False)
    require(f"the second start ({again.stderr[-600:]})", again.returncode, 0)
    require("prices", (shop.shown(), sorted(shop.shown("unknown"))), ({"0": 1.0, "1": 1.0, "2": 9.0, "b2": 9.0}, ["b0", "b1"]))
    require("the version of batch 1", shop.manifest(1), manifest)
    (account,) = json.loads(again.stdout)["accounts"]
    require("the account adds up", account["adds_up"], True)


def version_is_gone(make: Make) -> None:
    """Our copy of the version that a batch has used is gone, and Delta Lake's is too, or is not."""
    shop = make()
    shop.put([("a", 1.0)])
    shop.feed(("0", "a", 0))
    shop.run()
    version = shop.pinned(0)
    shop.put([("a", 2.0)])
    shutil.rmtree(shop.folder / "checkpoint/priced/_streamproof/tables/prices" / version)
    require_said(
        shop.refused(replay_last=True),
        "TornCheckpoint",
        f"copy of the version {version} of [table.prices] is gone, which batch 0 has used",
    )
    shop.sql("RESTORE {table} TO VERSION AS OF 0")
    shop.run(replay_last=True)
    require("prices", shop.shown(), {"0": 1.0})
    require("the version of batch 0", shop.manifest(0), version)


def gone_and_damaged(make: Make) -> None:
    for change, *said in (
        (lambda shop: shutil.rmtree(shop.table), "[table.prices] path is", "there is no such folder"),
        (lambda shop: shutil.rmtree(shop.table / "_delta_log"), "is no table of Delta Lake"),
        (lambda shop: [path.unlink() for path in shop.table.glob("*.parquet")], "[table.prices]", "cannot be read: "),
        (lambda shop: shop.put([("a", 2.0)], "append"), "[table.prices] has 2 rows for one sku"),
        (lambda shop: _other_type(shop), "its column price is string, and was double when the job was planned"),
    ):
        shop = make()
        shop.put([("a", 1.0)])
        for number in range(3):
            shop.feed((f"{number}", "a", number))
        found = shop.run(lambda shop=shop, change=change: change(shop))
        require(f"prices after {said}", shop.shown(), {"0": 1.0, "1": 1.0, "2": 1.0})
        require(f"how often the former version stayed: {shop.stayed()}", len(shop.stayed()), 2)
        require_said(shop.stayed()[0], *said)
        require("how often a note says so", [str(note.code) for note in found.notes].count("table-stays"), 1)
        if "planned" not in said[0]:
            shop.feed(("3", "a", 3))
            require_said(shop.refused(), *said)
            require("batches", (shop.folder / "checkpoint/priced/offsets/3").exists(), False)


def without_settings(make: Make) -> None:
    """The jar is there, and Delta Lake's classes for the session are not."""
    shop = make()
    shop.put([("a", 1.0)])
    shop.feed(("0", "a", 0))
    kept = {key: shop.spark.conf.get(key) for key in SETTINGS}
    require("settings", kept, dict(SETTINGS))
    text = (shop.folder / "streamproof.toml").read_text()
    (shop.folder / "streamproof.toml").write_text(f'{text}"{PACKAGES}" = "{make.args[2]}"\n')
    command = Path(sys.executable).with_name("streamproof")
    done = subprocess.run([command, "run", "."], cwd=shop.folder, capture_output=True, text=True, check=False)
    require_said(done.stderr, *SETTINGS.values())
    require("exit code", done.returncode, 2)


CASES: Mapping[str, Callable[[Make], None]] = {
    "start": read_at_the_start,
    "refresh": read_again,
    "deleted": with_deletion_vectors,
    "as-of": as_of_event_time,
    "killed": killed_and_done_again,
    "gone-version": version_is_gone,
    "bad": gone_and_damaged,
    "settings": without_settings,
}


def _at(seconds: int) -> Any:
    return datetime.fromtimestamp(_NINE / 1000 + seconds, UTC)


def _other_type(shop: Shop) -> None:
    rows = shop.spark.createDataFrame([("a", "dear")], "sku string, price string")
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(shop.table))


def _dies(folder: str) -> None:
    """Runs a job, as a user would, until the manifest of batch 1 is there."""

    def hear(event: Any) -> None:
        if event.kind == "batch-staged" and event.batch == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    sp.run(folder, listener=hear)


def _said(case: Callable[[Make], None], make: Make) -> str:
    try:
        case(make)
    except Exception as problem:  # noqa: BLE001 -- whatever it is, the other cases are tried
        return " ".join(f"{type(problem).__name__}: {problem}".split())[:1500]
    return YES


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", nargs="?", type=Path)
    asked.add_argument("--packages", help="Delta's jar, as Maven calls it")
    asked.add_argument("--only", default="*", help="a glob over the cases")
    asked.add_argument("--dies", help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.dies:
        _dies(given.dies)
        return 0
    settings = {**SETTINGS, PACKAGES: given.packages}
    free = {"spark.databricks.delta.retentionDurationCheck.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    spark = start_session("delta", {**settings, **free, "spark.master": "local[2]"})
    spark.sparkContext.setLogLevel("OFF")
    failed = 0
    for name, case in CASES.items():
        if not fnmatch(name, given.only):
            continue
        said = _said(case, partial(_made, spark, given.folder / name, given.packages))
        failed += said != YES
        print(f"\n{json.dumps({'case': name, 'said': said})}", flush=True)  # VACUUM leaves a line without its end
    spark.stop()
    return 1 if failed else 0


def _made(spark: Any, folder: Path, packages: str, *, own_session: bool = False, **more: Any) -> Shop:
    number = sum(1 for _ in folder.glob("*")) if folder.is_dir() else 0
    settings = {**SETTINGS, PACKAGES: packages} if own_session else {}
    return Shop(spark, folder / f"{number}", settings, **more)


if __name__ == "__main__":
    sys.exit(main())
