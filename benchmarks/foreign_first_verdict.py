"""From a wheel to the verdict of the standard plan on a PySpark job that was not written for us, in an environment that has nothing yet.

A virtual environment is made, the wheel is installed with pip, and a folder has a job file and a sample of 1,000 lines. What pip takes hangs on
the network and on its cache, and is printed by itself; from there on it is one command. The limit is three minutes for both, on two cores.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from streamproof.core.clock import monotonic_seconds

ROOT = Path(__file__).parents[1]
JOBS = ROOT / "examples" / "plain_pyspark"
COMMAND = "prove sessions.py:click_sessions --input clicks=clicks.jsonl"
LIMIT = 180


def timed(command: list[str], folder: Path) -> float:
    """Seconds that a command takes, which must end well."""
    started = monotonic_seconds()
    subprocess.run(command, check=True, cwd=folder, env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"})
    return monotonic_seconds() - started


def main() -> None:
    subprocess.run(["make", "--silent", "wheel"], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    wheel = max((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory(prefix="streamproof-benchmark-") as name:
        folder = Path(name)
        for file in ("sessions.py", "clicks.jsonl"):
            shutil.copy(JOBS / file, folder)
        timed([sys.executable, "-m", "venv", "venv"], folder)
        installing = timed(
            ["venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)], folder
        )
        proving = timed(["venv/bin/streamproof", *COMMAND.split()], folder)
    said = "within" if installing + proving <= LIMIT else "over"
    print(
        f"{proving:.0f} s from the command to the verdict of the standard plan; {installing:.0f} s pip install before ({said} the limit of {LIMIT} s)"
    )


if __name__ == "__main__":
    main()
