"""One try: a part of a scenario is run on Spark, and does it fail with the same finding?"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from streamproof.core.verdict import Verdict
from streamproof.errors import ConfigurationError, JvmGone, MachineShort, StreamproofError
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.execution import Executor
from streamproof.prove.judging import Outcome
from streamproof.prove.lineage.kept import Keeper
from streamproof.prove.plan.alike import alike
from streamproof.prove.plan.planning import FAULT_FREE, ScenarioPlan, chosen, in_words
from streamproof.prove.record.recording import Recording
from streamproof.prove.session import Session
from streamproof.prove.shrink.kept import Kept, Smaller, Whole
from streamproof.prove.subjects.subject import Preparation


@dataclass(frozen=True)
class SameFinding:
    """What a smaller scenario must fail with: a checker, and the code of its finding; `events` are the ids of those that it was about."""

    checker: str
    code: str
    events: tuple[str, ...] = ()

    def of(self, checks: Sequence[CheckResult]) -> Finding | None:
        """The first finding that is the same; None where there is none."""
        findings = (
            one for check in checks if check.name == self.checker and check.verdict is Verdict.FAIL for one in check.findings
        )
        return next((one for one in findings if str(one.code) == self.code), None)


@dataclass(frozen=True)
class Failed:
    """A part that fails: the id of its scenario, its finding, and in words its fault, empty where it has none."""

    scenario: str
    finding: Finding
    crash: str = ""


@dataclass
class Tries:
    """The tries of one shrinking, each in a folder of its own on the same JVM.

    Parameters
    ----------
    session
        It is open.
    preparation
        The subject, whose events are replaced.
    whole
        The scenario that is made smaller.
    scenario
        The id of its fault.
    wanted
        What it must fail with.
    full
        Whether the fault is one of the full plan.
    """

    session: Session
    preparation: Preparation
    whole: Whole
    scenario: str
    wanted: SameFinding
    full: bool = False
    failed: dict[Kept, Failed] = field(default_factory=dict)
    not_run: list[str] = field(default_factory=list)
    _number: int = 0
    _plan: ScenarioPlan | None = None

    def fails(self, kept: Kept, keeper: Keeper | None = None) -> bool:
        """Whether a part fails with the same finding. A part that the job cannot be run on does not. `keeper` keeps where its events went.

        Raises
        ------
        StreamproofError
            If no other part can be tried either: the JVM is gone, the machine is short of something.
        """
        self._number += 1
        smaller = self.whole.of(kept)
        try:
            with self.session.trying(self.preparation.exactly(smaller.exactly), f"try-{self._number:04d}", keeper) as executor:
                outcome = self._outcome(executor, kept, smaller)
                if not executor.subject.engine.alive:
                    raise JvmGone("The JVM ended while a scenario was shrunk.", remedy="Shrink it again.")
        except (JvmGone, MachineShort):
            raise
        except StreamproofError as problem:
            if kept in self.failed or not self.failed:
                raise  # of the whole, and of a part that ran before, it says that nothing can be run any more
            self.not_run.append(problem.message)
            return False
        found = self.wanted.of(outcome.checks) if outcome is not None else None
        if outcome is not None and found is not None:
            self.failed[kept] = Failed(outcome.plan.id, found, in_words(outcome.plan) if kept.fault else "")
        return found is not None

    def _outcome(self, executor: Executor, kept: Kept, smaller: Smaller) -> Outcome | None:
        recording = executor.record("default")
        executor.subject.foresee()
        if not kept.fault:
            return self._fault_free(executor, recording)
        recordings = {"default": recording}
        if self.full:
            recordings["rare"] = executor.record("rare", settings=executor.subject.rare)
        plans, _ = executor.subject.plans(recordings, full=self.full, quick=False)
        plan = self._like(plans, smaller)
        if plan is None:
            return None
        outcomes = list(executor.run_all([plan], recordings, lambda: False))  # to its end: one that is left early ends the children
        return outcomes[0] if outcomes else None

    def _fault_free(self, executor: Executor, recording: Recording) -> Outcome:
        """The run without a fault; what is compared with a second run only where the finding is one of those."""
        outcome = executor.judge_recording(FAULT_FREE, recording)
        if any(check.name == self.wanted.checker for check in outcome.checks):
            return outcome
        shipped = executor.record("shipped", trace=False)
        return replace(outcome, checks=[*outcome.checks, *executor.subject.compare(recording, shipped)])

    def _like(self, plans: Sequence[ScenarioPlan], smaller: Smaller) -> ScenarioPlan | None:
        """The scenario of a plan that has the fault; the first plan is that of the whole, and has it by its id.

        Raises
        ------
        ConfigurationError
            If the first plan does not have it.
        """
        if self._plan is None:
            found = chosen(plans, self.scenario)
            if len(found) != 1:
                raise ConfigurationError(
                    f"{self.scenario} names {len(found)} scenarios.", required="One scenario is shrunk at a time."
                )
            [self._plan] = found
            return self._plan
        assert self._plan.step is not None, "it has a fault"
        return alike(plans, self._plan, smaller.batch(self._plan.step.batch))
