"""`make versions`: installs the wheel beside each version of PySpark, runs and proves jobs there, and prints the tables of the guides.

Plain PySpark jobs: a cell says "yes" where the quick plan of the job passes and its broken twin fails. Jobs written with Streamproof: "yes" where
the example leaves the same rows and the same account as on the newest version, and the quick plan passes; on services, where the quick plan passes.
Lookups in Delta Lake: "yes" where the prices, the versions in the manifests and the refusals are those that the case asks for. Checkpoints: "yes"
where `inspect` shows of each kind of state, in each kind of store, what the job's own data says. Anything else is printed as it was found.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from versions.checkpoints import NOT_THERE
from versions.checkpoints import table as states_read
from versions.delta import NO_JAR
from versions.delta import table as looked_up_in_delta
from versions.environments import FOLDER, Environment, made, newest_wheel
from versions.inspected import NO_READER, YES
from versions.kinds import JOBS as PLAIN_JOBS
from versions.kinds import KINDS, Kind
from versions.upgrades import GOES_ON, REFUSED, Second, two_starts
from versions.worked import EXAMPLES, JOBS, Example, Ran, there

VERSIONS = ("3.5", "4.0", "4.1", "4.2", "4.3")
AROUND_A_COMMIT = "[cp][ou]*"  # publish/... and commit/...
EVENTS = 2_000
"""So many at most of an example's scenario: risk_exposure has 50,000."""
PARTS = ("plain", "ours", "services", "upgrades", "delta", "inspect")


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
    if {"ours", "upgrades"} & {*parts}:
        across = "upgrades" in parts and len(own) > 1
        having = {name: [one for one in own if there(name, one.version)] for name in jobs}
        found = {name: [*_started(name, having[name], asked.folder / "worked", across=across)] for name in jobs}
        whole = {name: {one.after: one.ran for one in ran if one.before == one.after} for name, ran in found.items()}
        if "ours" in parts:
            cells = {
                f"`{name}`: {EXAMPLES[name]}": [_told(one, name, _ours(name, one, whole[name], own[-1])) for one in own]
                for name in jobs
                if name in EXAMPLES
            }
            tables.append(_rows("a job written with Streamproof", [one.version for one in own], cells))
            sound = sound and _all(cells, YES, NOT_THERE)
        if across:
            cells = {f"written by Spark {before.version}": [_after(before, after, found, whole) for after in own] for before in own}
            tables.append(_rows("a checkpoint", [f"under {one.version}" for one in own], cells))
            sound = sound and _all(cells, GOES_ON, REFUSED)
    if "services" in parts:
        cells = {"`risk_exposure` on Kafka, a registry, PostgreSQL": [_told(one, "services", _on_services(one)) for one in own]}
        tables.append(_rows("a job on services", [one.version for one in own], cells))
        sound = sound and _all(cells, YES)
    if "delta" in parts:
        cells = looked_up_in_delta(own, asked.only, asked.folder / "delta")
        cells = {case: [_told(one, case, cell) for one, cell in zip(own, row, strict=True)] for case, row in cells.items()}
        tables.append(_rows("a lookup in a table of Delta Lake", [one.version for one in own], cells))
        sound = sound and _all(cells, YES, NO_JAR)
    if "inspect" in parts:
        for title, readers in (
            (f"state, read on Spark {environments[-1].version}", [environments[-1]] * len(environments)),
            ("state, read on the Spark that wrote it", environments),
        ):
            cells = states_read(environments, readers, asked.only, asked.folder / "states")
            tables.append(_rows(title, versions, cells))
            sound = sound and _all(cells, YES, NOT_THERE, NO_READER)
    print("\n\n".join("\n".join(table) for table in tables))
    return 0 if sound else 1


def _told(environment: Environment, job: str, found: str) -> str:
    print(f"{environment.version}  {job:<28} {found}", file=sys.stderr, flush=True)
    return found


def _all(cells: Mapping[str, Sequence[str]], *sound: str) -> bool:
    return all(cell in sound for row in cells.values() for cell in row)


def _started(name: str, own: Sequence[Environment], folder: Path, *, across: bool) -> Iterator[Second]:
    for one in two_starts(name, own, folder, across=across):
        told = f"exit code {one.ran.code}, {sum(one.ran.rows.values())} rows"
        print(f"{one.before} and then {one.after}  {name:<16} {told}", file=sys.stderr, flush=True)
        yield one


def _after(
    before: Environment, after: Environment, found: Mapping[str, Sequence[Second]], whole: Mapping[str, Mapping[str, Ran]]
) -> str:
    """What all jobs say of one direction, once where they agree."""
    pair = (before.version, after.version)
    judged = (
        one.judged(whole[name][after.version]) for name, ran in found.items() for one in ran if (one.before, one.after) == pair
    )
    return "; ".join(dict.fromkeys(judged)) or "not tried: the first start failed"


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


def _ours(name: str, environment: Environment, ran: Mapping[str, Ran], newest: Environment) -> str:
    """Whether an example leaves what it leaves on the newest version, and is proved by the quick plan."""
    if not there(name, environment.version):
        return NOT_THERE
    other = ran[environment.version].differs(ran[newest.version])
    if other:
        return other
    job = Example(name, environment.folder / "proofs" / "jobs" / name)
    job.begin()
    code, counts = _proved(environment, str(job.folder), (), "--quick", "--events", str(min(EVENTS, job.events)))
    return YES if code == 0 else f"runs; the proof: exit code {code} ({counts})"


def _on_services(environment: Environment) -> str:
    """Whether the main example is proved on real services, started for it."""
    job = Example("risk_exposure", environment.folder / "proofs" / "services" / "risk_exposure")
    job.begin()
    options = ("--profile", "services", "--quick", "--events", str(EVENTS))
    code, counts = _proved(environment, str(job.folder), (), *options)
    return YES if code == 0 else f"exit code {code} ({counts})"


def _rows(first: str, columns: Sequence[str], table: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for says, cells in table.items():
        yield f"| {says} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
