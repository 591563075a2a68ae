"""Rows looked up in a table of Delta Lake on each version of Spark, with the jar that Delta has for it."""

import json
import shutil
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from versions.environments import Environment

HERE = Path(__file__).parent
CASES: Mapping[str, str] = {
    "start": "read at the start of each run, after an append",
    "refresh": "read again before each batch: append, overwrite, `UPDATE`, `DELETE`",
    "deleted": "rows deleted by deletion vectors",
    "as-of": "as of event time",
    "killed": "a killed batch is done again with its version: overwritten and vacuumed meanwhile",
    "gone-version": "that version is nowhere any more: refused; after `RESTORE` it goes on",
    "bad": "gone, no table, vacuumed too early, two rows for one key, another type: refused, or the former version stays",
    "settings": "its jar without its settings: refused, with the lines to add",
}
"""By name what the guide says of a case of `delta_lookups.py`."""
NO_JAR = "no jar of Delta Lake"
JARS: Mapping[str, str] = {version: f"io.delta:delta-spark_{version}_2.13:4.4.0" for version in ("4.0", "4.1", "4.2")}
"""By version of Spark; Delta Lake has no release for another one."""


def table(environments: Sequence[Environment], only: str, folder: Path) -> dict[str, list[str]]:
    """A row for each case: for each environment what came of it."""
    found = {one.version: _of_version(one, only, folder / one.version) for one in environments}
    return {says: [found[one.version][case] for one in environments] for case, says in CASES.items() if fnmatch(case, only)}


def _of_version(environment: Environment, only: str, folder: Path) -> Mapping[str, str]:
    packages = JARS.get(environment.version)
    if packages is None:
        return dict.fromkeys(CASES, NO_JAR)
    shutil.rmtree(folder, ignore_errors=True)
    program = ("-m", "versions.delta_lookups", folder, "--packages", packages, "--only", only)
    done = environment.run(environment.python, *program, cwd=HERE.parent)
    said = dict(_case(line) for line in done.stdout.splitlines() if line.startswith("{"))
    ended = " ".join((done.stderr.strip() or "nothing was said").splitlines()[-1:])
    return {case: said.get(case, f"not tried: {ended}") for case in CASES}


def _case(line: str) -> tuple[str, str]:
    found = json.loads(line)
    return found["case"], found["said"]
