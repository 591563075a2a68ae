"""A fault runs the job with something armed at its step, whatever that is; after that the job can be started there as ever."""

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.phases import StepName
from streamproof.errors import DiskFull
from streamproof.prove.faults.armed import ArmedRuns
from streamproof.prove.faults.injection_on_files import FileFaultInjector
from streamproof.prove.faults.on_files import Case, FileFault
from streamproof.prove.faults.planned import Injected, Place
from streamproof.prove.process.machine import MACHINE, MachineDid
from streamproof.prove.process.task import ChildResult, Conditions
from streamproof.prove.process.zygote import _settle
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.record.live import Action, armed_at
from streamproof.prove.record.recording import Recording
from streamproof.prove.record.steps import timeline
from unit.prove.record.recorder import LAYOUT, Recorder

COMMIT = StepName.parse("commit/commits@1:before")
METADATA = "checkpoint/exposure/state/0/_metadata/v2/0"


class Jvm:
    """The JVM and the children that it runs: each start ends as the next of `ends` says, and leaves a file that names its place."""

    def __init__(self, folder: Path, *ends: ChildResult) -> None:
        self.folder, self.ends, self.engine = folder, list(ends), self
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append((name, *arguments))

    def fired(self, _: str) -> bool:
        return True

    def open_recording(self, identity: str, folder: Path) -> None:
        folder.mkdir()
        self.calls.append(("open_recording", identity))

    def start(self, identity: str, binding: ScenarioBinding, conditions: Conditions, **how: Any) -> "Future[ChildResult]":
        beside = {name: value for name, value in how.items() if value and name != "recording"}
        self.calls.append(("start", binding.base, conditions, beside))
        places = binding.folder / METADATA
        places.parent.mkdir(parents=True, exist_ok=True)
        places.write_text(f"{binding.base}/checkpoint" if "://" in binding.base else f"{places.read_text()} read")
        future: Future[ChildResult] = Future()
        _settle(future, self.ends.pop(0))
        return future


@pytest.fixture
def place(recorder: Recorder, tmp_path: Path) -> Place:
    """A step of a run of two batches, without a disk: the job runs from the beginning."""
    recorder.start()
    recorder.batch(0)
    recorder.batch(1)
    steps = timeline(recorder.journal(), LAYOUT)
    folder = tmp_path / "s1"
    binding = ScenarioBinding(str(folder), folder, {}, 1)
    return Place(COMMIT, None, Recording("default", tmp_path, binding, steps, {}, 1.0, {}), binding)


def disk_full(case: Case) -> ChildResult:
    """What a fault on storage will do: the job stops on a disk without room, and goes on once there is room again."""
    with case.armed() as run:
        stopped = run.start()
        case.fired = run.fired and stopped.code == DiskFull.code
    return case.start()


def test_a_fault_on_storage_has_a_place_the_job_meets_it_at_its_step_and_goes_on_after_it(place: Place, tmp_path: Path) -> None:
    fault = FileFault("disk-full", "the disk is full", lambda _: COMMIT, disk_full, arms=Action.ENOSPC)
    jvm = Jvm(tmp_path, ChildResult(DiskFull.code, "no room"), ChildResult())
    site: Any = SimpleNamespace(query_of=lambda _: "exposure", max_future_us=lambda _: None)

    done = FileFaultInjector(jvm, site, jvm).inject(fault, place)  # type: ignore[arg-type]

    assert done == Injected(True, ChildResult())
    opened, armed, recorded, *rest = jvm.calls
    identity = opened[1]
    wanted = armed_at(place.recording.steps, COMMIT, Action.ENOSPC)
    assert wanted is not None
    assert armed == ("arm", identity, *wanted.arguments())
    assert armed[-1] == "enospc"
    assert recorded == ("start", f"sp-record://{identity}{place.binding.folder}", Conditions(read_state=True), {})
    assert rest == [
        ("close_recording", identity),
        ("wait_until_ended", str(place.binding.folder)),
        ("start", str(place.binding.folder), Conditions(), {}),
    ]
    assert not (tmp_path / identity).exists()
    assert (place.binding.folder / METADATA).read_text() == f"file:{place.binding.folder}/checkpoint read", (
        "by no recording any more"
    )


@pytest.mark.parametrize(
    ("action", "code", "fired"),
    [(Action.ENOSPC, MACHINE, True), (Action.ENOSPC, DiskFull.code, False), (Action.DIE, DiskFull.code, True)],
)
def test_what_the_machine_did_is_not_taken_for_what_is_armed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: Action, code: str, fired: bool
) -> None:
    jvm: Any = Jvm(tmp_path, ChildResult(code, "no room"))
    monkeypatch.setattr(jvm, "fired", lambda _: fired)
    armed = armed_at(place.recording.steps, COMMIT, action)
    assert armed is not None

    with ArmedRuns(jvm, jvm).armed(armed, place.recording, place.binding) as run, pytest.raises(MachineDid, match="no room"):
        run.start()


def test_a_fault_of_another_kind_is_left_to_others(place: Place, tmp_path: Path) -> None:
    jvm: Any = Jvm(tmp_path)
    other: Any = SimpleNamespace(name="connection-lost", words="", lane="", line="")

    assert FileFaultInjector(jvm, SimpleNamespace(), jvm).inject(other, place) is None  # type: ignore[arg-type]
    assert jvm.calls == []


def test_runs_side_by_side_and_one_after_the_other_share_no_recording(place: Place, tmp_path: Path) -> None:
    jvm: Any = Jvm(tmp_path)
    armed = armed_at(place.recording.steps, COMMIT, Action.DIE)
    assert armed is not None
    runs, others = ArmedRuns(jvm, jvm), ArmedRuns(jvm, jvm)
    binding = replace(place.binding, base="elsewhere")

    with runs.armed(armed, place.recording, binding) as one, runs.armed(armed, place.recording, binding) as two:
        pass
    with others.armed(armed, place.recording, binding, told="1 ticket") as three:
        pass

    assert len({one.identity, two.identity, three.identity}) == 3
    assert [call[0] for call in jvm.calls if call[0].startswith("arm")] == ["arm", "arm", "arm_call"]
    assert jvm.calls[-2] == ("arm_call", three.identity, *armed.place(), "1 ticket")


def test_what_is_armed_ends_with_its_context_even_if_the_fault_itself_fails(place: Place, tmp_path: Path) -> None:
    jvm: Any = Jvm(tmp_path)
    armed = armed_at(place.recording.steps, COMMIT, Action.DIE)
    assert armed is not None

    with pytest.raises(OSError, match="no such broker"), ArmedRuns(jvm, jvm).armed(armed, place.recording, place.binding) as run:
        raise OSError("no such broker")

    assert jvm.calls[-1] == ("close_recording", run.identity)
    assert not (tmp_path / run.identity).exists()
