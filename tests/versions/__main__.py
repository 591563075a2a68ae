"""`make versions`: installs the wheel beside each version of PySpark, proves a job of each kind there, and prints the table of the guide.

A cell says "yes" where the quick plan of the job passes and its broken twin fails. Anything else is printed as it was found.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from versions.kinds import JOBS, KINDS, Kind

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.5", "4.0", "4.1", "4.2", "4.3")
NOT_THERE = "does not exist"
AROUND_A_COMMIT = "[cp][ou]*"  # publish/... and commit/...
OURS = "a job written with Streamproof (`@sp.job`)"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make versions", description=__doc__)
    parser.add_argument("--spark", default=",".join(VERSIONS), help="versions, with commas: 3.5,4.0")
    parser.add_argument("--only", default="*", help="a glob over the jobs: 'sessions*'")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "versions", help="where the environments are made")
    asked = parser.parse_args()
    wheel = max((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    kinds = [kind for kind in KINDS if fnmatch(kind.target, asked.only)]
    table: dict[str, list[str]] = {kind.says: [] for kind in kinds} | {OURS: []}
    versions = asked.spark.split(",")
    for version in versions:
        environment = _environment(asked.folder / version, version, wheel)
        for kind in kinds:
            found = _cell(kind, version, environment)
            table[kind.says].append(found)
            print(f"{version}  {kind.target:<28} {found}", file=sys.stderr, flush=True)
        table[OURS].append(_ours(environment))
    print("\n".join(_rows(versions, table)))
    return 0 if all(cell in ("yes", NOT_THERE, "refused") for cells in table.values() for cell in cells) else 1


def _environment(folder: Path, version: str, wheel: Path) -> Path:
    """A virtual environment with the wheel and this PySpark; its `bin`."""
    if not (folder / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"pyspark=={version}.*", f"{wheel}"], check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", wheel], check=True)  # another build of the same version
    return folder / "bin"


def _cell(kind: Kind, version: str, environment: Path) -> str:
    if not kind.there(version):
        return NOT_THERE
    settings = kind.settings(version)
    sound, counts = _proved(kind, environment, "", *settings, "--quick")
    if sound != 0:
        return f"exit code {sound} ({counts})"
    broken, counts = _proved(kind, environment, "broken/", *settings, "--quick", "--only", AROUND_A_COMMIT, "-x")
    return "yes" if broken == 1 else f"the broken twin: exit code {broken} ({counts})"


def _proved(kind: Kind, environment: Path, below: str, *options: str) -> tuple[int, str]:
    """The exit code of a proof, and its counts or what it printed."""
    place = environment.parent / "proofs" / f"{below}{kind.target.partition(':')[0]}"
    place.mkdir(parents=True, exist_ok=True)
    report = place / "report.json"
    report.unlink(missing_ok=True)
    command = [environment / "streamproof", "prove", f"{JOBS / below}/{kind.target}", *kind.words, *options, "--report", "."]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    (place / "output.txt").write_text(done.stdout + done.stderr)
    if not report.is_file():
        return done.returncode, (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
    found = json.loads(report.read_text())
    return done.returncode, ", ".join(f"{count} {verdict}" for verdict, count in found["counts"].items())


def _ours(environment: Path) -> str:
    """Whether the job that `init` makes runs and is proved by the quick plan, or is refused in one error."""
    place = environment.parent / "proofs"
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "my_job").exists():
        subprocess.run([environment / "streamproof", "init", "my_job"], cwd=place, check=True, capture_output=True)
    done = subprocess.run([environment / "streamproof", "run", "my_job"], cwd=place, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        command = [environment / "streamproof", "prove", "my_job", "--quick"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        (place / "ours.txt").write_text(done.stdout + done.stderr)
        return "yes" if done.returncode == 0 else f"runs; the proof: exit code {done.returncode}"
    refused = done.returncode == 2 and "a job written with Streamproof needs" in done.stderr
    return "refused" if refused else f"exit code {done.returncode}: {done.stderr.strip()}"


def _rows(versions: Sequence[str], table: dict[str, list[str]]) -> Iterator[str]:
    yield f"| your job is | {' | '.join(versions)} |"
    yield "|---" * (len(versions) + 1) + "|"
    for says, cells in table.items():
        yield f"| {says} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
