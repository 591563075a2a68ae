"""`streamproof run TARGET --bounded`: the job as a batch over what its sources hold now."""

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from streamproof.cli import run_screen, screen
from streamproof.errors import AccountError, StreamproofError

if TYPE_CHECKING:
    from pathlib import Path

    from streamproof.config import JobConfig
    from streamproof.runtime.watching.result import RunResult


def require_alone(to: str | None, bounded: bool, others: Mapping[str, Any]) -> None:
    """BadParameter where an option asks for what a bounded run does not have; `others` are those of a stream, by name."""
    if to is not None and not bounded:
        raise typer.BadParameter("--to goes with --bounded: it says where a bounded run writes to.")
    given = [name for name, value in others.items() if value]
    if bounded and given:
        raise typer.BadParameter(
            f"--bounded and {given[0]} exclude each other: a bounded run has no checkpoint, and publishes nothing."
        )


def run_once(config: "JobConfig", target: str, profile: str | None, to: str | None, *, as_json: bool, log: "Path | None") -> None:
    """Computes the job, and prints each output and the account."""
    from streamproof.cli.interrupting import Interruption, interruptible
    from streamproof.runtime.spark.run_log import python_side

    interruption, out, wrong = Interruption(), screen.console(), None
    try:
        with python_side(log), screen.waiting(f"computing {config.name}") as say:
            say("loading PySpark")
            from streamproof.replay.bounded.run import run_bounded

            result: RunResult = interruptible(lambda end: run_bounded(config, to=to, end=end, say=say, log=log), interruption)
    except AccountError as problem:  # it came to its end: what it did is said too
        wrong, result = problem, problem.result
    except StreamproofError as problem:
        screen.print_error(problem, target=target, profile=profile)
        raise typer.Exit(problem.exit_code) from None
    except KeyboardInterrupt:
        screen.print_problem("Stopped. Nothing was published; the next bounded run replaces what this one has written.")
        if interruption.twice:  # at once: what hangs in other threads would be waited for
            sys.stdout.flush()
            os._exit(interruption.exit_code)
        raise typer.Exit(interruption.exit_code) from None
    if as_json:
        out.print(json.dumps(result.as_dict(), indent=2))
    else:
        run_screen.print_result(result, out)
    if wrong is not None:
        screen.print_error(wrong, target=target, profile=profile)
        raise typer.Exit(wrong.exit_code)
