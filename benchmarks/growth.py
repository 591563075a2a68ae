"""What a start costs with 1,000, 10,000 and 100,000 batches behind it: a checkpoint is aged by renumbering, and started without new input.

The job has one output of files. What Spark itself keeps (its newest logs) is the same at any age.
"""

import json
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from streamproof.config import load
from streamproof.core.manifest import Chain
from streamproof.runtime.run import run_job
from streamproof.runtime.spark.session import start_session

AGES = (1_000, 10_000, 100_000)
STARTS = 5
JOB = """
import streamproof as sp

@sp.job
def kept(events: sp.Stream) -> sp.Outputs:
    checked = events.require(v="v >= 0")
    return sp.Outputs(kept=checked, rejected=checked.rejected)
"""
CONFIGURATION = """
[job]
entry = "job.py:kept"
checkpoint = "checkpoint"
[source.events]
connector = "files"
path = "data"
files_per_batch = 1
format = "json"
schema = "id string, v double"
[sink.kept]
connector = "files"
path = "out/kept"
format = "parquet"
[sink.rejected]
connector = "files"
path = "out/rejected"
format = "json"
"""
BATCHES = 3


def young(folder: Path) -> Path:
    """A job that has run three batches, each with a kept and a rejected row."""
    (folder / "data").mkdir(parents=True)
    (folder / "job.py").write_text(JOB)
    (folder / "streamproof.toml").write_text(CONFIGURATION)
    for batch in range(BATCHES):
        rows = ({"id": f"e{batch}", "v": 1.0}, {"id": f"bad{batch}", "v": -1.0})
        (folder / f"data/{batch}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run_job(load(folder))
    return folder


def aged(folder: Path, batches: int) -> None:
    """Lets the newest batches of a job look as if so many lay behind them, with all their folders."""
    by = batches - BATCHES
    query = folder / "checkpoint/kept"
    for log in ("offsets", "commits", "_streamproof/manifests"):
        for number in reversed(range(BATCHES)):
            path = query / log / str(number)
            path.rename(query / log / str(number + by))
            (query / log / f".{number}.crc").unlink(missing_ok=True)
    chain = Chain()
    for number in range(by):
        chain = chain.then(number)
    for manifest in (query / "_streamproof/manifests").glob("[0-9]*"):
        found = json.loads(manifest.read_text())
        found["batch"] += by
        for section in found["sections"]:
            section["earlier"] = _later(section["earlier"], chain, by)
        manifest.write_text(json.dumps(found))
    for output in ("kept", "rejected"):
        _age_output(folder / "out" / output, by, chain)


def _age_output(out: Path, by: int, chain: Chain) -> None:
    for number in reversed(range(BATCHES)):
        directory = out / f"batch={number:06d}"
        later = directory.rename(out / f"batch={number + by:06d}")
        ledger = json.loads((later / "_ledger.json").read_text())
        ledger["batch"] += by
        ledger["earlier"] = _later(ledger["earlier"], chain, by)
        (later / "_ledger.json").write_text(json.dumps(ledger))
        (later / "._ledger.json.crc").unlink(missing_ok=True)
    for number in range(by):
        (out / f"batch={number:06d}").mkdir()
    oldest = re.sub(r'"batch": \d+', '"batch": 0', json.dumps({**ledger, "earlier": None, "files": []}))
    (out / "batch=000000/_ledger.json").write_text(oldest)


def _later(earlier: dict[str, int], chain: Chain, by: int) -> dict[str, int]:
    count, total = earlier["count"], earlier["sum"]
    return {
        "newest": max(earlier["newest"] + by, chain.newest),
        "count": chain.count + count,
        "sum": chain.sum + total + by * count,
        "lost": 0,
        "lost_sum": 0,
    }


with tempfile.TemporaryDirectory() as home:
    session = start_session("growth", {"spark.master": "local[2]"})
    session.sparkContext.setLogLevel("ERROR")
    first = young(Path(home) / "young")
    seconds = {}
    for age in AGES:
        folder = Path(home) / f"aged-{age}"
        shutil.copytree(first, folder)
        for manifest in (folder / "checkpoint/kept").rglob("*"):  # the source's folder has another name
            if manifest.is_file() and str(first) in (text := manifest.read_text(errors="ignore")):
                manifest.write_text(text.replace(str(first), str(folder)))
                manifest.with_name(f".{manifest.name}.crc").unlink(missing_ok=True)
        aged(folder, age)
        taken = []
        for _ in range(STARTS + 1):
            started = time.monotonic()
            result = run_job(load(folder), spark=session)
            taken.append(time.monotonic() - started)
            assert result.batches == 0, result
        seconds[age] = statistics.median(taken[1:])
        print(
            f"{age:>9,} batches   {seconds[age]:.3f} s a start   {seconds[age] / seconds[AGES[0]]:.2f} of {AGES[0]:,}", flush=True
        )
    session.stop()
