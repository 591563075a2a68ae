"""`streamproof init DIR`: a folder that runs and proves as it stands."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError

EXAMPLES = """\b
Example:
  streamproof init my_job && streamproof prove my_job
"""
TEMPLATES = Path(__file__).parent / "templates"
_GENERATED = {"__pycache__"}


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it must not exist, or be empty.")],
) -> None:
    """Make a folder with a job, its configuration, a scenario, sample data and a test; it runs and proves as it stands."""
    written = write_templates(directory)
    out, typed = screen.console(), shlex.quote(str(directory))
    out.print(f"made {directory}: {', '.join(written)}")
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
    if directory.exists() and not directory.is_dir():
        raise ConfigurationError(f"{directory} is a file.", required="init makes a folder.", remedy="Give another name.")
    if directory.is_dir() and any(directory.iterdir()):
        raise ConfigurationError(
            f"{directory} is not empty.",
            required="init writes into a new or empty folder only, and overwrites nothing.",
            remedy="Give another name.",
        )
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
    return sorted(f"{path.name}/" if path.is_dir() else path.name for path in directory.iterdir())
