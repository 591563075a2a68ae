"""`streamproof shrink RUN`: make a failing scenario of a proof as small as it can be."""

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.cli.check import Debug
from streamproof.cli.report import RUN, folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamproof.shrunk import Smallest

EXAMPLES = """\b
Examples:
  streamproof shrink my_job                                          the first scenario that failed in its newest proof
  streamproof shrink 7 publish/exposure@2:after --job my_job
  streamproof shrink my_job --time-budget "10 minutes"
\b
Exit codes:
  0  it was shrunk      2  wrong usage, or nothing failed there      3  it did not fail again
"""

_SHOWN = 10
"""How many events are shown one by one; all of them are in the test and in the file."""
_DEFAULT = "3 minutes"
BUDGET = timedelta(minutes=3)
"""The same for `prove --shrink`."""


def shrink(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN)] = "latest",
    scenario: Annotated[
        str | None, typer.Argument(metavar="SCENARIO", help="The id of a scenario that failed. The first one unless given.")
    ] = None,
    job: Annotated[Path, typer.Option("--job", metavar="DIR", help="The folder of the job.")] = Path(),
    time_budget: Annotated[
        str, typer.Option(metavar="DURATION", help='How long the reducing may take, such as "10 minutes".')
    ] = _DEFAULT,
    debug: Debug = False,  # noqa: ARG001 -- its callback acts
) -> None:
    """Reduce a failing scenario to the fewest events, batches and faults that still fail with the same finding."""
    from streamproof.core.durations import parse_duration

    try:
        budget = parse_duration(time_budget)
    except ValueError as problem:
        raise typer.BadParameter(f"--time-budget: {problem}") from None
    folder = folder_of(run, job)
    raise typer.Exit(shrunk_on_screen(folder if folder.is_dir() else folder.parent, scenario, budget))


def shrunk_on_screen(run: Path, scenario: str | None, budget: timedelta, report: Path | None = None) -> int:
    """Shrinks, shows how far it is and what came of it; the exit code. `report` is a folder beside the run that has its reports too."""
    from streamproof.prove.process import apart
    from streamproof.report import store

    if apart.state() is None:
        apart.enter(network=not store.load(run).get("request", {}).get("allow_hosts"))
    from streamproof.cli.interrupting import Interruption, interruptible
    from streamproof.errors import StreamproofError
    from streamproof.progress import progress_on
    from streamproof.prove.events import Preparing

    out, interruption = screen.console(), Interruption()
    try:
        with progress_on(out) as progress:
            progress(Preparing("loading PySpark"))
            from streamproof.shrunk import shrink as shrink_run

            found = interruptible(
                lambda end: shrink_run(run, scenario, budget=budget, listener=progress, end=end),
                interruption,
                stopping=lambda: screen.print_note("stopping: the try that runs is waited for. A second signal leaves at once."),
            )
    except StreamproofError as problem:
        screen.print_error(problem)
        return problem.exit_code
    except KeyboardInterrupt:
        screen.print_problem("Stopped before anything had failed again: nothing was shrunk.")
        if interruption.asked.is_set():
            sys.stdout.flush()
            os._exit(interruption.exit_code)
        return interruption.exit_code
    if found.result.exactly is None:
        screen.print_problem("\n".join(not_again(found)))
        return 3
    if report is not None:
        store.write(store.load(run), report)
    for line in lines(found):
        out.print(line, soft_wrap=True)
    return 0


def not_again(found: "Smallest") -> "Sequence[str]":
    """What is said of a scenario that did not fail again."""
    return (
        f"{found.scenario} did not fail again: {found.finding.checker} ({found.finding.code}) found nothing in {found.result.tries} runs.",
        "A scenario is shrunk that fails each time. This one hangs on chance, or the job, its model or its libraries have changed since.",
        "Prove the job again, and look what differs from run to run: clocks, random numbers, the order of rows.",
    )


def lines(found: "Smallest") -> "Sequence[str]":
    """What is said of a scenario that was shrunk."""
    from streamproof.prove.shrink.shrinking import Size
    from streamproof.report.words import counted, span

    def size(one: Size) -> str:
        return f"{counted(one.events, 'event')}, {counted(one.batches, 'batch', 'batches')}, {counted(one.faults, 'fault')}"

    result, failed = found.result, found.result.failed
    assert failed is not None, "it was shrunk"
    assert result.exactly is not None, "it was shrunk"
    finding = failed.finding
    what = finding.as_dict()["what"]
    said = ["", f"smallest scenario of {found.scenario}"]
    said.append(f"  finding     {found.finding.checker} ({found.finding.code}): {what}")
    said.append(f"  it had      {size(result.whole)}")
    said.append(f"  it has      {size(result.smallest)}   after {counted(result.tries, 'try', 'tries')}, {span(result.seconds)}")
    if not result.to_the_end:
        said.append("  not all     the time was used up: fewer may be enough. --time-budget gives it more")
    if result.not_run:
        first = result.not_run[0].partition("\n")[0]
        said.append(
            f"  not run     {counted(len(result.not_run), 'try', 'tries')} of {result.tries}, taken for parts that do not fail: {first}"
        )
    if not result.again:
        said.append("  not always  it did not fail when it was run once more: it hangs on chance")
    flat = [(event, source) for source, events in result.exactly.of_source.items() for event in events]
    for event, source in sorted(flat, key=lambda one: one[0].batch)[:_SHOWN]:
        record = event.record.decode("utf-8", "backslashreplace")
        said.append(f"  batch {event.batch}     {f'{source}: ' if len(result.exactly.of_source) > 1 else ''}{record}")
    if len(flat) > _SHOWN:
        said.append(f"              and {len(flat) - _SHOWN} more in {found.events_file}")
    said.append(f"  scenario    {failed.scenario}")
    said.append(f"  replay      {found.replay}")
    if found.not_written:
        said.append(f"  report      could not be written again, and does not have this: {found.not_written}")
    said.append(f"  test        {found.test_file}" + ("" if len(flat) <= _SHOWN else ", with the events in it"))
    return [*said, *(["", *found.test.splitlines()] if len(flat) <= _SHOWN else [])]
