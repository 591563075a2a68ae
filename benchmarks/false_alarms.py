"""Correct jobs that were not written for us, proved with random seeds: no scenario of theirs may fail.

    python -m benchmarks.false_alarms               60 seeds, ten for each job of examples/plain_pyspark
    python -m benchmarks.false_alarms --seeds 500

A seed perturbs the sample of one job: disorder, late records, copies, cut lines, a gap, a burst. The plan is that of `prove --watch`: the run
without a fault, and a crash in each phase; three batches instead of five, which cost half. All proofs run in one JVM. What is done is kept in
reports/false_alarms.jsonl, and a second call goes on after it; --again begins anew.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import streamproof as sp
from benchmarks.foreign_jobs import JOBS
from streamproof.core.clock import monotonic_seconds
from streamproof.core.randomness import Seeded

KEPT = Path(__file__).parents[1] / "reports" / "false_alarms.jsonl"
BATCHES = 3


def seed_of(number: int) -> int:
    """The seed of a proof: the same in each call, so that one can go on after another."""
    return Seeded(0, "false alarms", str(number)).below(1_000_000_000)


def proved(job: str, seed: int) -> dict[str, Any]:
    """What a proof of one job with one seed has found."""
    started = monotonic_seconds()
    wanted = JOBS[job]
    report = sp.prove(wanted.target, job=wanted, seed=seed, quick=True, brief=True, batches=BATCHES).report
    failed = [scenario for scenario in report["scenarios"] if scenario["verdict"] != "pass"]
    return {
        "job": job,
        "seed": seed,
        "verdict": report["verdict"],
        "scenarios": len(report["scenarios"]),
        "other": [
            {
                "id": scenario["id"],
                "verdict": scenario["verdict"],
                "checks": [check for check in scenario["checks"] if check["verdict"] != "pass"],
            }
            for scenario in failed
        ],
        "not_exercised": [one["code"] for one in report["not_exercised"]],
        "seconds": round(monotonic_seconds() - started, 1),
    }


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.false_alarms")
    asked.add_argument("--seeds", type=int, default=60)
    asked.add_argument("--again", action="store_true")
    wanted = asked.parse_args()
    KEPT.parent.mkdir(exist_ok=True)
    if wanted.again:
        KEPT.unlink(missing_ok=True)
    done = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    names = list(JOBS)
    with tempfile.TemporaryDirectory(prefix="streamproof-false-alarms-") as folder, KEPT.open("a") as kept:
        os.chdir(folder)  # the runs are stored there
        for number in range(len(done), wanted.seeds):
            found = proved(names[number % len(names)], seed_of(number))
            done.append(found)
            kept.write(json.dumps(found) + "\n")
            kept.flush()
            print(
                f"{number + 1:>4}/{wanted.seeds}  {found['job']:<9} seed {found['seed']:<10} {found['verdict']}  {found['seconds']} s",
                flush=True,
            )
        os.chdir(KEPT.parent)
    sys.exit(say(done))


def say(done: list[dict[str, Any]]) -> int:
    """Prints what all of them come to; 1 where there was a false alarm."""
    verdicts = Counter(one["verdict"] for one in done)
    alarms = [(one, other) for one in done for other in one["other"] if other["verdict"] == "fail"]
    seconds = sum(one["seconds"] for one in done)
    print(
        f"{len(alarms)} false alarms in {sum(one['scenarios'] for one in done)} scenarios of {len(done)} proofs with random seeds, over "
        f"{len({one['job'] for one in done})} jobs; {verdicts['pass']} pass, {verdicts['fail']} fail, {verdicts['unknown']} unknown; "
        f"{seconds / max(1, len(done)):.1f} s a proof"
    )
    for one in done:
        for other in one["other"]:
            print(
                f"  {one['job']} --seed {one['seed']} --only {other['id']}: {other['verdict']}, {json.dumps(other['checks'])[:400]}"
            )
        if one["verdict"] == "unknown" and not one["other"]:
            print(f"  {one['job']} --seed {one['seed']}: unknown, {', '.join(one['not_exercised'])}")
    return 1 if alarms else 0


if __name__ == "__main__":
    main()
