"""`streamproof doctor TARGET`: the classic mistakes in a job, its configuration, its checkpoint and its sources."""

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamproof.cli import screen
from streamproof.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

    from streamproof.doctor.examine import Examination
    from streamproof.doctor.finding import Finding

EXAMPLES = """\b
Examples:
  streamproof doctor my_job
  streamproof doctor my_job --profile services --services     ask the brokers too: partitions, retention
  streamproof doctor sessions.py:click_sessions               a job that nobody wrote for Streamproof
  streamproof doctor sessions.py:click_sessions --checkpoint /data/checkpoints/clicks
  streamproof doctor /data/checkpoints/clicks                 what the checkpoint alone says
  streamproof doctor my_job --sarif doctor.sarif              for the page of a pull request

\b
What a finding means:
  stop   events are lost or counted twice, or the job stops, sooner or later
  warn   it goes wrong under load, with time, or in an outage
  note   worth knowing, and right in many jobs

\b
Exit codes:
  0  no stop and no warn      1  one at least      2  wrong usage or configuration
  3  unknown: nothing in the file starts or returns a stream
"""
_HEADS = {
    "stop": ("STOP", "bold red", "events are lost or counted twice, or the job stops"),
    "warn": ("WARN", "bold yellow", "it goes wrong under load, with time, or in an outage"),
    "note": ("NOTE", "bold", "worth knowing"),
}

Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET", help="A job as run takes it, a plain PySpark job file.py[:function], or the folder of a checkpoint."
    ),
]


def doctor(
    target: Target = ".",
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Use the keys of [profile.NAME] in place of the others.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The checkpoint to look at, in place of the one that the job names; a copy of it is fine."
        ),
    ] = None,
    services: Annotated[
        bool, typer.Option("--services", help="Ask the brokers of the sources too: partitions, and how long a topic keeps records.")
    ] = False,
    outage: Annotated[
        str, typer.Option(metavar="DURATION", help="How long the job must be able to stand still without losing anything.")
    ] = "1 day",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object, and nothing else.")] = False,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings as SARIF 2.1.0, for code scanning.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", callback=screen.show_traces, help="Print the whole trace of an error.")] = False,  # noqa: ARG001 -- its callback acts
) -> None:
    """Find the classic mistakes in a job, its configuration, its checkpoint and its sources, and say how to mend each. It starts no JVM and changes nothing."""
    from streamproof.doctor.examine import examine
    from streamproof.doctor.gather import Asked, gather

    found = examine(gather(target, Asked(profile, checkpoint, services, _duration(outage))))
    if sarif is not None:
        _write_sarif(found, sarif)
    if as_json:
        screen.console().print(json.dumps(found.as_dict(), indent=2))
    else:
        _print(found, screen.console())
    if found.is_sound is not True:
        raise typer.Exit(3 if found.is_sound is None else 1)


def _duration(text: str) -> timedelta:
    from streamproof.core.durations import parse_duration

    try:
        return parse_duration(text)
    except ValueError as problem:
        raise typer.BadParameter(f"--outage {text}: {problem}") from None


def _write_sarif(found: "Examination", file: Path) -> None:
    from streamproof.doctor.sarif import sarif_of

    try:
        file.write_text(json.dumps(sarif_of(found), indent=2) + "\n", encoding="utf-8")
    except OSError as problem:
        raise ConfigurationError(
            f"Nothing can be written to {file}: {(problem.strerror or str(problem)).lower()}.",
            remedy="Name another file: --sarif FILE.",
        ) from None


def _print(found: "Examination", out: "Console") -> None:
    from rich.text import Text

    from streamproof.doctor.gather import shown_target

    counts = [f"{sum(one.severity == name for one in found.findings)} {name}" for name in _HEADS]
    out.print(f"{shown_target(found.patient)} · {' · '.join(counts)} · {len(found.looked_for)} mistakes looked for")
    for name, (head, style, means) in _HEADS.items():
        its = [one for one in found.findings if one.severity == name]
        if not its:
            continue
        line = Text(f"\n{head}", style=style)
        line.append(f"  {means}", style="default not bold dim")
        out.print(line)
        for one in its:
            _print_finding(one, out)
    _print_missing(found, out)


def _print_missing(found: "Examination", out: "Console") -> None:
    """What was not looked at, by the reason, and the mistakes that were not looked for at all."""
    by_reason: dict[str, list[str]] = {}
    for part, why in found.patient.missing.items():
        by_reason.setdefault(why, []).append(part)
    if by_reason:
        out.print("\nnot looked at")
    for why, parts in by_reason.items():
        out.print(f"  {', '.join(parts)}: {why}")
    if found.skipped:
        out.print(f"  so nobody looked for {', '.join(one.code for one in found.skipped)}")


def _print_finding(one: "Finding", out: "Console") -> None:
    symptom = one.symptom
    out.print(f"  {one.code}   {symptom.where}")
    out.print(f"    {symptom.what}")
    said = (("seen", symptom.evidence), ("why", one.why), ("mend", symptom.remedy))
    for head, text in said if one.severity != "note" else said[::2]:
        out.print(f"      {head:<6}{text}")
