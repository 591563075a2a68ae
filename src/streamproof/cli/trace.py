"""`streamproof trace RUN EVENT`: where an event of a proof went, and which events made a row."""

import json
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamproof.cli import screen
from streamproof.cli.report import RUN, folder_of
from streamproof.core.exact_json import json_text

if TYPE_CHECKING:
    from streamproof.prove.lineage.tracing import Run

EXAMPLES = """\b
Examples:
  streamproof trace my_job t-003817                              where did it go, in the newest proof of my_job
  streamproof trace latest t-003817                              the same, from within the folder of the job
  streamproof trace my_job --row "client = 'c17'"                which events made these rows
  streamproof trace my_job t-003817 --scenario publish/exposure@3:after      through a crash and its recovery
  streamproof trace my_job --where "order = 'o-17'"              in production: outputs, side outputs and state of the job itself

\b
An event of a proof is asked for by its trace id (e-003817), or by the value of an id column. Nothing is run: a proof
keeps what this command reads. --where looks at what the job has published where it runs, and starts Spark to read it.
"""
_COLUMNS, _LABEL = 110, 12


def trace(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN)],
    event: Annotated[str | None, typer.Argument(metavar="[EVENT]", help="A trace id, or the value of an id column.")] = None,
    row: Annotated[
        str | None,
        typer.Option(
            metavar="SQL", help="Instead of an event: the published rows for which this holds, and the events that made them."
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="SQL",
            help="Look at the job itself, and not at a proof: the rows for which this holds, of its outputs and its state.",
        ),
    ] = None,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="With --where: the profile that the job runs with.")] = None,
    output: Annotated[str | None, typer.Option(metavar="NAME", help="With --row: look at this output alone.")] = None,
    scenario: Annotated[
        str | None, typer.Option(metavar="ID", help="The scenario to look at. Without it: the run without a fault.")
    ] = None,
    job: Annotated[
        Path, typer.Option("--job", metavar="DIR", help="The folder of the job, where RUN is a number or latest.")
    ] = Path(),
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Show so many events or rows.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
) -> None:
    """Follow an event of a proof: file, batch, operators, windows, outputs, state; or a row back to its events."""
    if sum(asked is not None for asked in (event, row, where)) != 1:
        raise typer.BadParameter("it takes an EVENT, --row or --where, one of them, as in: streamproof trace latest t-003817")
    if profile is not None and where is None:
        raise typer.BadParameter("--profile goes with --where: a proof has been made with one already")
    if output is not None and row is None:
        raise typer.BadParameter("--output goes with --row: an event is followed to all outputs")
    if where is not None:
        _show_whereabouts(run, where, profile, limit, as_json=as_json)
        return
    from streamproof.prove.lineage.kept import Kept
    from streamproof.prove.lineage.tracing import Run
    from streamproof.report import store

    named = folder_of(run, job)
    folder = named if named.is_dir() else named.parent
    found = Run(Kept(folder), store.load(folder)["scenarios"], scenario)
    if event is not None:
        _show_events(found, folder, event, limit, as_json=as_json)
    elif row is not None:
        _show_rows(found, folder, row, output, limit, as_json=as_json)


def _show_events(found: "Run", folder: Path, name: str, limit: int, *, as_json: bool) -> None:
    from streamproof.prove.lineage import words

    traced = found.event(name)
    if as_json:
        _print_json({"run": folder.name, "scenario": found.setting.as_dict(), "events": [one.as_dict() for one in traced]})
        return
    for one in traced[:limit]:
        _print(
            words.headline(one),
            folder,
            [*words.scenario_lines(found.setting), *words.event_lines(one, found.setting, found.events)],
        )
    _say_more(len(traced), limit, "events are called so")


def _show_rows(found: "Run", folder: Path, condition: str, output: str | None, limit: int, *, as_json: bool) -> None:
    from streamproof.prove.lineage import words

    rows = found.rows(condition, output)
    if as_json:
        _print_json({"run": folder.name, "scenario": found.setting.as_dict(), "rows": [one.as_dict() for one in rows]})
        return
    for one in rows[:limit]:
        _print(
            f"a row of {one.output}",
            folder,
            [*words.scenario_lines(found.setting), *words.row_lines(one, found.setting, found.events)],
        )
    _say_more(len(rows), limit, "rows fit")


def _show_whereabouts(job: str, where: str, profile: str | None, limit: int, *, as_json: bool) -> None:
    from streamproof.cli.whereabouts import print_whereabouts
    from streamproof.runtime.spark.environment import find_java, find_spark
    from streamproof.runtime.spark.failures import telling_of_a_dead_jvm
    from streamproof.runtime.spark.run_log import passing_log
    from streamproof.runtime.spark.session import start_session

    find_spark()
    find_java()
    with passing_log() as log, screen.waiting("looking") as say, telling_of_a_dead_jvm("Nothing was changed: trace only reads."):
        from streamproof.whereabouts import whereabouts

        found = whereabouts(
            job, where, profile=profile, limit=limit, spark=start_session("streamproof trace", {}, log=log), say=say
        )
    if as_json:
        rows = [{**one.as_dict(), "row": dict(one.row)} for one in found.found]
        screen.console().print(json_text({**found.as_dict(), "found": rows}, indent=2))
    else:
        print_whereabouts(found, where, screen.console())


def _print(headline: str, folder: Path, lines: list[tuple[str, str]]) -> None:
    from rich.text import Text

    from streamproof.report.words import printable

    out = screen.console()
    out.print(Text(printable(headline), style="bold") + Text(f" · run {folder.name}", style="dim"))
    columns = min(out.width, _COLUMNS) if out.is_terminal else _COLUMNS
    for label, text in lines:
        for number, part in enumerate(wrap(printable(text), columns - _LABEL - 2) or [""]):
            shown = label if number == 0 else ""
            out.print(Text(f"  {shown.ljust(_LABEL)}", style="bold red" if label.isupper() else "dim") + Text(part))


def _say_more(count: int, limit: int, what: str) -> None:
    if count > limit:
        screen.console().print(
            f"{count:,} {what}, of which the first {limit} {'is' if limit == 1 else 'are'} shown: --limit {count} shows all"
        )


def _print_json(found: dict[str, Any]) -> None:
    screen.console().print(json.dumps(found, indent=2, default=str))
