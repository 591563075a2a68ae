"""Writes the few events of a worked example to where its job reads: `python examples/sample.py loyalty`, then `streamproof run examples/loyalty`."""

import json
import os
import runpy
import shutil
import sys
import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path


def line(event: dict | str) -> str:
    """An event as its source sends it: the time in milliseconds since 1970; a text is no event, and stays as it is."""
    if isinstance(event, str):
        return event
    return json.dumps({**event, "at": int(datetime.fromisoformat(event["at"]).timestamp() * 1_000)})


def files(example: Path) -> Iterator[dict[str, str]]:
    """Of each batch of the example's sample.py the text of one file for each source, by its name; a batch of events only is that of the only source."""
    sources = tomllib.loads((example / "streamproof.toml").read_text())["source"]
    for batch in runpy.run_path(str(example / "sample.py"))["BATCHES"]:
        by_source = batch if isinstance(batch, dict) else {next(iter(sources)): batch}
        yield {name: "".join(f"{line(event)}\n" for event in events) for name, events in by_source.items()}


def write(example: Path) -> int:
    """Writes a file for each source and batch, and says how many; what an earlier run has left goes first."""
    for left in ("data", "out", "checkpoints"):
        shutil.rmtree(example / left, ignore_errors=True)
    sources = tomllib.loads((example / "streamproof.toml").read_text())["source"]
    batches, written = [*files(example)], 0
    for number, texts in enumerate(batches):
        for name, text in texts.items():
            place = example / sources[name]["path"] / f"{number}.jsonl"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            age = place.stat().st_mtime - (
                len(batches) - number
            )  # Spark reads files by age: a second between two keeps their order
            os.utime(place, (age, age))
            written += 1
    return written


if __name__ == "__main__":
    name = sys.argv[1]
    print(f"{write(Path(__file__).parent / name)} files in examples/{name}/data")
