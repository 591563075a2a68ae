"""`streamproof report list|show|compare`: look at stored runs again."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from streamproof.cli import screen

EXAMPLES = """\b
Examples:
  streamproof report list my_job
  streamproof report show latest --job my_job
  streamproof report compare 6 7 --job my_job
"""

app = typer.Typer(help="Look at the reports of earlier proofs.", epilog=EXAMPLES, no_args_is_help=True, rich_markup_mode=None)

Job = Annotated[Path, typer.Option("--job", metavar="DIR", help="The folder of the job.")]
RUN = "A run's number, or latest, or a folder or file with a report, or the folder of a job: its newest run."


@app.command("list")
def list_reports(directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the job.")] = Path()) -> None:
    """List the stored proofs of a job, newest last."""
    from rich.text import Text

    from streamproof.core.verdict import Verdict
    from streamproof.report import store, words
    from streamproof.report.terminal import STYLES

    runs, out = store.list_runs(directory), screen.console()
    if not runs:
        out.print(f"nothing has been proved in {directory} yet: streamproof prove {shlex.quote(str(directory))}")
        return
    for run in runs:
        report = store.load(run)
        line = Text(f"{run.name}  ")
        line.append(f"{report['verdict'].upper():<8}", style=STYLES[Verdict(report["verdict"])])
        line.append(
            f"{words.plan_name(report)}, {words.counted(len(report['scenarios']), 'scenario')}, {words.span(report['seconds'])}   {words.subject(report)}"
        )
        out.print(line)


@app.command("show")
def show(run: Annotated[str, typer.Argument(metavar="RUN", help=RUN)] = "latest", job: Job = Path()) -> None:
    """Show the summary of a stored proof."""
    from streamproof.report import store
    from streamproof.report.terminal import print_summary

    folder = folder_of(run, job)
    page = folder / store.HTML if folder.is_dir() else folder.with_name(store.HTML)
    print_summary(store.load(folder), screen.console(), where=str(page) if page.is_file() else None)


@app.command("compare")
def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=RUN)],
    after: Annotated[str, typer.Argument(metavar="AFTER", help=RUN)] = "latest",
    job: Job = Path(),
) -> None:
    """Compare two stored proofs. The exit code is 1 if something fails now that did not fail before."""
    from streamproof.report import store
    from streamproof.report.compare import compare as compared
    from streamproof.report.compare import print_comparison

    first, second = folder_of(before, job), folder_of(after, job)
    found = compared(store.load(first), store.load(second))
    print_comparison(found, screen.console(), names=(first.name, second.name))
    if found.new_failures:
        raise typer.Exit(1)


def folder_of(run: str, job: Path) -> Path:
    """The folder, or the file, of the report that a command names: by its number, by its path, or by its job, whose newest run it is then.

    Raises
    ------
    ConfigurationError
        If there is none; the message says which there are.
    """
    from streamproof.report import store

    typed = Path(run)
    if not typed.exists():
        typed = Path(run.partition(":")[0])  # a job may be typed as it is for `prove`: job.py:function
    if run.isdecimal() or not typed.exists():
        return store.find_run(job, run)
    if typed.suffix == ".py":
        typed = typed.parent
    return typed if typed.is_file() or (typed / store.JSON).is_file() else store.find_run(typed)
