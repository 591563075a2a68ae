"""How long `import streamproof` and `streamproof --help` take: medians of seven fresh processes, no JVM."""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import streamproof": [sys.executable, "-c", "import streamproof"],
    "streamproof --help": [sys.executable, "-m", "streamproof.cli.main", "--help"],
}


def median_seconds(command: list[str]) -> float:
    """The median wall time of seven runs."""
    taken = []
    for _ in range(7):
        started = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.monotonic() - started)
    return statistics.median(taken)


for name, command in COMMANDS.items():
    print(f"{name:22} {median_seconds(command):.3f} s")
