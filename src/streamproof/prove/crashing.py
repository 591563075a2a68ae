"""How a scenario that is a crash comes to its disk: built from the recording, or left by a job that dies while it runs."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streamproof.core.phases import StepName
from streamproof.prove.faults.armed import ArmedRuns
from streamproof.prove.faults.planned import unmet
from streamproof.prove.plan.planning import Mode, ScenarioPlan
from streamproof.prove.process.children import Children
from streamproof.prove.process.task import STEPS, ChildResult, Conditions
from streamproof.prove.process.watched_steps import FIRED
from streamproof.prove.process.zygote import ChildDied
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.build import build
from streamproof.prove.record.images import Image
from streamproof.prove.record.live import Action, arming
from streamproof.prove.record.rebase import rebase
from streamproof.prove.record.recording import Recording
from streamproof.prove.subjects.subject import Subject


@dataclass(frozen=True)
class Crashed:
    """Whether the crash happened as planned; which batches were planned then and not committed: they run again; and how the job ended where
    it did not crash, empty where that is not known.
    """

    fired: bool
    rerun: tuple[int, ...]
    unmet: str = ""


class Crashes:
    """Those of one proof."""

    def __init__(self, subject: Subject, children: Children) -> None:
        self._subject, self._children, self._armed = subject, children, ArmedRuns(subject, children)

    def bring_about(self, plan: ScenarioPlan, recording: Recording, binding: ScenarioBinding) -> Crashed:
        """Leaves the disk of the crash in the folder of the scenario."""
        assert plan.step is not None, "a scenario without a step is no crash"
        if plan.mode is Mode.IMAGE:
            assert plan.image is not None, "it is the disk of this mode"
            return self._built(plan.image, recording, binding)
        ended: ChildResult | None = ChildResult()
        if plan.mode is Mode.KILL:
            from streamproof.prove.process.killing import kill_at

            task, environment = self._children.task, self._children.environment
            fired = kill_at(self._subject.folder, recording, plan.step, binding, task, environment)
        elif plan.image is None:
            fired, ended = self._dies_in_service(plan.step, recording, binding)
        else:
            with self._armed.armed(arming(recording.steps, plan.step, action=Action.DIE), recording, binding) as run:
                ended = run.start(read_state=False)
                fired = bool(ended.code) and run.fired
        rebase(binding.folder)
        return Crashed(fired, left_open(binding.folder), "" if fired else unmet(ended))

    def _built(self, image: Image, recording: Recording, binding: ScenarioBinding) -> Crashed:
        built = build(image, binding.folder, recording.blobs, self._subject.layout, recording.binding.folder)
        fired = built.fired()
        self._subject.carry(recording.binding.folder, binding.folder)
        return Crashed(fired, _planned_not_committed(image.files))

    def _dies_in_service(self, step: StepName, recording: Recording, binding: ScenarioBinding) -> tuple[bool, ChildResult | None]:
        """Runs the job until it takes a step in a service, where kill -9 ends driver and task; how it ended, None where its process died."""
        identity = f"{binding.folder.name}-dies"
        running = self._children.start(identity, binding, Conditions(read_state=False, crash_at=str(step)), recording=recording)
        ended: ChildResult | None = None
        with suppress(ChildDied):
            ended = running.result()
        self._subject.engine.wait_until_ended(str(binding.folder))
        return ended is None and Path(f"{binding.folder / STEPS}.{FIRED}").exists(), ended


def left_open(folder: Path) -> tuple[int, ...]:
    """The batches that are planned and not committed in a scenario's folder."""
    return _planned_not_committed(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _planned_not_committed(files: Iterable[str]) -> tuple[int, ...]:
    numbers: dict[str, set[int]] = {"offsets": set(), "commits": set()}
    for path in files:
        parts = path.split("/")
        if len(parts) > 1 and parts[-2] in numbers and parts[-1].isdigit():
            numbers[parts[-2]].add(int(parts[-1]))
    return tuple(sorted(numbers["offsets"] - numbers["commits"]))
