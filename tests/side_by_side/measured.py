"""What each file of tests took, and which of them share services: by this `make test` gives files to its processes."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).parents[1] / "measured_seconds.toml"
SERVICES = ("kafka", "registry", "postgres")
"""Fixtures of tests/services that live as long as their process."""

_HEAD = """\
# What each file of tests took, in seconds, beside two others, and the files whose services live as long as their process: these share one.
# `make test MEASURE=1` writes it. `make test` begins with the longest; a file that is not here counts as longer than all.
"""


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


@dataclass
class Measured:
    """Seconds by file, and the files that share services."""

    seconds: dict[str, float] = field(default_factory=dict)
    on_services: list[str] = field(default_factory=list)

    def unit(self, file: str) -> str:
        """What goes to one process as a whole: a file, or all that share services, so that each of these is started once and not three times."""
        return "tests on shared services" if file in self.on_services else file

    def seconds_of(self, files: Iterable[str]) -> float:
        return sum(self.seconds.get(file, math.inf) for file in files)

    def as_toml(self) -> str:
        shared = "".join(f'    "{file}",\n' for file in sorted(self.on_services))
        lines = "".join(f'"{file}" = {took:.1f}\n' for file, took in sorted(self.seconds.items()))
        return f"{_HEAD}\non_services = [\n{shared}]\n\n[seconds]\n{lines}"


def read() -> Measured:
    return Measured(**tomllib.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else Measured()


class Measuring:
    """Adds up what a run takes; `heard` is told of each part of each test, and whether the test is on a shared service."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._on_services: set[str] = set()

    def heard(self, nodeid: str, seconds: float, *, on_services: bool) -> None:
        self._seconds[file_of(nodeid)] += seconds
        if on_services:
            self._on_services.add(file_of(nodeid))

    def result(self, before: Measured, root: Path) -> Measured:
        """With what was known of files that are there, and had no part in the run."""
        kept = {file for file in before.seconds if file not in self._seconds and (root / file).is_file()}
        seconds = {file: before.seconds[file] for file in kept} | self._seconds
        return Measured(seconds, sorted(self._on_services | (kept & set(before.on_services))))
