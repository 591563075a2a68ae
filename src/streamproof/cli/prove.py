"""`streamproof prove TARGET`: crash the job at every durable step and say whether an event was lost or doubled."""

import os
import shlex
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from streamproof.cli import live as live_page
from streamproof.cli import plain_job, prove_screen, screen, watching
from streamproof.cli.check import Debug, Profile, Target
from streamproof.core.phases import Phase, may_name_steps
from streamproof.errors import StreamproofError

EXAMPLES = """\b
Examples:
  streamproof prove my_job
  streamproof prove my_job --list                                       the plan, its size, how long it will take
  streamproof prove my_job --quick                                      one crash for each kind of step: for pull requests
  streamproof prove my_job --only publish/exposure@3:after --seed 7     exactly one scenario; a glob takes several
  streamproof prove my_job --last-failed -x
  streamproof prove my_job --full --report reports/nightly
  streamproof prove my_job --live 9465                                  a page in a browser: the crash points fill up
  streamproof prove sessions.py:click_sessions --input clicks=sample.jsonl      plain PySpark, without a change
\b
Exit codes:
  0  pass      1  fail      2  wrong usage or configuration      3  unknown: cut short, undecided, or something was never exercised
  75  start it again: the JVM died before there was a plan      130, 143  ended by Ctrl-C, by SIGTERM; the report has what was finished
"""

Only = Annotated[
    str | None,
    typer.Option(
        metavar="ID", help="Only this scenario, or those that match a glob such as 'publish/*'. Separate several with commas."
    ),
]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="Use this seed instead of the scenario's: other events, another order.")
]


def prove(
    target: Target = ".",
    only: Only = None,
    seed: Seed = None,
    show_plan: Annotated[bool, typer.Option("--list", help="Print the plan, its size and an estimate. Prove nothing.")] = False,
    last_failed: Annotated[bool, typer.Option("--last-failed", help="Only what did not pass last time.")] = False,
    stop_at_first: Annotated[bool, typer.Option("-x", "--stop-at-first", help="Stop at the first failure.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The full plan: second recording, all cuts, machine death, kill -9.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="The quick plan, for pull requests: one crash for each kind of step, and the live crashes."),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Prove again at each save, one crash in each phase, in a JVM that stays warm; Ctrl-C ends it."
        ),
    ] = False,
    max_scenarios: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Prove at most N scenarios. If others are left, the verdict is unknown.")
    ] = None,
    time_budget: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help='Stop after this time, such as "10 minutes". If scenarios are left, the verdict is unknown.'
        ),
    ] = None,
    events: Annotated[int | None, typer.Option(metavar="N", min=1, help="Make N events instead of the scenario's number.")] = None,
    batches: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Make N batches instead of the scenario's number.")
    ] = None,
    exactly: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prove with the events in FILE and no others, as shrink writes them.")
    ] = None,
    shrink: Annotated[
        bool,
        typer.Option("--shrink", help="If a scenario fails, make the first one as small as it can be; see streamproof shrink."),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Let the job reach HOST during the proof, by the network of this machine. Repeatable."),
    ] = None,
    brokers: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=3, help="How many Kafka brokers to start: 1, or 3 for the faults that need several."),
    ] = 1,
    service: plain_job.Service = None,
    sample: plain_job.Sample = None,
    schema: plain_job.Schema = None,
    table: plain_job.Table = None,
    value: plain_job.Value = None,
    argument: plain_job.Argument = None,
    env: plain_job.Environment = None,
    conf: plain_job.Conf = None,
    mode: plain_job.Mode = None,
    read: plain_job.Read = None,
    ignore: plain_job.Ignore = None,
    expect: plain_job.Expect = None,
    as_is: plain_job.AsIs = False,
    show_values: plain_job.ShowValues = False,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write report.html, report.json and junit.xml to DIR.")
    ] = None,
    live: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Show the proof on a page in a browser while it lasts: a port of this machine, or HOST:PORT, which takes a token.",
        ),
    ] = None,
    profile: Profile = None,
    debug: Debug = False,  # noqa: ARG001 -- its callback acts
) -> None:
    """Crash the job at every durable step, let it recover, and account for every event."""
    budget = _duration(time_budget)
    started, services = plain_job.services(service)
    if only is not None and not all(map(may_name_steps, only.split(","))):
        raise typer.BadParameter(
            f"--only {only} can name no scenario: one is called like publish/exposure@3:after or work/state.0.1@3:after, and begins with "
            f"{', '.join(Phase)}, or is fault-free. streamproof prove {shlex.quote(target)} --list shows them."
        )
    if live is not None and (watch or show_plan):
        raise typer.BadParameter("--live shows one proof: it goes neither with --watch nor with --list.")
    inputs = plain_job.pairs("--input", sample)
    plain = inputs or schema or table or value or argument or env or conf or mode or read
    columns = tuple(ignore or ())
    _look_at_surroundings(target, profile, plain=bool(plain))
    from streamproof.prove.process import apart

    page = live_page.place(live, _folder_of(target))  # outside: a browser does not reach the network of a proof
    apart.enter(network=not allow_host and not any(services.values()))  # before anything is imported that starts threads
    from streamproof.cli.interrupting import Interruption, interruptible
    from streamproof.core.ends import ProofInterrupted
    from streamproof.core.verdict import Verdict
    from streamproof.progress import progress_on
    from streamproof.prove.events import Preparing

    out, job = screen.console(), None
    if not watch:  # where libraries are slow to load, nothing else is said for a while
        with progress_on(out) as progress:
            progress(Preparing("loading PySpark"))
            import streamproof.proof  # noqa: F401
    if plain:
        from streamproof.prove.subjects.pyspark.preparation import Wanted

        job = Wanted(
            target,
            inputs,
            plain_job.pairs("--set", value),
            tuple(argument or ()),
            plain_job.pairs("--env", env),
            plain_job.pairs("--mode", mode),
            plain_job.pairs("--table", table),
            tuple(read or ()),
            as_is,
            show_values,
            plain_job.pairs("--conf", conf),
            schemas=plain_job.pairs("--schema", schema),
        )
    from streamproof.proof import plan as plan_of
    from streamproof.proof import prove as prove_job

    if watch:
        watching.watch(
            target,
            profile,
            [Path(path.removeprefix("kafka:")) for path in inputs.values()],
            lambda listener: prove_job(
                target,
                seed=seed,
                quick=True,
                brief=True,
                profile=profile,
                job=job,
                allow_hosts=tuple(allow_host or ()),
                services=started,
                ignore=columns,
                expect=tuple(expect or ()),
                listener=listener,
            ),
        )
        return
    interruption = Interruption()
    try:
        with progress_on(out) as progress, live_page.of_proof(target, page, prove_screen.again(target, profile)) as board:
            told = prove_screen.Told(progress, *([board] if board is not None else []))
            if show_plan:
                preview = interruptible(
                    lambda end: plan_of(
                        target,
                        seed=seed,
                        only=only,
                        full=full,
                        quick=quick,
                        profile=profile,
                        brokers=brokers,
                        services=services or started,
                        ignore=columns,
                        batches=batches,
                        job=job,
                        expect=tuple(expect or ()),
                        listener=told,
                        end=end,
                    ),
                    interruption,
                    stopping=lambda: prove_screen.say_stopping(scenarios=told.scenarios),
                )
            else:
                proof = interruptible(
                    lambda end: prove_job(
                        target,
                        seed=seed,
                        only=only,
                        full=full,
                        quick=quick,
                        max_scenarios=max_scenarios,
                        time_budget=budget,
                        stop_at_first=stop_at_first,
                        last_failed=last_failed,
                        profile=profile,
                        events=events,
                        batches=batches,
                        exactly=exactly,
                        allow_hosts=tuple(allow_host or ()),
                        report=report,
                        brokers=brokers,
                        services=services or started,
                        ignore=columns,
                        job=job,
                        expect=tuple(expect or ()),
                        listener=told,
                        end=end,
                    ),
                    interruption,
                    stopping=lambda: prove_screen.say_stopping(scenarios=told.scenarios),
                )
                if board is not None:
                    board.done(Verdict(proof.verdict), prove_screen.in_a_sentence(proof))
    except StreamproofError as problem:
        screen.print_error(problem, target=target, profile=profile)
        raise typer.Exit(problem.exit_code) from None
    except KeyboardInterrupt as stopped:
        if isinstance(stopped, ProofInterrupted):
            prove_screen.print_proof(stopped.proof, report)
        screen.print_problem(
            "Stopped. What was finished is kept; a proof that was cut short says nothing about the rest.\nstreamproof report list"
            if isinstance(stopped, ProofInterrupted)
            else "Stopped before anything was finished: no report was written."
        )
        if interruption.asked.is_set():  # at once: what still hangs in other threads would be waited for
            sys.stdout.flush()
            os._exit(interruption.exit_code)
        raise typer.Exit(interruption.exit_code) from None
    if show_plan:
        prove_screen.print_plan(preview)
        return
    prove_screen.print_proof(proof, report)
    if shrink and Verdict(proof.verdict) is Verdict.FAIL:
        from streamproof.cli.shrink import BUDGET, shrunk_on_screen

        shrunk_on_screen(proof.folder, None, BUDGET, report)
    raise typer.Exit(Verdict(proof.verdict).exit_code)


def _look_at_surroundings(target: str, profile: str | None, *, plain: bool) -> None:
    """What is wrong with the job's file, with Java or with Spark is said before the proof is even imported."""
    from streamproof.config.entry import is_plain_pyspark
    from streamproof.runtime.spark.environment import find_java, find_spark, find_spark_of_plain_jobs

    plain = plain or is_plain_pyspark(target)
    if not plain:
        from streamproof.config import load

        load(target, profile=profile)
    find_java()
    if plain:
        find_spark_of_plain_jobs()
    else:
        find_spark()


def _folder_of(target: str) -> Path:
    """The folder that a job lies in."""
    path = Path(target.rpartition(":")[0] or target)
    return path if path.is_dir() else path.parent


def _duration(text: str | None) -> timedelta | None:
    from streamproof.core.durations import parse_duration

    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as problem:
        raise typer.BadParameter(f"--time-budget: {problem}") from None
