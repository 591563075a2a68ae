"""What `prove` shows beside its progress: a plan, what a proof found, that it is stopping."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof.cli import screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamproof.proof import Proof
    from streamproof.prove.events import Event
    from streamproof.prove.run import PlanPreview


class Told:
    """Hands on what a proof tells, and keeps whether its scenarios have begun: before that there is nothing to report."""

    def __init__(self, *listeners: "Callable[[Event], None]") -> None:
        self._listeners, self.scenarios = listeners, False

    def __call__(self, event: "Event") -> None:
        from streamproof.prove.events import Recorded

        self.scenarios = self.scenarios or isinstance(event, Recorded)
        for listener in self._listeners:
            listener(event)


def say_stopping(*, scenarios: bool) -> None:
    written = "the report of what is finished is written" if scenarios else "no scenario has begun, so no report is written"
    screen.print_note(f"stopping: what runs is ended, and {written}. A second signal leaves at once.")


def print_proof(proof: "Proof", report: Path | None) -> None:
    from streamproof.report.terminal import print_summary

    out, page = screen.console(), (report or proof.folder) / "report.html"
    out.print()
    print_summary(proof.report, out, where=near(page) if page.is_file() else None)


def again(target: str, profile: str | None) -> "Callable[[str, int | None], str]":
    """The command that repeats one scenario, by its id and the seed."""

    def command(scenario: str, seed: int | None) -> str:
        return f"streamproof prove {screen.typed(target, profile)} --only {shlex.quote(scenario)}{'' if seed is None else f' --seed {seed}'}"

    return command


def in_a_sentence(proof: "Proof") -> str:
    """What a proof has found, and where its report is."""
    from streamproof.report import explain

    said = explain.sentence(proof.report)
    return f"{said[:1].upper()}{said[1:]} The report: {near(proof.folder / 'report.html')}"


def print_plan(preview: "PlanPreview") -> None:
    from streamproof.progress import tried
    from streamproof.report.words import counted, span

    out = screen.console()
    for scenario in preview.ids:
        out.print(scenario)
    out.print()
    out.print(f"{counted(len(preview.ids), 'scenario')} from {preview.steps:,} durable steps: {tried(preview)}")
    out.print(f"it will take about {span(preview.seconds_estimate)}")


def near(path: Path) -> str:
    from streamproof.core.paths import display

    return display(path)
