"""`streamproof check TARGET`: configuration, job, scenario, Java, Spark and folders, without starting any of them."""

from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen

if TYPE_CHECKING:
    from streamproof.runtime.preflight import Finding

EXAMPLES = """\b
Examples:
  streamproof check my_job
  streamproof check my_job --profile local
"""

Target = Annotated[
    str, typer.Argument(metavar="TARGET", help="A folder with streamproof.toml, that file, or file.py[:function] beside it.")
]
Debug = Annotated[
    bool,
    typer.Option("--debug", callback=screen.show_traces, help="Print the whole trace of an error, and Spark's log, on the screen."),
]
Profile = Annotated[str | None, typer.Option(metavar="NAME", help="Use the keys of [profile.NAME] in place of the others.")]


def check(target: Target = ".", profile: Profile = None, debug: Debug = False) -> None:  # noqa: ARG001 -- its callback acts
    """Check configuration, job, scenario, Java, Spark and folders. It takes under two seconds and starts no JVM."""
    from rich.text import Text

    from streamproof.runtime.preflight import look_at

    out, found = screen.console(), [*look_at(target, profile=profile), *_scenario(target, profile)]
    width = max(len(item.what) for item in found)
    for item in found:
        line = Text(f"  {screen.sign(item.good)} ", style="green" if item.good else "bold red")
        first, *rest = item.says.splitlines() or [""]
        line.append(f"{item.what:<{width}}   {first}", style="default not bold")
        out.print(line)
        for more in rest:
            out.print(" " * (width + 7) + more)
    bad = sum(not item.good for item in found)
    out.print()
    if bad:
        out.print(f"{bad} of {len(found)} to fix")
        raise typer.Exit(2)
    unseen = [item.what for item in found if not item.looked_at]
    there = f"all is there, as far as it can be seen from here (not {', '.join(unseen)})" if unseen else "all is there"
    out.print(f"{there}; Spark checks the job's expressions when it runs; next: streamproof run {screen.typed(target, profile)}")


def _scenario(target: str, profile: str | None) -> "list[Finding]":
    """What there is to say of the scenario that lies beside the job; nothing where there is none, or no job to lie beside."""
    from streamproof.config import load, redact
    from streamproof.core.paths import display
    from streamproof.errors import StreamproofError
    from streamproof.prove.scenario.scenario import FILE_NAME, load_scenario
    from streamproof.runtime.preflight import Finding

    try:
        file = load(target, profile=profile).root / FILE_NAME
    except StreamproofError:
        return []
    if not file.exists():
        return []
    try:
        events = load_scenario(file).events
    except StreamproofError as problem:
        return [Finding("scenario", False, redact(str(problem)))]
    return [Finding("scenario", True, f"{display(file)}, {events:,} events")]
