"""Random jobs on Spark and in the twin: `make random-jobs SEEDS=500`; one again: `make random-jobs SEED=17`; on another Spark: `SPARK=4.1`.

What is done is kept in reports/random_jobs.jsonl, by version where one was asked for, and a second call goes on after it; --again begins anew.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from random_jobs.comparing import differences
from random_jobs.jobs import random_job
from random_jobs.running import ran
from streamproof.core.clock import monotonic_seconds

if TYPE_CHECKING:
    from streamproof.prove.process.engine import Engine

REPORTS = Path(__file__).parents[2] / "reports"


def compared(number: int, spark: SparkSession, folder: Path) -> list[str]:
    """The differences of the job of one seed; a run that fails is one."""
    job = random_job(number)
    try:
        return differences(job, ran(job, spark, folder))
    except Exception as problem:  # noqa: BLE001 -- whatever it is, the seed and the job belong to it
        return [f"{type(problem).__name__}: {problem}"]


def main() -> int:
    """0 if Spark and the twin agree."""
    asked = argparse.ArgumentParser(prog="python -m random_jobs", description="Runs random jobs on Spark and in the twin.")
    asked.add_argument("--seeds", type=int, default=500, help="so many")
    asked.add_argument("--first", type=int, default=0, help="the first of them")
    asked.add_argument("--seed", type=int, help="this one alone; its folder is kept")
    asked.add_argument("--again", action="store_true", help="begin anew")
    asked.add_argument("--spark", help="a version of Spark, such as 4.1, with the wheel in an environment of its own")
    asked.add_argument("--kept", type=Path, default=REPORTS / "random_jobs.jsonl", help="where what is done is kept")
    asked.add_argument("--show", action="store_true", help="print the job of each seed, and run nothing")
    wanted = asked.parse_args()
    numbers = range(wanted.first, wanted.first + wanted.seeds) if wanted.seed is None else range(wanted.seed, wanted.seed + 1)
    if wanted.show:
        for number in numbers:
            print(f"# seed {number}\n{random_job(number).described}")
        return 0
    if wanted.spark:
        words = [f"--first={wanted.first}", f"--seeds={wanted.seeds}"] if wanted.seed is None else [f"--seed={wanted.seed}"]
        return _on(wanted.spark, [*words, *(["--again"] if wanted.again else [])])
    kept_in: Path = wanted.kept
    engine = _engine()
    spark = engine.spark
    if wanted.seed is not None:
        folder = Path(tempfile.mkdtemp(prefix=f"streamproof-random-job-{wanted.seed}-"))
        return _say([_done(wanted.seed, spark, folder)], 1, kept_in=folder)
    kept_in.parent.mkdir(exist_ok=True)
    if wanted.again:
        kept_in.unlink(missing_ok=True)
    done = [json.loads(line) for line in kept_in.read_text().splitlines()] if kept_in.exists() else []
    done = [one for one in done if one["seed"] in numbers]
    known = {one["seed"] for one in done}
    with tempfile.TemporaryDirectory(prefix="streamproof-random-jobs-") as base, kept_in.open("a") as kept:
        for number in numbers:
            if number in known:
                continue
            done.append(_done(number, spark, Path(base) / str(number)))
            engine.close_ended_stores()
            kept.write(json.dumps(done[-1]) + "\n")
            kept.flush()
            print(
                f"{len(done):>4} of {wanted.seeds}  seed {number:<6} {len(done[-1]['differences'])} differences  {done[-1]['seconds']} s",
                flush=True,
            )
    return _say(done, wanted.seeds)


def _on(version: str, words: list[str]) -> int:
    """The same words in the environment of another version of Spark."""
    from versions.environments import made, newest_wheel

    environment = made(version, newest_wheel())
    kept = ["--kept", REPORTS / f"random_jobs-{version}.jsonl"]
    command = [environment.python, "-m", "random_jobs", *words, *kept]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(REPORTS.parent / "tests")}, check=False).returncode


def _done(number: int, spark: SparkSession, folder: Path) -> dict[str, Any]:
    began = monotonic_seconds()
    found = compared(number, spark, folder)
    return {"seed": number, "differences": found, "seconds": round(monotonic_seconds() - began, 1)}


def _say(done: list[dict[str, Any]], wanted: int, kept_in: Path | None = None) -> int:
    wrong = [one for one in done if one["differences"]]
    for one in wrong:
        print(f"\nseed {one['seed']}; again: make random-jobs SEED={one['seed']}\n{random_job(one['seed']).described}")
        for said in one["differences"]:
            print(f"  {said}")
    seconds = sum(one["seconds"] for one in done)
    print(
        f"{len(done)} of {wanted} seeds, {sum(len(one['differences']) for one in done)} differences in {len(wrong)} jobs; "
        f"{seconds / max(1, len(done)):.1f} s a job" + (f"; its folder: {kept_in}" if kept_in is not None else "")
    )
    return 1 if wrong else 0


def _engine() -> "Engine":
    from streamproof.prove.process.engine import Engine

    return Engine("random jobs", {})


if __name__ == "__main__":
    sys.exit(main())
