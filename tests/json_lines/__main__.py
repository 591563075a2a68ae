"""`PYTHONPATH=tests python -m json_lines --lines 10000000`: so many lines read in one pass and by Spark's parser; stops at the first that differ."""

import argparse
import sys

from json_lines.compared import compared
from json_lines.lines import lines
from streamproof.runtime.spark.session import start_session

AT_ONCE = 100_000
ZONES = ("UTC", "America/New_York", "Asia/Kolkata")


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m json_lines", description=__doc__)
    asked.add_argument("--lines", type=int, default=1_000_000)
    asked.add_argument("--seed", type=int, default=0, help="of the first 100,000; the others have the next ones")
    wanted = asked.parse_args()
    spark = start_session("json lines", {"spark.master": "local[2]", "spark.driver.memory": "3g"})
    in_one_pass = fit = 0
    for number in range(-(-wanted.lines // AT_ONCE)):
        seed = wanted.seed + number
        found = compared(spark, lines(seed, AT_ONCE), zone=ZONES[seed % len(ZONES)], lenient=seed % 2 == 1)
        in_one_pass, fit = in_one_pass + found.in_one_pass, fit + found.fit
        print(
            f"seed {seed}: {len(found.differ)} differ; so far {(number + 1) * AT_ONCE:,} lines, {fit:,} fit, {in_one_pass:,} in one pass",
            flush=True,
        )
        for line, ours, theirs in found.differ:
            print(f"{line!r}\n  one pass  {ours}\n  by Spark  {theirs}")
        if found.differ:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
