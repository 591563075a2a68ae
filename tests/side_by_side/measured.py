"""What each file of tests took, and the service that it shares with others: by this `make test` gives files to its processes."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).parents[1] / "measured_seconds.toml"
SERVICES = ("kafka", "registry", "postgres")
"""Fixtures of tests/services that live as long as their process, the heaviest first."""

_HEAD = """\
# What each file of tests took, in seconds, beside the others; of those with services of their process the heaviest one.
# Written anew by `make test MEASURE=1`. `make test` begins with the longest; a file that is not here counts as longer than all.
"""


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


@dataclass
class Measured:
    """Seconds by file, and the service of a file that has one."""

    seconds: dict[str, float] = field(default_factory=dict)
    services: dict[str, str] = field(default_factory=dict)

    def unit(self, file: str) -> str:
        """What goes to one process as a whole: a file, or all files that share a service, so that it is started once."""
        service = self.services.get(file)
        return file if service is None else f"the files that share {service}"

    def seconds_of(self, files: Iterable[str]) -> float:
        return sum(self.seconds.get(file, math.inf) for file in files)

    def as_toml(self) -> str:
        tables: Mapping[str, Iterable[str]] = {
            "seconds": (f'"{file}" = {took:.1f}\n' for file, took in sorted(self.seconds.items())),
            "services": (f'"{file}" = "{service}"\n' for file, service in sorted(self.services.items())),
        }
        return _HEAD + "".join(f"\n[{name}]\n{''.join(lines)}" for name, lines in tables.items())


def read() -> Measured:
    return Measured(**tomllib.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else Measured()


class Measuring:
    """Adds up what a run takes; `heard` is told of each part of each test, with the service that the test has."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._services: dict[str, set[str]] = defaultdict(set)

    def heard(self, nodeid: str, seconds: float, services: Iterable[str]) -> None:
        self._seconds[file_of(nodeid)] += seconds
        self._services[file_of(nodeid)].update(services)

    def result(self) -> Measured:
        heaviest = {file: next((one for one in SERVICES if one in found), None) for file, found in self._services.items()}
        return Measured(dict(self._seconds), {file: service for file, service in heaviest.items() if service is not None})
