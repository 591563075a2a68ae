"""`streamproof init DIR`: a folder that runs and proves as it stands, with an example's records or with the user's own."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError

EXAMPLES = """\b
Examples:
  streamproof init my_job && streamproof prove my_job
  streamproof init my_job --from trades.jsonl
"""
TEMPLATES = Path(__file__).parent / "templates"
_GENERATED = {"__pycache__"}


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it must not exist, or be empty.")],
    sample: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="SAMPLE",
            help="A file with records of your own, JSON lines, CSV with a header, Parquet or Avro: job, configuration and scenario fit them.",
        ),
    ] = None,
) -> None:
    """Make a folder with a job, its configuration, a scenario, sample data and a test. You can run and prove it at once."""
    notes: tuple[str, ...] = ()
    if sample is None:
        written = write_templates(directory)
    else:
        written, notes = write_from_sample(directory, sample)
    out, typed = screen.console(), shlex.quote(str(directory))
    out.print(f"made {directory}: {', '.join(written)}")
    for note in notes:
        out.print(f"note: {note}")
    out.print()
    out.print(f"  streamproof check {typed}    look at configuration, Java and Spark")
    out.print(f"  streamproof run {typed}      run it on the sample data")
    out.print(f"  streamproof prove {typed}    crash it everywhere and show that no event is lost or doubled")


def write_templates(directory: Path) -> list[str]:
    """Copy the templates into a new or empty folder, and return what is at its top.

    Raises
    ------
    ConfigurationError
        If something is there already, or the folder cannot be written.
    """
    _require_new(directory)
    try:
        files = [path for path in sorted(TEMPLATES.rglob("*")) if path.is_file() and not _GENERATED & set(path.parts)]
        for age, template in zip(range(len(files), 0, -1), files, strict=True):
            place = directory / template.relative_to(TEMPLATES)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(template.read_bytes())
            written = place.stat().st_mtime
            os.utime(place, (written - age, written - age))  # Spark reads files by age: a second between two keeps their order
    except OSError as problem:
        raise ConfigurationError(f"{directory} cannot be written: {problem.strerror}.") from None
    return _names_in(directory)


def write_from_sample(directory: Path, sample: Path) -> tuple[list[str], tuple[str, ...]]:
    """Write a job that fits a sample into a new or empty folder, and return what is at its top and what there is to say of the sample.

    Raises
    ------
    ConfigurationError
        If something is there already, the folder cannot be written, or the file is no sample.
    """
    from streamproof.cli.init_from import fitted, write_fitted

    _require_new(directory)
    fit = fitted(sample)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ConfigurationError(f"{directory} cannot be written: {problem.strerror}.") from None
    write_fitted(directory, fit)
    return _names_in(directory), fit.notes


def _require_new(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise ConfigurationError(f"{directory} is a file.", required="init makes a folder.", remedy="Give another name.")
    if directory.is_dir() and any(directory.iterdir()):
        raise ConfigurationError(
            f"{directory} is not empty.",
            required="init writes into a new or empty folder only, and overwrites nothing.",
            remedy="Give another name.",
        )


def _names_in(directory: Path) -> list[str]:
    return sorted(f"{path.name}/" if path.is_dir() else path.name for path in directory.iterdir())
