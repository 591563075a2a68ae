"""The command `streamproof`."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from streamproof import __version__
from streamproof.cli import (
    backup,
    check,
    diff,
    doctor,
    init,
    inspect,
    jars,
    lab,
    lag,
    log_lines,
    monitoring,
    prove,
    recover,
    report,
    restore,
    run,
    schema,
    screen,
    shrink,
    trace,
)
from streamproof.core import users_code
from streamproof.core.masking import unquoted
from streamproof.errors import OWN_FAULT, ConfigurationError, StreamproofError

_EXAMPLES = """\b
Begin:
  streamproof init my_job      make a folder with a job that runs at once
  streamproof check my_job     check configuration, job, Java and Spark, in under two seconds
  streamproof run my_job       run it; see where each output went, and the account
  streamproof prove my_job     crash it everywhere; see that no event is lost or doubled

\b
Exit codes:
  0  pass      1  fail      2  wrong usage or configuration      3  unknown: the proof was cut short or could not decide
  4  the run is done, and its account does not add up
  70  a fault of Streamproof's own      75  start it again later: the JVM died, or a store or registry does not answer
  130  ended by Ctrl-C      143  by SIGTERM
"""

app = typer.Typer(
    name="streamproof",
    help="Build, run and prove PySpark Structured Streaming jobs: no event unaccounted for.",
    epilog=_EXAMPLES,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init", epilog=init.EXAMPLES, short_help="Make a folder with a job that runs at once.")(init.init)
app.command("check", epilog=check.EXAMPLES, short_help="Check configuration, job, Java and Spark.")(check.check)
app.command("doctor", epilog=doctor.EXAMPLES, short_help="Find classic mistakes; say how to mend each.")(doctor.doctor)
app.command("run", epilog=run.EXAMPLES, short_help="Run the job; print outputs and the account.")(run.run)
app.command("prove", epilog=prove.EXAMPLES, short_help="Crash the job everywhere; account for every event.")(prove.prove)
app.command("shrink", epilog=shrink.EXAMPLES, short_help="Make a failing scenario as small as it can be.")(shrink.shrink)
app.command("trace", epilog=trace.EXAMPLES, short_help="Where did an event go? Which events made a row?")(trace.trace)
app.command("lag", epilog=lag.EXAMPLES, short_help="Measure a sample's disorder; recommend a delay.")(lag.lag)
app.command("diff", epilog=diff.EXAMPLES, short_help="Show where two outputs disagree, row by row and in sums.")(diff.diff)
app.command("inspect", epilog=inspect.EXAMPLES, short_help="Show what is in a checkpoint, of any Spark job.")(inspect.inspect)
app.command("recover", epilog=recover.EXAMPLES, short_help="Make a sound copy of a damaged checkpoint, beside it.")(recover.recover)
app.command("backup", epilog=backup.EXAMPLES, short_help="Copy a checkpoint's newest sound point to a second place.")(backup.backup)
app.command("restore", epilog=restore.EXAMPLES, short_help="Put a backup where its checkpoint was.")(restore.restore)
app.command("monitoring", epilog=monitoring.EXAMPLES, short_help="Write alerts and a dashboard.")(monitoring.monitoring)
app.command("jars", epilog=jars.EXAMPLES, short_help="Print the jars of a job, for spark-submit.")(jars.jars)
app.add_typer(report.app, name="report")
app.add_typer(schema.app, name="schema")
app.add_typer(lab.app, name="lab")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"streamproof {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    It is 0 for pass, 1 for fail, 2 for wrong usage or configuration, 3 for unknown, 70 for a fault of Streamproof's own, 75 for what a restart
    mends, 130 when ended by Ctrl-C and 143 by SIGTERM.
    """
    screen.never_fail()
    screen.show_traces(wanted=False)
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="streamproof", standalone_mode=False)
    except StreamproofError as problem:
        screen.print_error(problem)
        return problem.exit_code
    except KeyboardInterrupt:
        screen.print_problem("Stopped.")
        return 130
    except BrokenPipeError:
        screen.silence_output()
        return 1
    except Exception as problem:  # noqa: BLE001  # the last resort: a trace on the screen helps nobody
        return _unexpected(problem)
    finally:
        log_lines.choose(log_lines.LogFormat.TEXT)  # a format is that of one command
    return code if isinstance(code, int) else 0


def _unexpected(problem: Exception) -> int:
    if hasattr(problem, "format_message"):  # wrong usage, found by the parser
        context = getattr(problem, "ctx", None)
        command = context.command_path if context else "streamproof"
        if type(problem).__name__ == "NoArgsIsHelpError":
            typer.echo(problem.format_message())
        else:
            screen.print_problem(f"{problem.format_message()}\n{command} --help shows what it takes.")
        return int(getattr(problem, "exit_code", 2))
    kept = screen.keep_trace(problem)
    gone = _of_a_dead_jvm(problem)
    if gone is not None:
        screen.print_error(gone)
        return gone.exit_code
    screen.print_trace(problem)
    where = (
        f"The trace is in {kept}; --debug prints it with what the errors say."
        if kept
        else "The trace could not be kept: this folder cannot be written."
    )
    lines = str(problem).strip().splitlines()
    if users_code.place_of(problem) is not None:
        screen.print_problem("\n".join(filter(None, (users_code.raised_in(None, problem), users_code.remedy_for(problem), where))))
        return ConfigurationError.exit_code
    screen.print_problem(
        f"Unexpected: {type(problem).__name__}{f': {unquoted(lines[0])}' if lines else ''}\n{where}\nThis is a fault of Streamproof's: please report it."
    )
    return OWN_FAULT


def _of_a_dead_jvm(problem: Exception) -> StreamproofError | None:
    """The error for whatever a JVM that has ended leads to, where a command has started one and does not say it itself."""
    if "py4j" not in sys.modules:
        return None
    from streamproof import _jvm
    from streamproof.runtime.spark.failures import jvm_gone

    return jvm_gone() if _jvm.is_gone(problem) else None


if __name__ == "__main__":
    sys.exit(main())
