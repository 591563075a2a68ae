"""Runs every benchmark: `make benchmarks`, or one of them by name: `python -m benchmarks time_per_event`."""

import subprocess
import sys

ALL = (
    "startup",
    "time_per_event",
    "watched",
    "accumulators",
    "emissions",
    "windows",
    "joins",
    "keyed",
    "twins",
    "state_growth",
    "look_inside",
    "proof_of_50000",
    "proof_on_services",
    "services",
    "real_time",
    "schemas",
    "json_records",
    "ledgers",
    "foreign_scenario",
    "foreign_first_verdict",
    "false_alarms",
)

for name in sys.argv[1:] or ALL:
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
