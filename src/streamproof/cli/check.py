"""`streamproof check TARGET`: configuration, job, scenario, Java, Spark and folders, without starting any of them but by --spark."""

from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen

if TYPE_CHECKING:
    from streamproof.runtime.checks.preflight import Finding

EXAMPLES = """\b
Examples:
  streamproof check my_job
  streamproof check my_job --profile local
  streamproof check my_job --spark
"""

Target = Annotated[
    str, typer.Argument(metavar="TARGET", help="A folder with streamproof.toml, that file, or file.py[:function] beside it.")
]
Debug = Annotated[
    bool,
    typer.Option("--debug", callback=screen.show_traces, help="Print the whole trace of an error, and Spark's log, on the screen."),
]
Profile = Annotated[str | None, typer.Option(metavar="NAME", help="Use the keys of [profile.NAME] in place of the others.")]
WithSpark = Annotated[
    bool,
    typer.Option(
        "--spark", help="Start Spark and let it analyse the plan of every query, with all types. Nothing is run or written."
    ),
]


def check(
    target: Target = ".",
    profile: Profile = None,
    spark: WithSpark = False,
    debug: Debug = False,  # noqa: ARG001 -- its callback acts
) -> None:
    """Check configuration, job, scenario, Java, Spark and folders. Without --spark it takes under two seconds and starts no JVM."""
    from rich.text import Text

    from streamproof.runtime.checks.preflight import look_at

    out, found = screen.console(), [*look_at(target, profile=profile, spark=spark), *_scenario(target, profile)]
    width = max(len(item.what) for item in found)
    for item in found:
        line = Text(f"  {screen.sign(item.good, item.looked_at)} ", style=_style(item))
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
    named = screen.typed(target, profile)
    types = "" if spark else f"; types are looked at by: streamproof check {named} --spark"
    out.print(f"{there}{types}; next: streamproof run {named}")


def _style(item: "Finding") -> str:
    return "bold red" if not item.good else "green" if item.looked_at else "yellow"


def _scenario(target: str, profile: str | None) -> "list[Finding]":
    """The findings about the scenario in the job's folder; none if there is no scenario, or no job."""
    from streamproof.config import load, redact
    from streamproof.errors import StreamproofError
    from streamproof.prove.scenario.fitting import look_at_scenario
    from streamproof.prove.scenario.scenario import FILE_NAME, load_scenario
    from streamproof.runtime.checks.preflight import Finding

    try:
        config = load(target, profile=profile)
    except StreamproofError:
        return []
    if not (config.root / FILE_NAME).exists():
        return []
    try:
        said = look_at_scenario(config)
        if (scenario := load_scenario(config.root)).looks_at_alerts:
            from streamproof.prove.subjects.job.alerts import require_alerts  # it knows every fault, which takes a while to import

            require_alerts(scenario)
        return [Finding("scenario", True, said)]
    except StreamproofError as problem:
        return [Finding("scenario", False, redact(str(problem)))]
