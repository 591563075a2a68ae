"""Proving a job: prepare, record, plan, run every scenario, judge, report."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from streamproof.core.clock import monotonic_seconds
from streamproof.core.ends import End
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.prove import assembling, events
from streamproof.prove.execution import SIDE_BY_SIDE
from streamproof.prove.judging import Outcome, agreement
from streamproof.prove.options import Limits, Options, Selection
from streamproof.prove.plan.planning import (
    FAULT_FREE,
    LIVE_MODES,
    ScenarioPlan,
    chosen,
)
from streamproof.prove.process import apart
from streamproof.prove.process.touched import not_kept
from streamproof.prove.session import Prepared, counted, session
from streamproof.prove.states.looking import state_of
from streamproof.prove.subjects.subject import Preparation


@dataclass(frozen=True)
class PlanPreview:
    """The plan without running it: ids, durable steps, distinct disks, live crashes, seconds it will take about, other faults."""

    ids: list[str]
    steps: int
    distinct: int
    live: int
    seconds_estimate: float
    others: int = 0


def run_proof(
    preparation: Preparation,
    options: Options,
    folder: Path,
    listener: Callable[[events.Event], None] | None = None,
    end: threading.Event | None = None,
) -> dict[str, Any]:
    """Proves a subject and gives the report as data; `folder` is for what the proof writes meanwhile and does not keep in memory.

    `end` is set by whoever wants the proof to end: the report has what is finished then.

    Raises
    ------
    StreamproofError
        If the subject cannot be run at all.
    KeyboardInterrupt
        If it was asked to end before there was a plan.
    """
    tell = listener or _silent
    started, asked = monotonic_seconds(), end or threading.Event()
    with session(preparation, folder, options, tell, asked) as proof:
        prepared = proof.prepare()
        plans = _wanted(prepared.plans, options.selection)
        outcomes: list[Outcome] = [prepared.fault_free]
        how, cut_short = End.DONE, ""
        if not prepared.repeatable:
            how, cut_short = End.NOT_REPEATABLE, "two runs without any fault are not alike, so no crash was tried"
        elif prepared.fault_free.verdict is not Verdict.FAIL or not options.limits.first_failure:
            more, how, cut_short = _run(prepared, plans, options.limits, tell, started, asked)
            outcomes += more
        outcomes = _agreeing(outcomes)
        plan = _plan_name(options.selection, outcomes, prepared.plans)
        request = assembling.Request(options, preparation.seed, plan, tuple(preparation.services))
        course = assembling.Course(
            how, cut_short, prepared.left_out, proof.leave(), not_kept(apart.state(), java_kept=prepared.java_kept)
        )
        seconds = monotonic_seconds() - started
        report = assembling.report(prepared.subject, request, course, prepared.recordings["default"], outcomes, seconds)
        if how in (End.DONE, End.FIRST_FAILURE) and not options.selection.brief:
            report |= _looked_into(prepared, outcomes, tell)
        tell(events.Finished())
        return report


def preview(
    preparation: Preparation,
    options: Options,
    folder: Path,
    listener: Callable[[events.Event], None] | None = None,
    end: threading.Event | None = None,
) -> PlanPreview:
    """Records the subject once and says what a proof would try."""
    tell = listener or _silent
    with session(preparation, folder, options, tell, end or threading.Event()) as proof:
        prepared = proof.prepare()
        plans = _wanted(prepared.plans, options.selection)
        images, live, others = counted(plans)
        steps = len(prepared.recordings["default"].steps.steps)
        return PlanPreview([plan.id for plan in plans], steps, images, live, proof.seconds_each * len(plans), others)


def _silent(_: events.Event) -> None:
    """A listener that does nothing."""


def _wanted(plans: Sequence[ScenarioPlan], selection: Selection) -> list[ScenarioPlan]:
    wanted = chosen(plans, selection.only)
    if selection.ids:
        wanted = [plan for plan in wanted if plan.id in selection.ids]
        if not wanted and tuple(selection.ids) != (FAULT_FREE.id,):
            raise ScenarioError(
                "None of the scenarios that are asked for, or failed last time, is in this plan.",
                remedy="Run the proof without --last-failed.",
            )
    return wanted


def _run(
    prepared: Prepared,
    plans: Sequence[ScenarioPlan],
    limits: Limits,
    tell: Callable[[events.Event], None],
    started: float,
    asked: threading.Event,
) -> tuple[list[Outcome], End, str]:
    """Runs the plans within the budget; says whether, and in words why, the plan was cut short."""
    limited = list(plans)[: limits.scenarios] if limits.scenarios is not None else list(plans)
    outcomes: list[Outcome] = []
    begun = monotonic_seconds()

    def out_of_time() -> bool:
        budget = limits.time
        return budget is not None and monotonic_seconds() - started > budget.total_seconds()

    def stop() -> bool:
        return (
            asked.is_set()
            or out_of_time()
            or (limits.first_failure and any(outcome.verdict is Verdict.FAIL for outcome in outcomes))
        )

    if limited:
        tell(events.Proving(0, len(limited), limited[0].id, None))
    try:
        for outcome in prepared.executor.run_all(limited, prepared.recordings, stop):
            outcomes.append(outcome)
            tell(events.Judged(outcome.plan.id, outcome.verdict, outcome.points, outcome.says))
            if outcome.verdict is Verdict.FAIL:
                tell(events.Failed(outcome.plan.id, monotonic_seconds() - started))
            left = (monotonic_seconds() - begun) / len(outcomes) * (len(limited) - len(outcomes))
            tell(events.Proving(len(outcomes), len(limited), outcome.plan.id, left if len(outcomes) > SIDE_BY_SIDE else None))
    except KeyboardInterrupt:
        asked.set()
    if asked.is_set() and len(outcomes) < len(plans):
        return outcomes, End.INTERRUPTED, f"it was interrupted after {len(outcomes)} of {len(plans)} scenarios"
    if len(outcomes) == len(plans):
        return outcomes, End.DONE, ""
    if limits.first_failure and any(outcome.verdict is Verdict.FAIL for outcome in outcomes):
        return outcomes, End.FIRST_FAILURE, "it stopped at the first failure"
    end = End.TIME_BUDGET if out_of_time() else End.MAX_SCENARIOS
    why = "the time budget was used up" if end is End.TIME_BUDGET else f"--max-scenarios {limits.scenarios}"
    return outcomes, end, f"{why} after {len(outcomes)} of {len(plans)} scenarios"


def _agreeing(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Adds to each live scenario whether it agrees with the image of the same step, where that ran too."""
    images = {name: outcome for outcome in outcomes if outcome.plan.is_disk for name in outcome.plan.names}
    found = []
    for outcome in outcomes:
        if outcome.plan.mode in LIVE_MODES and outcome.plan.injected is None:
            image = images.get(str(outcome.plan.step))
            if image is not None:  # without the image nothing was compared, and nothing is claimed
                outcome = replace(outcome, checks=[*outcome.checks, agreement(outcome, image)])
        found.append(outcome)
    return found


def _looked_into(prepared: Prepared, outcomes: Sequence[Outcome], tell: Callable[[events.Event], None]) -> dict[str, Any]:
    """The state of the scenario that failed first, as a report reads, at its crash and after the recovery; nothing where that has no crash."""
    failed = assembling.first_to_read([outcome for outcome in outcomes if outcome.verdict is Verdict.FAIL])
    if failed is None or failed.plan.step is None or not prepared.subject.engine.alive:
        return {}
    tell(events.Preparing(f"looking into the state of {failed.plan.id}"))
    try:
        return {"state": state_of(prepared.executor, failed.plan, prepared.recordings)}
    except Exception as problem:  # noqa: BLE001 -- no verdict hangs on it
        said = f"{type(problem).__name__}: {problem}" if not prepared.subject.masked else type(problem).__name__
        return {"state": {"scenario": failed.plan.id, "recovered": False, "masked": False, "operators": [], "problem": said}}


def _plan_name(selection: Selection, outcomes: Sequence[Outcome], plans: Sequence[ScenarioPlan]) -> str:
    if selection.only is not None or selection.ids or len(outcomes) - 1 < len(plans):
        return "part"
    return "brief" if selection.brief else "quick" if selection.quick else "full" if selection.full else "standard"
