"""`make versions`: installs the wheel beside each version of PySpark, runs and proves jobs there, and prints the tables of the guides.

Plain PySpark jobs: a cell says "yes" where the quick plan of the job passes and its broken twin fails. Jobs written with Streamproof: "yes" where
the example leaves the same rows and the same account as on the newest version, and the quick plan passes. Anything else is printed as it was found.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from versions.environments import FOLDER, Environment, made, newest_wheel
from versions.kinds import JOBS as PLAIN_JOBS
from versions.kinds import KINDS, Kind
from versions.upgrades import GOES_ON, REFUSED, gone_on
from versions.worked import EXAMPLES, JOBS, Example, Ran

VERSIONS = ("3.5", "4.0", "4.1", "4.2", "4.3")
NOT_THERE = "does not exist"
AROUND_A_COMMIT = "[cp][ou]*"  # publish/... and commit/...
YES = "yes"
EVENTS = 2_000
"""So many at most of an example's scenario: risk_exposure has 50,000."""
PARTS = ("plain", "ours", "upgrades")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make versions", description=__doc__)
    parser.add_argument("--spark", default=",".join(VERSIONS), help="versions, with commas: 3.5,4.0")
    parser.add_argument("--only", default="*", help="a glob over the jobs: 'sessions*'")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the environments are made")
    asked = parser.parse_args()
    versions, parts, wheel = asked.spark.split(","), asked.parts.split(","), newest_wheel()
    environments = [made(version, wheel, below=asked.folder) for version in versions]
    own = [one for one in environments if one.version != "3.5"]
    jobs = [name for name in JOBS if fnmatch(name, asked.only)]
    tables: list[Iterator[str]] = []
    sound = True
    if "plain" in parts:
        kinds = [kind for kind in KINDS if fnmatch(kind.target, asked.only)]
        cells = {kind.says: [_told(one, kind.target, _cell(kind, one)) for one in environments] for kind in kinds}
        tables.append(_rows("your job is", versions, cells))
        sound = sound and _all(cells, YES, NOT_THERE)
    whole = {name: {one.version: _whole(name, one) for one in own} for name in jobs} if {"ours", "upgrades"} & {*parts} else {}
    if "ours" in parts:
        cells = {
            f"`{name}`: {EXAMPLES[name]}": [_told(one, name, _ours(name, one, ran, ran[own[-1].version])) for one in own]
            for name, ran in whole.items()
            if name in EXAMPLES
        }
        tables.append(_rows("a job written with Streamproof", [one.version for one in own], cells))
        sound = sound and _all(cells, YES)
    if "upgrades" in parts and len(own) > 1:
        found = [gone_on(name, own, ran, asked.folder / "upgrades") for name, ran in whole.items()]
        cells = {
            f"written by Spark {before.version}": [
                _of_all(one.get((before.version, after.version), "-") for one in found) for after in own
            ]
            for before in own
        }
        tables.append(_rows("a checkpoint", [f"under {one.version}" for one in own], cells))
        sound = sound and _all(cells, "-", GOES_ON, REFUSED)
    print("\n\n".join("\n".join(table) for table in tables))
    return 0 if sound else 1


def _told(environment: Environment, job: str, found: str) -> str:
    print(f"{environment.version}  {job:<28} {found}", file=sys.stderr, flush=True)
    return found


def _all(cells: Mapping[str, Sequence[str]], *sound: str) -> bool:
    return all(cell in sound for row in cells.values() for cell in row)


def _of_all(found: Iterator[str]) -> str:
    """What all examples say, once where they agree."""
    return "; ".join(dict.fromkeys(found))


def _cell(kind: Kind, environment: Environment) -> str:
    if not kind.there(environment.version):
        return NOT_THERE
    settings = kind.settings(environment.version)
    sound, counts = _proved(environment, f"{PLAIN_JOBS}/{kind.target}", kind.words, *settings, "--quick")
    if sound != 0:
        return f"exit code {sound} ({counts})"
    twin = f"{PLAIN_JOBS}/broken/{kind.target}"
    broken, counts = _proved(environment, twin, kind.words, *settings, "--quick", "--only", AROUND_A_COMMIT, "-x")
    return YES if broken == 1 else f"the broken twin: exit code {broken} ({counts})"


def _proved(environment: Environment, target: str, words: Sequence[str], *options: str) -> tuple[int, str]:
    """The exit code of a proof, and its counts or what it printed."""
    place = environment.folder / "proofs" / "-".join(Path(target.partition(":")[0]).parts[-2:])
    place.mkdir(parents=True, exist_ok=True)
    report = place / "report.json"
    report.unlink(missing_ok=True)
    done = environment.streamproof("prove", target, *words, *options, "--report", place, cwd=place)
    (place / "output.txt").write_text(done.stdout + done.stderr)
    if not report.is_file():
        return done.returncode, (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
    found = json.loads(report.read_text())
    return done.returncode, ", ".join(f"{count} {verdict}" for verdict, count in found["counts"].items())


def _whole(name: str, environment: Environment) -> Ran:
    """What an example leaves after two starts on one version."""
    example = Example(name, environment.folder / "worked" / name)
    example.begin()
    example.feed(second=False)
    first = example.run(environment)
    if first.code:
        return first
    example.feed(second=True)
    return example.run(environment)


def _ours(name: str, environment: Environment, ran: Mapping[str, Ran], newest: Ran) -> str:
    """Whether an example leaves what it leaves on the newest version, and is proved by the quick plan."""
    other = ran[environment.version].differs(newest)
    if other:
        return other
    job = Example(name, environment.folder / "proofs" / "jobs" / name)
    job.begin()
    code, counts = _proved(environment, str(job.folder), (), "--quick", "--events", str(min(EVENTS, job.events)))
    return YES if code == 0 else f"runs; the proof: exit code {code} ({counts})"


def _rows(first: str, columns: Sequence[str], table: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for says, cells in table.items():
        yield f"| {says} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
