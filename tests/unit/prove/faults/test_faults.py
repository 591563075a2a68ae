"""Faults on services: which are tried at which steps, what they are called, and that one which failed has not fired (P5)."""

import socket
import threading

import pytest

from streamproof.core.phases import StepName
from streamproof.prove.faults.catalogue import all_faults, strikes
from streamproof.prove.faults.fault import Strike
from streamproof.prove.faults.injection_on_services import waits
from streamproof.prove.plan.planning import in_words, struck
from streamproof.prove.process.desk import Desk, report


def steps(*names: str) -> list[StepName]:
    return [StepName.parse(name) for name in names]


ANNOUNCED = steps(
    *[f"publish/{output}@{batch}:{side}" for batch in range(3) for output in ("exposure", "late") for side in ("before", "after")]
)
RECORDED = steps(
    *[
        f"{name}@{batch}:{side}"
        for batch in range(3)
        for name in ("plan/offsets", "stage/exposure", "stage/manifest")
        for side in ("before", "after")
    ]
)
SINKS = {"exposure": ("postgres",), "late": ("kafka",), "kept": ()}
SOURCES = {"trades": ("kafka", "registry")}


def ids(*, everywhere: bool = False) -> list[str]:
    return [plan.id for plan in struck(strikes(RECORDED, ANNOUNCED, SINKS, SOURCES, everywhere=everywhere))]


def test_a_fault_strikes_where_the_middle_batch_meets_its_service_first():
    found = ids()

    assert "publish/exposure@1:before+connection-lost+live" in found
    assert "publish/late@1:before+broker-killed+live" in found
    assert "plan/offsets@1:after+broker-killed+live" in found
    assert {"plan/offsets@0:after+registry-partition+live", "plan/offsets@0:after+registry-killed+live"} <= set(
        found
    )  # later it is not asked
    assert not [
        name for name in found if "redis" in name or "api-" in name or ("@0" in name and "registry" not in name) or "@2" in name
    ]
    assert len(found) == len(set(found))


def test_k7_a_fault_strikes_the_one_of_several_sinks_that_its_service_holds():
    announced = steps(*[f"publish/exposure.{name}@1:before" for name in ("table", "topic", "topic.1")])
    sinks = {"exposure.table": ("postgres",), "exposure.topic": ("kafka",), "exposure.top": ("redis",)}

    found = list(strikes(RECORDED, announced, sinks, {}, everywhere=True))

    struck_at = {(fault.service, str(step), on) for fault, step, on in found if fault.service in ("postgres", "kafka", "redis")}
    assert struck_at == {
        ("postgres", "publish/exposure.table@1:before", "exposure.table"),
        ("kafka", "publish/exposure.topic@1:before", "exposure.topic"),
        ("kafka", "publish/exposure.topic.1@1:before", "exposure.topic"),
    }


def test_in_the_full_plan_it_strikes_at_every_step_of_every_output():
    found = ids(everywhere=True)

    assert {"publish/exposure@0:before+database-restarted+live", "publish/exposure@2:after+database-restarted+live"} <= set(found)
    assert "publish/exposure@0:after+connection-lost+live" not in found  # there is no transaction after the commit


def test_an_outage_lasts_into_the_next_batch_where_there_is_one():
    outages = [name for name in ids() if "outage" in name]
    everywhere = [name for name in ids(everywhere=True) if "outage" in name]

    assert outages == ["publish/exposure@1:before+postgres-outage+live"]
    assert everywhere == [f"publish/exposure@{batch}:before+postgres-outage+live" for batch in (0, 1)]
    (plan,) = [plan for plan in struck(strikes(RECORDED, ANNOUNCED, SINKS, SOURCES)) if plan.id in outages]
    assert isinstance(plan.injected, Strike)
    assert str(plan.injected.fault.dies_at(plan.step)) == "stage/manifest@2:after"
    assert in_words(plan) == (
        "PostgreSQL is not reached until the process has died in the next batch and started again, "
        "before output exposure of batch 1 was published"
    )


def test_k7_rows_of_several_sinks_wait_where_they_are_staged_for_all_of_them(tmp_path):
    staged = tmp_path / "out/exposure/_staging/000001-abc/part-0.parquet"
    for path in (tmp_path / "checkpoint/exposure/commits/1", tmp_path / "checkpoint/exposure/_streamproof/manifests/2", staged):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert waits(tmp_path, "exposure", "exposure.table", 1)


@pytest.mark.parametrize("missing", ["", "checkpoint/exposure/commits/1", "checkpoint/exposure/_streamproof/manifests/2", "rows"])
def test_an_outage_has_met_a_batch_that_waited_if_it_was_committed_and_staged_when_the_driver_died(missing, tmp_path):
    rows = "out/exposure/_staging/000001-abc/part-0.parquet"
    for name in ("checkpoint/exposure/commits/1", "checkpoint/exposure/_streamproof/manifests/2", rows):
        if name != (rows if missing == "rows" else missing):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()

    assert waits(tmp_path, "exposure", "exposure", 1) is not bool(missing)


def test_an_executor_is_killed_only_where_a_task_takes_the_step():
    def killed(of_tasks: list[StepName]) -> list[str]:
        found = struck(strikes(RECORDED, ANNOUNCED, SINKS, SOURCES, of_tasks=of_tasks))
        return [plan.id for plan in found if plan.fault == "executor-killed"]

    assert killed([]) == []
    assert killed(steps("publish/late@1:before")) == ["publish/late@1:before+executor-killed+live"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (10, 2, 1, 0)])
def test_of_tasks_side_by_side_it_strikes_at_the_lowest_whichever_was_there_first(order):
    """So the line that replays a scenario names a step that the next recording has too."""
    announced = steps(
        *[f"publish/calls.call.{task}@{batch}:{side}" for batch in range(3) for task in order for side in ("before", "after")]
    )

    found = struck(strikes(RECORDED, announced, {"calls": ("api",)}, {}, ["calls"], of_tasks=announced))

    assert [plan.id for plan in found if plan.fault == "executor-killed"] == ["publish/calls.call.0@1:before+executor-killed+live"]


def test_the_lowest_task_is_that_of_the_lowest_number():
    announced = steps(
        *[f"publish/calls.call.{task}@{batch}:{side}" for batch in range(3) for task in (10, 1) for side in ("before", "after")]
    )

    found = struck(strikes(RECORDED, announced, {"calls": ("api",)}, {}, ["calls"], of_tasks=announced))

    assert [plan.id for plan in found if plan.fault == "executor-killed"] == ["publish/calls.call.1@1:before+executor-killed+live"]


def test_a_sink_of_the_jobs_own_meets_the_other_driver_at_its_steps_and_no_lost_connection():
    found = [plan.id for plan in struck(strikes(RECORDED, ANNOUNCED, {"exposure": ("postgres",)}, {}, ["exposure"]))]

    assert "publish/exposure@1:before+two-drivers+live" in found
    assert "publish/exposure@1:before+database-restarted+live" in found
    assert not [name for name in found if "connection-lost" in name]


def test_two_drivers_stage_different_manifests_before_the_manifest_and_share_it_behind():
    drivers = [name for name in ids() if "two-drivers" in name]

    assert drivers == ["stage/exposure@1:after+two-drivers+live", "stage/manifest@1:after+two-drivers+live"]


def test_what_happens_is_said_in_words():
    (plan,) = [plan for plan in struck(strikes(RECORDED, ANNOUNCED, SINKS, SOURCES)) if plan.fault == "connection-lost"]

    assert in_words(plan) == (
        "PostgreSQL closes the connection within the transaction before output exposure of batch 1 was published"
    )


def test_a_fault_has_one_name_for_each_service():
    found = [(fault.service, fault.name) for fault in all_faults()]

    assert len(found) == len(set(found))
    assert {service for service, _ in found} == {"kafka", "postgres", "redis", "api", "registry", "spark", "driver"}


@pytest.fixture
def desk():
    opened = Desk()
    yield opened
    opened.close()


def test_a_fault_is_done_once_however_often_its_step_is_taken(desk):
    done: list[int] = []
    with desk.expecting(done.append) as call:
        assert not call.fired
        report(call.told, 7)
        report(call.told, 8)

    assert done == [7]
    assert call.fired


def test_a_fault_that_failed_has_not_fired(desk):
    def fails(_: int) -> None:
        raise OSError("no such broker")

    with desk.expecting(fails) as call:
        report(call.told)

    assert not call.fired
    assert call.problem == "OSError: no such broker"


def test_a_fault_that_is_under_way_when_the_job_has_ended_is_waited_for(desk):
    begun, go_on = threading.Event(), threading.Event()

    def takes_long(_: int) -> None:
        begun.set()
        go_on.wait(10)

    with desk.expecting(takes_long) as call:
        threading.Thread(target=report, args=(call.told,), daemon=True).start()
        begun.wait(10)
        assert not call.fired
        threading.Timer(0.05, go_on.set).start()

    assert call.fired


def test_a_report_that_comes_too_late_does_nothing(desk):
    done: list[int] = []
    with desk.expecting(done.append) as call:
        pass
    call.answer(7)

    assert not done
    assert not call.fired


def test_nobody_else_sets_it_off(desk):
    done: list[int] = []
    with desk.expecting(done.append) as call, socket.create_connection(("127.0.0.1", call.port)) as stranger:
        stranger.sendall(b'{"ticket": "guessed"}\n')
        assert stranger.recv(1) == b""

    assert not done
    assert not call.fired
