"""Writes the few events of a worked example to where its job reads: `python examples/sample.py loyalty`, then `streamproof run examples/loyalty`."""

import json
import os
import runpy
import shutil
import sys
import tomllib
from datetime import datetime
from pathlib import Path


def line(event: dict | str) -> str:
    """An event as its source sends it: the time in milliseconds since 1970; a text is no event, and stays as it is."""
    if isinstance(event, str):
        return event
    return json.dumps({**event, "at": int(datetime.fromisoformat(event["at"]).timestamp() * 1_000)})


def write(example: Path) -> int:
    """Writes one file for each batch of the example's sample.py, and says how many; what an earlier run has left goes first."""
    for left in ("data", "out", "checkpoints"):
        shutil.rmtree(example / left, ignore_errors=True)
    (source,) = tomllib.loads((example / "streamproof.toml").read_text())["source"].values()
    folder = example / source["path"]
    folder.mkdir(parents=True)
    batches = runpy.run_path(str(example / "sample.py"))["BATCHES"]
    for number, events in enumerate(batches):
        place = folder / f"{number}.jsonl"
        place.write_text("".join(f"{line(event)}\n" for event in events))
        written = place.stat().st_mtime - (
            len(batches) - number
        )  # Spark reads files by age: a second between two keeps their order
        os.utime(place, (written, written))
    return len(batches)


if __name__ == "__main__":
    name = sys.argv[1]
    print(f"{write(Path(__file__).parent / name)} files in examples/{name}/data")
