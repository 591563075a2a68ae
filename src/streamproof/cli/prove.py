"""`streamproof prove TARGET`: crash the job at every durable step and say whether an event was lost or doubled."""

import os
import shlex
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.cli.check import Debug, Profile, Target
from streamproof.core.phases import Phase, may_name_steps
from streamproof.errors import StreamproofError

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamproof.proof import Proof
    from streamproof.prove.events import Event
    from streamproof.prove.run import PlanPreview
    from streamproof.prove.subjects.pyspark.preparation import Wanted

EXAMPLES = """\b
Examples:
  streamproof prove my_job
  streamproof prove my_job --list                                       the plan, its size, how long it will take
  streamproof prove my_job --quick                                      one crash for each kind of step: for pull requests
  streamproof prove my_job --only publish/exposure@3:after --seed 7     exactly one scenario; a glob takes several
  streamproof prove my_job --last-failed -x
  streamproof prove my_job --full --report reports/nightly
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
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Let the job reach HOST during the proof, by the network of this machine. Repeatable."),
    ] = None,
    brokers: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=3, help="How many Kafka brokers to start: 1, or 3 for the faults that need several."),
    ] = 1,
    service: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=URL]",
            help="Use a running service (kafka, postgres, redis, registry) instead of starting one. Plain PySpark: NAME alone starts it for the "
            "proof; each scenario has a place of its own there, {postgres}, {redis} or {kafka} and {kafka.topic:NAME}. Repeatable.",
        ),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=FILE",
            help="Plain PySpark: a sample of the input NAME (JSON lines, CSV, .log, Parquet, Avro); a stream parameter, or what readStream names. "
            "kafka:FILE gives a parameter Kafka's columns.",
        ),
    ] = None,
    schema: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DDL",
            help='Plain PySpark: the types of an input, such as clicks="user string, at timestamp"; or a file with DDL or Spark\'s JSON of a schema.',
        ),
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE", help="Plain PySpark: a table for a parameter of the function.")
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Plain PySpark: an argument of the function; {folder} is a folder of the scenario's own, {postgres} its database (--service).",
        ),
    ] = None,
    argument: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="Plain PySpark: a word of a script's command line.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Plain PySpark: an environment variable; {folder} as for --set."),
    ] = None,
    conf: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Plain PySpark: a setting that Spark starts with, as for spark-submit: spark.jars.packages, spark.sql.extensions, a catalog.",
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(metavar="OUTPUT=MODE", help="Plain PySpark: append, update or complete, for a DataFrame returned."),
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=MODULE:FUNCTION", help="Plain PySpark: reads back what foreachBatch writes by itself."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OUTPUT.COLUMN",
            help="Plain PySpark: leave out a column that differs from run to run on purpose, such as out.loaded_at. Repeatable.",
        ),
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Plain PySpark: let be what is known, by name: late=N rows of its own that Spark drops as late; unbounded-state. Repeatable.",
        ),
    ] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Plain PySpark: take the sample as it is, without disorder, late events and copies.")
    ] = False,
    show_values: Annotated[bool, typer.Option("--show-values", help="Plain PySpark: let values of rows stand in reports.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write report.html, report.json and junit.xml to DIR.")
    ] = None,
    profile: Profile = None,
    debug: Debug = False,  # noqa: ARG001 -- its callback acts
) -> None:
    """Crash the job at every durable step, let it recover, and account for every event."""
    budget = _duration(time_budget)
    started, services = _services(service)
    if only is not None and not all(map(may_name_steps, only.split(","))):
        raise typer.BadParameter(
            f"--only {only} can name no scenario: one is called like publish/exposure@3:after or work/state.0.1@3:after, and begins with "
            f"{', '.join(Phase)}, or is fault-free. streamproof prove {shlex.quote(target)} --list shows them."
        )
    inputs = _pairs("--input", sample)
    plain = inputs or schema or table or value or argument or env or conf or mode or read
    columns = tuple(ignore or ())
    _look_at_surroundings(target, profile, plain=bool(plain))
    from streamproof.prove.process import apart

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
            _pairs("--set", value),
            tuple(argument or ()),
            _pairs("--env", env),
            _pairs("--mode", mode),
            _pairs("--table", table),
            tuple(read or ()),
            as_is,
            show_values,
            _pairs("--conf", conf),
            schemas=_pairs("--schema", schema),
        )
    from streamproof.proof import plan as plan_of
    from streamproof.proof import prove as prove_job

    if watch:
        _watch(target, profile, seed, job, tuple(allow_host or ()), started, columns, tuple(expect or ()))
        return
    interruption = Interruption()
    try:
        with progress_on(out) as progress:
            told = _Told(progress)
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
                    stopping=lambda: _say_stopping(scenarios=told.scenarios),
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
                    stopping=lambda: _say_stopping(scenarios=told.scenarios),
                )
    except StreamproofError as problem:
        screen.print_error(problem, target=target, profile=profile)
        raise typer.Exit(problem.exit_code) from None
    except KeyboardInterrupt as stopped:
        if isinstance(stopped, ProofInterrupted):
            _print_proof(stopped.proof, report)
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
        _print_plan(preview)
        return
    _print_proof(proof, report)
    raise typer.Exit(Verdict(proof.verdict).exit_code)


class _Told:
    """Hands on what a proof tells, and keeps whether its scenarios have begun: before that there is nothing to report."""

    def __init__(self, listener: "Callable[[Event], None]") -> None:
        self._listener, self.scenarios = listener, False

    def __call__(self, event: "Event") -> None:
        from streamproof.prove.events import Recorded

        self.scenarios = self.scenarios or isinstance(event, Recorded)
        self._listener(event)


def _say_stopping(*, scenarios: bool) -> None:
    written = "the report of what is finished is written" if scenarios else "no scenario has begun, so no report is written"
    screen.print_note(f"stopping: what runs is ended, and {written}. A second signal leaves at once.")


def _print_proof(proof: "Proof", report: Path | None) -> None:
    from streamproof.report.terminal import print_summary

    out, page = screen.console(), (report or proof.folder) / "report.html"
    out.print()
    print_summary(proof.report, out, where=_near(page) if page.is_file() else None)


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


def _watch(
    target: str,
    profile: str | None,
    seed: int | None,
    job: "Wanted | None",
    hosts: tuple[str, ...],
    services: tuple[str, ...],
    ignore: tuple[str, ...],
    expect: tuple[str, ...],
) -> None:
    """Proves at each save; what is wrong with the job is said, and the next save is waited for."""
    from streamproof.cli.watching import prove_at_each_save
    from streamproof.progress import progress_on
    from streamproof.proof import prove as prove_job
    from streamproof.report.terminal import print_summary

    out = screen.console()
    place = Path(target.rpartition(":")[0] if ":" in target else target).resolve()
    folder = place if place.is_dir() else place.parent

    def prove_once() -> None:
        try:
            with progress_on(out) as progress:
                proof = prove_job(
                    target,
                    seed=seed,
                    quick=True,
                    brief=True,
                    profile=profile,
                    job=job,
                    allow_hosts=hosts,
                    services=services,
                    ignore=ignore,
                    expect=expect,
                    listener=progress,
                )
            out.print()
            print_summary(proof.report, out, where=_near(proof.folder / "report.html"))
        except StreamproofError as problem:
            screen.print_error(problem, target=target, profile=profile)

    samples = [Path(path.removeprefix("kafka:")) for path in (job.inputs.values() if job else ())]
    try:
        prove_at_each_save(folder, samples, prove_once, out.print)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _print_plan(preview: "PlanPreview") -> None:
    from streamproof.progress import tried
    from streamproof.report.words import counted, span

    out = screen.console()
    for scenario in preview.ids:
        out.print(scenario)
    out.print()
    out.print(f"{counted(len(preview.ids), 'scenario')} from {preview.steps:,} durable steps: {tried(preview)}")
    out.print(f"it will take about {span(preview.seconds_estimate)}")


def _pairs(option: str, words: list[str] | None) -> dict[str, str]:
    """Words such as NAME=VALUE, by name.

    Raises
    ------
    typer.BadParameter
        If one has no "=" in it.
    """
    found = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{option} {word} has no name: it is written {option} NAME=...")
        found[name] = value
    return found


def _services(words: list[str] | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Those that are started for a plain job, by their names, and those that run already, with their URLs."""
    given = [word for word in words or () if "=" in word]
    started = tuple(word for word in words or () if "=" not in word)
    if started and given:
        raise typer.BadParameter(
            f"--service {started[0]} starts one for a plain PySpark job, --service {given[0]} names one that runs for a job of Streamproof's: "
            "one kind at a time."
        )
    return started, _pairs("--service", given)


def _duration(text: str | None) -> timedelta | None:
    from streamproof.core.durations import parse_duration

    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as problem:
        raise typer.BadParameter(f"--time-budget: {problem}") from None


def _near(path: Path) -> str:
    from streamproof.core.paths import display

    return display(path)
