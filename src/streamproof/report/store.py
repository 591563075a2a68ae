"""Where proofs are kept: `<folder>/.streamproof/runs/0001/`, counted up, each with report.json, report.html and junit.xml."""

import shlex
from pathlib import Path

from streamproof.core.verdict import Verdict
from streamproof.errors import ConfigurationError
from streamproof.report.html import render
from streamproof.report.json_file import read_json, without_secrets, write_json, write_whole
from streamproof.report.junit import junit_xml
from streamproof.report.shape import Report

JSON, HTML, JUNIT = "report.json", "report.html", "junit.xml"


def runs_folder(folder: Path) -> Path:
    """Where the runs of the job in `folder` lie."""
    return folder / ".streamproof" / "runs"


def new_run(folder: Path) -> Path:
    """Create the next run's folder and return it; two proofs at once get two folders."""
    runs = runs_folder(folder)
    runs.mkdir(parents=True, exist_ok=True)
    number = max((int(run.name) for run in _numbered(folder)), default=0)
    while True:
        number += 1
        try:
            (runs / f"{number:04d}").mkdir()
        except FileExistsError:
            continue
        return runs / f"{number:04d}"


def list_runs(folder: Path) -> list[Path]:
    """The runs that have a report, oldest first; [] where nothing was proved."""
    return [run for run in _numbered(folder) if (run / JSON).is_file()]


def _numbered(folder: Path) -> list[Path]:
    runs = runs_folder(folder)
    found = [run for run in runs.iterdir() if run.name.isdecimal() and run.is_dir()] if runs.is_dir() else []
    return sorted(found, key=lambda run: int(run.name))


def find_run(folder: Path, name: str = "latest") -> Path:
    """The run called `name`: "7", "0007" or "latest".

    Raises
    ------
    ConfigurationError
        If there is none of that name; the message says which there are.
    """
    runs = list_runs(folder)
    if name == "latest" and runs:
        return runs[-1]
    for run in runs:
        if name.isdecimal() and int(run.name) == int(name):
            return run
    there = f"There are {runs[0].name} to {runs[-1].name}." if runs else "Nothing has been proved there yet."
    raise ConfigurationError(
        f'{folder} has no run "{name}". {there}',
        required="A run's number, or latest.",
        remedy=f"streamproof report list {shlex.quote(str(folder))}",
    )


def load(path: Path) -> Report:
    """The report in a run's folder, or in a report.json itself; ConfigurationError if it cannot be read."""
    return read_json(path / JSON if path.is_dir() else path)


def write(report: Report, folder: Path) -> None:
    """Write report.json, junit.xml and report.html into `folder`, passwords masked; the data first: it survives the rest."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = without_secrets(report)
    write_json(shown, folder / JSON)
    write_whole(folder / JUNIT, junit_xml(shown))
    write_whole(folder / HTML, render(shown))


def last_failed(folder: Path) -> list[str]:
    """The ids of the scenarios that have not passed when last tried, failing ones first.

    A run of a quick plan, or of a part of a plan, is laid over the last whole run of the same job and seed. So the replay of one of three
    failures does not forget the other two.
    """
    verdicts: dict[str, Verdict] = {}
    newest: Report | None = None
    for run in reversed(list_runs(folder)):
        report = load(run)
        newest = newest or report
        if (report["job"], report["seed"]) != (newest["job"], newest["seed"]):
            continue
        for scenario in report["scenarios"]:
            verdicts.setdefault(scenario["id"], Verdict(scenario["verdict"]))
        if report["plan"] not in ("brief", "quick", "part") and report["scenarios"]:
            break
    missed = [(verdict, name) for name, verdict in verdicts.items() if verdict is not Verdict.PASS]
    return [name for _, name in sorted(missed, key=lambda pair: -pair[0].badness)]
