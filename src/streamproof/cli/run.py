"""`streamproof run TARGET`: run the job; say where each output went, what is guaranteed, and the account."""

import json
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from streamproof.cli import bounded as batch
from streamproof.cli import live as live_page
from streamproof.cli import log_lines, run_screen, screen
from streamproof.cli.check import Debug, Profile, Target
from streamproof.errors import AccountError, ConfigurationError, StreamproofError

if TYPE_CHECKING:
    from streamproof.runtime.watching.events import Listener, RunEvent
    from streamproof.runtime.watching.result import RunResult

EXAMPLES = """\b
Examples:
  streamproof run my_job
  streamproof run my_job --profile local --json
  streamproof run my_job --events                        one JSON line an event, as it happens; the last one has the result
  streamproof run my_job --log-format json               what it says on standard error as JSON lines, for a collector of logs
  streamproof run my_job --metrics 9464                  metrics for Prometheus on http://127.0.0.1:9464/metrics
  streamproof run my_job --otel                          metrics and traces to the collector of OTEL_EXPORTER_OTLP_ENDPOINT
  streamproof run my_job --openlineage http://localhost:5000   what it reads and writes, to a catalogue such as Marquez
  streamproof run my_job --live 9465                     a page in a browser, on http://127.0.0.1:9465
  streamproof run my_job --bounded --to once             as a batch, into the folder once; the stream's outputs stay as they are
  streamproof run my_job --new-output out/exposure-2     after the checkpoint was lost: publish beside the old output
  streamproof run my_job --accept-replay 7               batch 7 stands as published; its account is unknown
"""


def run(
    target: Target = ".",
    profile: Profile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")] = False,
    as_events: Annotated[
        bool,
        typer.Option(
            "--events",
            help="Print one JSON line for each event while the job runs (batch planned, staged, published, committed, ...) and nothing else. "
            'The line of kind "run-ended" has the result, as --json prints it.',
        ),
    ] = False,
    bounded: Annotated[
        bool,
        typer.Option(
            "--bounded",
            help="Compute the job as a batch over what its sources hold now, and write Parquet to a folder. Nothing is published.",
        ),
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where --bounded writes to; without it to a folder beside the checkpoint."),
    ] = None,
    new_output: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Publish the main output to PATH, because the present one belongs to another checkpoint."
        ),
    ] = None,
    replace_output: Annotated[
        bool, typer.Option("--replace-output", help="Delete outputs that belong to another checkpoint, and start over.")
    ] = False,
    accept_replay: Annotated[
        int | None,
        typer.Option(metavar="BATCH", min=0, help="Keep the published rows of BATCH although its replay computed others."),
    ] = None,
    accept_topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC",
            help="Go on reading TOPIC although its id has changed: each record must still have its old offset. Repeatable.",
        ),
    ] = None,
    accept_lateness: Annotated[
        bool,
        typer.Option("--accept-lateness", help="Go on with another delay or allowed lateness than the checkpoint was made with."),
    ] = False,
    accept_missing: Annotated[
        bool, typer.Option("--accept-missing", help="Go on although published batches are gone from an output. The run says which.")
    ] = False,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Show metrics to Prometheus while the job runs: a port of this machine, or HOST:PORT. /health says 503 where the run hangs, "
            "/ready until every query runs.",
        ),
    ] = None,
    hang_after: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help='The run hangs if for so long no task and no phase of a batch comes to an end, such as "10 minutes". Without it ten times as long as '
            "the last batches took, and two minutes at least. /health says it, and the watchdog of systemd.",
        ),
    ] = None,
    otel: Annotated[
        bool,
        typer.Option(
            "--otel",
            help="Send the same metrics, and a trace of each batch, to an OpenTelemetry collector by OTLP over HTTP. The environment variables "
            "OTEL_* say where: OTEL_EXPORTER_OTLP_ENDPOINT (http://localhost:4318 unless set), OTEL_EXPORTER_OTLP_HEADERS, "
            "OTEL_SERVICE_NAME (the job's name unless set). A collector that does not answer stops nothing.",
        ),
    ] = False,
    openlineage: Annotated[
        str | None,
        typer.Option(
            metavar="URL|file:PATH",
            help="Tell a catalogue what each query reads and writes, and how its run goes, by OpenLineage: a collector such as http://localhost:5000, "
            "or a file that takes one JSON object a line. OPENLINEAGE_API_KEY is sent as its token, OPENLINEAGE_NAMESPACE is the namespace of jobs. "
            "A collector that does not answer stops nothing.",
        ),
    ] = None,
    live: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Show the run on a page in a browser while it lasts: a port of this machine, or HOST:PORT, which takes a token.",
        ),
    ] = None,
    replay_last: Annotated[
        bool,
        typer.Option(
            "--replay-last", help="Compute the newest batch again from its recorded input, after the checkpoint was damaged."
        ),
    ] = False,
    log_format: Annotated[  # noqa: ARG001 -- its callback acts
        log_lines.LogFormat,
        typer.Option(
            "--log-format",
            callback=log_lines.choose,
            help="json writes what the run says on standard error, and Spark's log in .streamproof/logs/, as JSON lines with the keys time, level, "
            "logger, message, job, query, batch, step, event, code and failure.",
        ),
    ] = log_lines.LogFormat.TEXT,
    debug: Debug = False,
) -> None:
    """Run the job on what its sources hold. Print each output, its guarantee, and where every event is.

    The exit code is 4 if the account does not add up; an account that is unknown since a batch is only noted. Ctrl-C or SIGTERM ends the job
    after the present batch, with the account so far and exit code 130 or 143. A second signal ends it at once.
    """
    if new_output and replace_output:
        raise typer.BadParameter("--new-output and --replace-output exclude each other: the old output is kept, or it is deleted.")
    of_a_stream = {
        "--events": as_events,
        "--new-output": new_output,
        "--replace-output": replace_output,
        "--accept-replay": accept_replay is not None,
        "--accept-topic": accept_topic,
        "--accept-lateness": accept_lateness,
        "--accept-missing": accept_missing,
        "--metrics": metrics is not None,
        "--hang-after": hang_after is not None,
        "--otel": otel,
        "--openlineage": openlineage,
        "--live": live is not None,
        "--replay-last": replay_last,
    }
    batch.require_alone(to, bounded, of_a_stream)
    if as_json and as_events:
        raise typer.BadParameter("--json and --events exclude each other: the last line of --events has what --json prints.")
    if debug and log_lines.is_json():
        raise typer.BadParameter(
            "--debug and --log-format json exclude each other: traces of the JVM on the screen are no JSON lines."
        )
    from streamproof.config import load

    config = load(target, profile=profile)
    log_lines.of_job(config.name)
    from streamproof.runtime.spark.environment import find_java, find_spark

    find_java()
    find_spark()
    from streamproof.cli.interrupting import Interruption, interruptible
    from streamproof.cli.monitoring import catalogue_of, duration_of, sent, told, watched
    from streamproof.runtime.spark.run_log import open_log, python_side

    log = None if debug else open_log(config.root, as_json=log_lines.is_json())
    if bounded:
        batch.run_once(config, target, profile, to, as_json=as_json, log=log)
        return
    openlineage = catalogue_of(config, openlineage)
    hangs = duration_of(hang_after)
    interruption = Interruption()
    ended: list[RunResult] = []
    wrong: AccountError | None = None
    out = screen.console()
    try:
        with (
            python_side(log),
            watched(config, metrics, hangs) as watching,
            sent(config.name, wanted=otel) as sending,
            told(config.name, openlineage) as telling,
            live_page.of_run(config.name, live, config.root) as looking,
            log_lines.with_loggers_of_the_job(),
            nullcontext() if as_events or log_lines.is_json() else screen.waiting(f"running {config.name}") as say,
        ):
            progress = run_screen.RunProgress(say) if say is not None else None
            shown = _shown(progress, out.file, as_events=as_events)
            if progress is not None:
                progress.begin("loading PySpark")
            from streamproof.runtime.run import run_job
            from streamproof.runtime.watching.events import RunEnded

            def keep_result(event: "RunEvent") -> None:
                if isinstance(event, RunEnded):
                    ended.append(event.result)

            interruptible(
                lambda end: run_job(
                    config,
                    new_output=new_output,
                    replace_output=replace_output,
                    accept_replay=accept_replay,
                    accept_topics=accept_topic or (),
                    accept_lateness=accept_lateness,
                    accept_missing=accept_missing,
                    replay_last=replay_last,
                    latency=metrics is not None or otel or live is not None,
                    lineage=openlineage is not None,
                    end=end,
                    listener=[keep_result, *shown, *watching, *sending, *telling, *looking],
                    log=log,
                ),
                interruption,
                progress.say_again if progress is not None else None,
            )
    except AccountError as problem:  # the job ran to its end: what it did is said too
        wrong = problem
    except StreamproofError as problem:
        screen.print_error(problem, target=target, profile=profile, log=_worth_reading(log, problem))
        raise typer.Exit(problem.exit_code) from None
    except KeyboardInterrupt:
        screen.print_problem(
            "Stopped. Published batches stay, with their ledgers; the batch that was running will be done again.\n"
            f"Go on with: streamproof run {screen.typed(target, profile)}"
        )
        if interruption.twice:  # at once: what hangs in other threads would be waited for
            sys.stdout.flush()
            os._exit(interruption.exit_code)
        raise typer.Exit(interruption.exit_code) from None
    (result,) = ended
    if as_json:
        out.print(json.dumps(result.as_dict(), indent=2))
    elif not as_events:
        run_screen.print_result(result, out)
    if wrong is not None:
        screen.print_error(wrong, target=target, profile=profile)
    if result.ended_early:
        how = "SIGTERM" if interruption.signal is signal.SIGTERM else "Ctrl-C"
        screen.print_note(f"Ended by {how}. Go on with: streamproof run {screen.typed(target, profile)}")
    if wrong is not None:  # also of a job that only ends when it is asked to
        raise typer.Exit(wrong.exit_code)
    if result.ended_early:
        raise typer.Exit(interruption.exit_code)


def _shown(progress: "run_screen.RunProgress | None", out: IO[str], *, as_events: bool) -> "list[Listener]":
    """Who of the screen listens."""
    events = [run_screen.EventLines(out)] if as_events else []
    logged = [log_lines.EventLog(screen.redacted)] if log_lines.is_json() else []
    return [*([] if progress is None else [progress]), *events, *logged]


def _worth_reading(log: Path | None, problem: StreamproofError) -> Path | None:
    """The log, as it is typed from here, where anything was logged and what stopped the run is not said already."""
    from streamproof.core.paths import display

    if log is None or isinstance(problem, ConfigurationError) or not log.stat().st_size:
        return None
    return Path(display(log))
