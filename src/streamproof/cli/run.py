"""`streamproof run TARGET`: run the job; say where each output went, what is guaranteed, and the account."""

import json
import os
import signal
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.cli.check import Debug, Profile, Target
from streamproof.errors import AccountError, ConfigurationError, StreamproofError

if TYPE_CHECKING:
    from rich.console import Console

    from streamproof.runtime.run import RunResult

EXAMPLES = """\b
Examples:
  streamproof run my_job
  streamproof run my_job --profile local --json
  streamproof run my_job --new-output out/exposure-2     after the checkpoint was lost: publish beside the old output
  streamproof run my_job --accept-replay 7               batch 7 stands as published; its account is unknown
"""


def run(
    target: Target = ".",
    profile: Profile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
    new_output: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Publish the main output to PATH, since the present one belongs to another checkpoint."),
    ] = None,
    replace_output: Annotated[
        bool, typer.Option("--replace-output", help="Delete outputs that belong to another checkpoint, and start over.")
    ] = False,
    accept_replay: Annotated[
        int | None,
        typer.Option(metavar="BATCH", min=0, help="Let the published rows of BATCH stand although its replay computed others."),
    ] = None,
    accept_topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC",
            help="Go on in TOPIC although it is not the one that was read (another id): each record has the same offset. Repeatable.",
        ),
    ] = None,
    accept_lateness: Annotated[
        bool,
        typer.Option("--accept-lateness", help="Go on with another lag or allowed lateness than the checkpoint was made with."),
    ] = False,
    accept_missing: Annotated[
        bool, typer.Option("--accept-missing", help="Go on although published batches are gone from an output, and say which.")
    ] = False,
    replay_last: Annotated[
        bool,
        typer.Option(
            "--replay-last", help="Compute the newest batch again from its recorded input, after the checkpoint was damaged."
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Run the job on what its sources hold; print each output, its guarantee, and where every event is.

    An account that does not add up is exit code 4; one that is unknown since a batch is a note. Ctrl-C and SIGTERM end the job behind the
    batch that is under way, with the account so far and exit code 130 or 143; the second one at once.
    """
    if new_output and replace_output:
        raise typer.BadParameter("--new-output and --replace-output exclude each other: the old output is kept, or it is deleted.")
    from streamproof.config import load

    config = load(target, profile=profile)
    from streamproof.runtime.environment import find_java, find_spark

    find_java()
    find_spark()
    from streamproof.cli.interrupting import Interruption, interruptible
    from streamproof.runtime.run import run_job
    from streamproof.runtime.run_log import open_log, python_side

    interruption = Interruption()
    log = None if debug else open_log(config.root)
    result: RunResult
    wrong: AccountError | None = None
    try:
        with python_side(log), screen.waiting(f"running {config.name}") as told:
            result = interruptible(
                lambda end: run_job(
                    config,
                    new_output=new_output,
                    replace_output=replace_output,
                    accept_replay=accept_replay,
                    accept_topics=accept_topic or (),
                    accept_lateness=accept_lateness,
                    accept_missing=accept_missing,
                    replay_last=replay_last,
                    end=end,
                    told=told,
                    log=log,
                ),
                interruption,
            )
    except AccountError as problem:  # the job ran to its end: what it did is said too
        result, wrong = problem.result, problem
    except StreamproofError as problem:
        screen.print_error(problem, target=target, profile=profile, log=_worth_reading(log, problem))
        raise typer.Exit(problem.exit_code) from None
    except KeyboardInterrupt:
        screen.print_problem(
            "Stopped. Every batch that was published stays, with its ledger; the one that was under way is done again.\n"
            f"Go on with: streamproof run {screen.typed(target, profile)}"
        )
        if interruption.twice:  # at once: what hangs in other threads would be waited for
            sys.stdout.flush()
            os._exit(interruption.exit_code)
        raise typer.Exit(interruption.exit_code) from None
    out = screen.console()
    if as_json:
        print_json(result, out)
    else:
        print_result(result, out)
    if wrong is not None:
        screen.print_error(wrong, target=target, profile=profile)
    if result.ended_early:
        how = "SIGTERM" if interruption.signal is signal.SIGTERM else "Ctrl-C"
        screen.print_note(f"Ended by {how}. Go on with: streamproof run {screen.typed(target, profile)}")
    if wrong is not None:  # also of a job that only ends when it is asked to
        raise typer.Exit(wrong.exit_code)
    if result.ended_early:
        raise typer.Exit(interruption.exit_code)


def _worth_reading(log: Path | None, problem: StreamproofError) -> Path | None:
    """The log, as it is typed from here, where anything was logged and what stopped the run is not said already."""
    from streamproof.core.paths import display

    if log is None or isinstance(problem, ConfigurationError) or not log.stat().st_size:
        return None
    return Path(display(log))


def print_json(result: "RunResult", out: "Console") -> None:
    """Print the result as one JSON object; times are ISO 8601, and each account says whether it adds up."""
    found = asdict(result)
    for shown, each in zip(found["accounts"], result.accounts, strict=True):
        shown["adds_up"] = each.adds_up
    out.print(json.dumps(found, indent=2, default=lambda value: value.isoformat() if isinstance(value, datetime) else str(value)))


def print_result(result: "RunResult", out: "Console") -> None:
    """Print a line an output, then the account and what is still open."""
    from rich.text import Text

    from streamproof.report.words import PLACES, number, span

    batches = f"{result.batches} batch{'' if result.batches == 1 else 'es'}"
    if result.without_input:
        batches += f" ({result.without_input} without input, as the watermark went on)"
    out.print(f"{result.job} · {batches} · {number(result.rows_in)} rows in · {span(result.seconds)}")
    columns = [
        (each.name, screen.redacted(_shown_place(each.where)), each.format, f"{number(each.rows)} rows") for each in result.outputs
    ]
    widths = [max((len(row[column]) for row in columns), default=0) for column in range(4)]
    for output, row in zip(result.outputs, columns, strict=True):
        reasons = " · ".join(f"{number(count)} {reason}" for reason, count in output.reasons.items())
        cells = (
            *(f"{cell:<{width}}" for cell, width in zip(row[:3], widths, strict=False)),
            f"{row[3]:>{widths[3]}}",
            output.guarantee,
        )
        out.print(f"  {'   '.join(cells)}{f'     {reasons}' if reasons else ''}")
    label = max(len("account"), widths[0])
    for each in result.accounts:
        counts = " + ".join(f"{PLACES[place]} {number(count)}" for place, count in each.account.as_dict().items())
        of_query = "" if len(result.accounts) == 1 else f"{each.query}: "
        since = "" if each.input in (0, result.rows_in) else ", since the checkpoint began"
        out.print(f"  {'account':<{label}}   {of_query}{counts} = {number(each.account.total)}{since}")
        if each.unknown_since is not None:
            out.print(f"  {'':<{label}}   unknown since batch {each.unknown_since}")
        elif not each.adds_up:
            missing = each.input - each.account.total
            wrong = f"{number(abs(missing))} {'missing' if missing > 0 else 'too many'}: {number(each.input)} were read"
            out.print(Text(f"  {'':<{label}}   {wrong}", style="bold red"))
    if result.open_windows:
        windows = "1 window is" if result.open_windows == 1 else f"{number(result.open_windows)} windows are"
        until = f" until the watermark passes {_clock(result.closes_after)}" if result.closes_after else ""
        out.print(f"  {'':<{label}}   {windows} open{until}")
    for number_of, line in enumerate(_lag(result)):
        out.print(f"  {'' if number_of else 'lag':<{label}}   {line}")
    for note in result.notes:
        out.print(f"  {'note':<{label}}   {note}")


def _lag(result: "RunResult") -> list[str]:
    """How far topics are read: a line of a source that is read to its end, a line of each partition of one that is not."""
    from streamproof.report.words import number

    lines: list[str] = []
    for source in dict.fromkeys(each.source for each in result.lag):
        partitions = [each for each in result.lag if each.source == source]
        behind, undecided = [each for each in partitions if each.lag], sum(each.undecided for each in partitions)
        waits = f"; {number(undecided)} more lie in or behind a transaction that is open" if undecided else ""
        if not behind:
            lines.append(
                f"{source} is read to its end ({number(len(partitions))} partition{'' if len(partitions) == 1 else 's'}){waits}"
            )
            continue
        lines.append(f"{source} is {number(sum(each.lag for each in behind))} records behind{waits}, of these partitions:")
        rows = [(f"{each.topic}-{each.partition}", *map(number, (each.position, each.end, each.lag))) for each in behind]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines += [
            f"  {name:<{widths[0]}}   read to {position:>{widths[1]}}   of {end:>{widths[2]}}   {lag:>{widths[3]}} behind"
            for name, position, end, lag in rows
        ]
    return lines


def _shown_place(where: str) -> str:
    from streamproof.core.paths import display

    return where if ":" in where else display(Path(where))


def _clock(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")
