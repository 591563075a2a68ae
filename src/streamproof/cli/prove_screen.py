"""What `prove` shows beside its progress: a plan, what a proof found, that it is stopping."""

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

    def __init__(self, listener: "Callable[[Event], None]") -> None:
        self._listener, self.scenarios = listener, False

    def __call__(self, event: "Event") -> None:
        from streamproof.prove.events import Recorded

        self.scenarios = self.scenarios or isinstance(event, Recorded)
        self._listener(event)


def say_stopping(*, scenarios: bool) -> None:
    written = "the report of what is finished is written" if scenarios else "no scenario has begun, so no report is written"
    screen.print_note(f"stopping: what runs is ended, and {written}. A second signal leaves at once.")


def print_proof(proof: "Proof", report: Path | None) -> None:
    from streamproof.report.terminal import print_summary

    out, page = screen.console(), (report or proof.folder) / "report.html"
    out.print()
    print_summary(proof.report, out, where=near(page) if page.is_file() else None)


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
