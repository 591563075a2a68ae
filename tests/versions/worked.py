"""The worked examples of the repository, run in two starts: all files of the first half, and then the rest."""

import json
import os
import runpy
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from versions.environments import ROOT, Environment

EXAMPLES: Mapping[str, str] = {
    "risk_exposure": "deduplication, tumbling windows",
    "ad_attribution": "a union, state and timers of each user",
    "active_users": "hopping windows, an approximate distinct count",
    "card_fraud": "a lookup, rules that change, state of each card",
    "inventory": "state and timers of each article",
    "loyalty": "deduplication, calendar days, corrections",
    "observability": "deduplication, sketches, an accumulator",
    "recommendations": "a lookup, a map of each user that decays",
    "sensor_sessions": "sessions",
}
"""Those on files, with what each is made of."""
SINCE: Mapping[str, tuple[int, ...]] = {"observability": (4, 1)}
"""From which Spark on there is what an example uses: `sp.sketch.top_k`."""
FIRST_OF_FILES = 1_700_000_000
"""When the first file was written: Spark reads files by age."""
SIGNIFICANT = 9
"""Digits of a floating-point number: its last ones depend on the order in which tasks add."""


@dataclass(frozen=True)
class Ran:
    """What a start has left: the exit code, the rows of all outputs with how often each is there, the accounts, the notes' codes, and what was said."""

    code: int
    rows: Mapping[str, int]
    accounts: Sequence[Any]
    notes: Sequence[str]
    said: str

    def differs(self, other: "Ran") -> str:
        """In which way it is not what another is; "" where it is."""
        if self.code:
            return f"exit code {self.code}: {self.said}"
        if self.rows != other.rows:
            found = Counter(self.rows)
            missing, more = Counter(other.rows) - found, found - Counter(other.rows)
            return f"{missing.total()} rows are missing, {more.total()} are there instead: {[*missing][:2]} {[*more][:2]}"
        return "" if self.accounts == other.accounts else f"another account: {self.accounts}, not {other.accounts}"


JOBS = {name: ROOT / "examples" / name for name in EXAMPLES} | {
    path.name: path for path in (Path(__file__).parent / "jobs").iterdir() if (path / "job.py").is_file()
}
"""By name where the jobs lie: the examples, and those that only upgrades are tried with."""


def there(name: str, version: str) -> bool:
    """Whether a version of Spark has what a job uses."""
    return tuple(map(int, version.split("."))) >= SINCE.get(name, ())


class Example:
    """One example in a folder of its own, whose files arrive as they are fed."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self._files = [*_files(name)]

    @property
    def events(self) -> int:
        """How many its scenario makes."""
        found: int = tomllib.loads((JOBS[self.name] / "scenario.toml").read_text())["events"]
        return found

    def begin(self) -> None:
        """Puts the job down, without events, checkpoint and outputs."""
        shutil.rmtree(self.folder, ignore_errors=True)
        left = shutil.ignore_patterns("data", "out", "checkpoints", ".streamproof", "__pycache__")
        shutil.copytree(JOBS[self.name], self.folder, ignore=left)

    def feed(self, *, second: bool) -> None:
        """Writes the first half of the files, or the other one."""
        config = tomllib.loads((JOBS[self.name] / "streamproof.toml").read_text())
        half = (len(self._files) + 1) // 2
        for number, texts in enumerate(self._files):
            if (number >= half) is second:
                for source, text in texts.items():
                    place = self.folder / config["source"][source]["path"] / f"{number}.jsonl"
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(text)
                    os.utime(place, (FIRST_OF_FILES + number, FIRST_OF_FILES + number))

    def run(self, environment: Environment) -> Ran:
        """One start on a version of Spark."""
        done = environment.streamproof("run", ".", "--json", cwd=self.folder)
        try:
            result = json.loads(done.stdout)
        except ValueError:
            result = {}
        said = " ".join((done.stderr.strip() or done.stdout.strip() or "nothing was printed").split())
        return Ran(done.returncode, self._rows(), result.get("accounts", ()), result.get("note_codes", ()), said)

    def _rows(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        for output in (
            sorted(path for path in (self.folder / "out").iterdir() if path.is_dir()) if (self.folder / "out").is_dir() else ()
        ):
            for file in sorted(output.glob("batch=*/[!_.]*")):
                found.update(f"{output.name} {self._text(row)}" for row in _rows_of(file))
        return dict(found)

    def _text(self, row: Any) -> str:
        return json.dumps(_rounded(row), sort_keys=True, default=str).replace(str(self.folder), "")


def _rows_of(file: Path) -> Iterator[Any]:
    if file.suffix == ".parquet":
        yield from pq.ParquetFile(file).read().to_pylist()
    else:
        yield from map(json.loads, file.read_text().splitlines())


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def _files(name: str) -> Iterator[Mapping[str, str]]:
    """The texts of an example's files for each batch, by source."""
    example = JOBS[name]
    if (example / "sample.py").is_file():
        yield from runpy.run_path(str(ROOT / "examples" / "sample.py"))["files"](example)
    else:
        yield from ({"trades": text} for text in _trades())


def _trades() -> Iterator[str]:
    """Trades over six minutes in four files: copies, late ones, some without a price, and a line that is no JSON."""
    begin = 1_767_603_600_000
    for file in range(4):
        lines = []
        for number in range(file * 60, file * 60 + 60):
            at = begin + number * 1_500 - (150_000 if number % 17 == 16 else 0)
            notional = -1.0 if number % 23 == 22 else 10 + (number * 37 % 500) / 4
            trade = {"trade_id": f"t{number:04d}", "client": f"c{number % 7}", "notional": notional, "ts": at}
            lines += [json.dumps(trade)] * (2 if number % 11 == 10 else 1)
        yield "".join(f"{line}\n" for line in [*lines, '{"trade_id": "broken'])
