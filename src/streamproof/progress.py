"""The progress of a proof on the screen: bars on a terminal, a line now and then elsewhere."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Self

from streamproof.prove.events import Event, Failed, Finished, Preparing, Proving, Recorded, Recording, Shrinking, Started

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from streamproof.prove.run import PlanPreview

_BAR_COLUMNS = 20
_LABEL_COLUMNS = 18
_PLAIN_PARTS = 10


def said(started: Started) -> str:
    """The first line: what is proved, with what."""
    noun = f"{started.noun.removesuffix('s')}{'' if started.events == 1 else 's'}"
    spark = f"Spark {started.spark} on {started.master}"
    return f"{started.job} · {started.events:,} {noun} · seed {started.seed} · {started.batches} batches · {spark}"


def planned(recorded: Recorded) -> str:
    """The size of the plan in words."""
    return f"{recorded.steps:,} durable steps, {tried(recorded)}"


def tried(plan: "Recorded | PlanPreview") -> str:
    """What a plan tries, in words."""
    others = f", {plan.others:,} other faults" if plan.others else ""
    return f"{plan.distinct:,} distinct disks, {plan.live:,} live crashes{others}"


def smallest(event: Shrinking) -> str:
    """How small a failing scenario is by now, in words."""
    from streamproof.report.words import counted

    size = f"{counted(event.events, 'event')}, {counted(event.batches, 'batch', 'batches')}, {counted(event.faults, 'fault')}"
    return f"{size} · {counted(event.tries, 'try', 'tries')}"


def progress_on(console: "Console") -> "ProofProgress":
    """The progress that suits the console; a listener for a proof, and a context that tidies up."""
    return BarProgress(console) if console.is_terminal else LineProgress(console)


class ProofProgress(ABC):
    """Hears the events of a proof and says them on a console."""

    def __init__(self, console: "Console") -> None:
        self.console = console
        self._failures = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __call__(self, event: Event) -> None:
        match event:
            case Preparing():
                self.preparing(event)
            case Started():
                self.close()
                self.console.print(said(event), soft_wrap=True)
                if event.touches:
                    self._line("it will touch", event.touches)
                if event.settings:
                    self._line("settings of Spark", event.settings)
            case Recording():
                self.recording(event)
            case Recorded():
                self.close()
                self._line("plan", planned(event))
            case Proving():
                self.proving(event)
            case Failed():
                self._failures += 1
                if self._failures == 1:
                    self.failed(event)
            case Shrinking():
                self.shrinking(event)
            case Finished():
                self.close()

    @abstractmethod
    def preparing(self, event: Preparing) -> None:
        """What is done before the job runs."""

    @abstractmethod
    def recording(self, event: Recording) -> None:
        """How far the fault-free run is."""

    @abstractmethod
    def proving(self, event: Proving) -> None:
        """How far the scenarios are."""

    @abstractmethod
    def shrinking(self, event: Shrinking) -> None:
        """How small a failing scenario is by now."""

    def failed(self, event: Failed) -> None:
        from streamproof.report.words import span

        self._line("first failure", f"{event.scenario_id}, after {span(event.seconds)}")

    @abstractmethod
    def close(self) -> None:
        """Leaves nothing on the screen that moves."""

    def _line(self, label: str, text: str) -> None:
        self.console.print(f"  {label:<{_LABEL_COLUMNS}}   {text}", soft_wrap=True)


class LineProgress(ProofProgress):
    """Plain lines: one for what begins, one for every tenth of the scenarios."""

    def __init__(self, console: "Console") -> None:
        super().__init__(console)
        self._part = -1
        self._smallest: tuple[int, int, int] | None = None

    def preparing(self, event: Preparing) -> None:
        self._line("preparing", event.what)

    def recording(self, event: Recording) -> None:
        if event.batch == 0:
            self._line("recording", "the job runs without a fault, twice")
        elif event.batch == event.batches:
            self._line("recording", f"{event.batch} of {event.batches} batches")

    def close(self) -> None:
        """Lines do not move."""

    def proving(self, event: Proving) -> None:
        part = event.done * _PLAIN_PARTS // event.total if event.total else _PLAIN_PARTS
        if part > self._part:
            self._part = part
            self._line("proving", f"{event.done} of {event.total} · {event.scenario}{_left(event)}")

    def shrinking(self, event: Shrinking) -> None:
        if (event.events, event.batches, event.faults) != self._smallest:
            self._smallest = event.events, event.batches, event.faults
            self._line("shrinking", smallest(event))


class BarProgress(ProofProgress):
    """One bar at a time, with what is being tried and how long it will take."""

    def __init__(self, console: "Console") -> None:
        super().__init__(console)
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._label = ""

    def preparing(self, event: Preparing) -> None:
        self._show("preparing", 0, None, event.what)

    def recording(self, event: Recording) -> None:
        self._show("recording", event.batch, event.batches, f"{event.batch} of {event.batches} batches")

    def proving(self, event: Proving) -> None:
        self._show("proving", event.done, event.total, f"{event.done} of {event.total} · {event.scenario}{_left(event)}")

    def shrinking(self, event: Shrinking) -> None:
        self._show("shrinking", round(event.seconds - event.seconds_left), round(event.seconds), smallest(event))

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = self._task = None

    def _show(self, label: str, done: int, total: int | None, state: str) -> None:
        if label != self._label:
            self.close()
            self._label = label
        if self._progress is None or self._task is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn(f"  {{task.description:<{_LABEL_COLUMNS}}} ", markup=False),
                BarColumn(_BAR_COLUMNS),
                TextColumn("{task.fields[state]}", markup=False),
                TimeElapsedColumn(),
                console=self.console,
            )
            self._task = self._progress.add_task(label, total=total, state=state)
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total, state=state)


def _left(event: Proving) -> str:
    from streamproof.report.words import span

    return "" if event.seconds_left is None else f"   {span(event.seconds_left)} left"
