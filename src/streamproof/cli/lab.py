"""`streamproof lab up|status|down|fetch`: real services on this machine, without Docker."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamproof.runtime.spark.artifacts import Progress

NAMES = ("kafka", "registry", "postgres", "redis", "s3", "toxiproxy", "api", "spark")
EXAMPLES = """\b
Examples:
  streamproof lab fetch kafka registry      download once what they need
  streamproof lab up kafka --brokers 3      three brokers on free ports
  streamproof lab status                    what runs, and where
  streamproof lab down                      stop what lab up has started
"""

app = typer.Typer(
    help="Real services for tests and demos, on free ports of this machine.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
)
Folder = Annotated[Path, typer.Option("--dir", metavar="DIR", help="Where the lab keeps its data and logs.")]
Names = Annotated[list[str], typer.Argument(metavar="SERVICE...", help=f"One or several of {', '.join(NAMES)}.")]
DEFAULT = Path(".streamproof", "lab")


@app.command("up", short_help="Start services that stay until lab down.")
def up(
    names: Names,
    brokers: Annotated[int, typer.Option("--brokers", min=1, max=3, help="Kafka brokers: 1 or 3.")] = 1,
    folder: Folder = DEFAULT,
) -> None:
    """Start services and leave them running. All answer when the command ends. They start empty: data of an earlier lab here is deleted."""
    from streamproof.lab import supervisor

    known = _known(names)
    _fetch([name for name in known if name != "toxiproxy"])
    with screen.waiting("starting") as doing:
        doing(", ".join(known))
        state = supervisor.up(folder.absolute(), known, brokers)
    _print_services(state.urls)
    screen.console().print(f"\nlogs in {folder}; end it: streamproof lab down{'' if folder == DEFAULT else f' --dir {folder}'}")


@app.command("status", short_help="Show what runs, and where.")
def status(folder: Folder = DEFAULT) -> int:
    """Ask each service whether it answers. The exit code is 1 if one does not, or if nothing runs."""
    from streamproof.lab import services, supervisor

    place = folder.absolute()
    state = supervisor.state_of(place)
    if state is None or state.problem or not supervisor.running(place):
        came_not = f"the last one did not come up: {state.problem}\n" if state is not None and state.problem else ""
        screen.console().print(f"{came_not}no lab is running here: streamproof lab up kafka postgres")
        return 1
    silent = services.silent(state.urls)
    _print_services(state.urls, silent)
    if not state.complete:
        screen.console().print("the lab is being started")
    return 0 if state.complete and not silent else 1


@app.command("down", short_help="Stop what lab up has started.")
def down(folder: Folder = DEFAULT) -> None:
    """Stop the services. Their logs stay."""
    from streamproof.lab import supervisor

    ended = supervisor.down(folder.absolute())
    screen.console().print("the lab is down" if ended else "no lab was running here")


@app.command("fetch", short_help="Download once what services need.")
def fetch(names: Names) -> None:
    """Download or build into a cache what services need beside Python packages. Nothing is downloaded twice."""
    _fetch(_known(names))


def _known(names: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    for name in names:
        if name not in NAMES:
            near = get_close_matches(name, NAMES, n=1)
            raise ConfigurationError(
                f"{name} is no service of the lab.{f' Did you mean {near[0]}?' if near else ''}",
                required=f"The services are {', '.join(NAMES)}.",
            )
    return list(dict.fromkeys(names))


def _fetch(names: Sequence[str]) -> None:
    from streamproof.lab import services

    with _bar() as progress:
        for name in names:
            if not services.there(name):
                services.fetch(name, progress)


@contextmanager
def _bar() -> "Iterator[Progress]":
    """Shows bytes as they come, on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("  fetching {task.description:<10}"), BarColumn(20), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=Console(stderr=True)) as bars:

        def told(name: str, done: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=size)
            bars.update(tasks[name], completed=done)

        yield told


def _print_services(urls: Mapping[str, str], silent: Mapping[str, Sequence[str]] | None = None) -> None:
    out = screen.console()
    for name, url in urls.items():
        quiet = (silent or {}).get(name, ())
        which = "" if len(quiet) == len(url.split(",")) else f": {', '.join(quiet)}"
        out.print(f"  {name:<10} {url}{f'   does not answer{which}' if quiet else ''}")
