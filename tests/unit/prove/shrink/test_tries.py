"""One try by stand-ins for Spark: which scenario of the smaller plan is run, what counts as the same failure, and which errors end it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.phases import StepName
from streamproof.core.verdict import Verdict
from streamproof.errors import ConfigurationError, JvmGone, StreamproofError
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.judging import Outcome
from streamproof.prove.plan.planning import FAULT_FREE, Mode, ScenarioPlan
from streamproof.prove.scenario.generate import Event, Kind
from streamproof.prove.shrink.kept import Kept, Whole
from streamproof.prove.shrink.tries import SameFinding, Tries

WANTED = SameFinding("exactly-once", "published-again", ("e-1",))
WHOLE = Whole({"trades": [Event(f"e-{number}", Kind.OK, {}, 0, b"{}", number, number, 0) for number in range(3)]})
ALL = WHOLE.all(fault=True)
PART = Kept(frozenset({1}), ALL.borders, fault=True)


def live(name: str) -> ScenarioPlan:
    return ScenarioPlan(f"{name}+live", Mode.LIVE, "process-death", StepName.parse(name))


def outcome(plan: ScenarioPlan, *codes: str, checker: str = "exactly-once") -> Outcome:
    findings = tuple(Finding(code, "e-1", "is wrong") for code in codes)
    return Outcome(plan, True, [CheckResult(checker, Verdict.FAIL if codes else Verdict.PASS, findings, len(codes))], 0.1)


class Stand:
    """A session, its preparation and its executors in one: each try gives the next of `codes`, or raises it."""

    def __init__(self, *codes: Any) -> None:
        self.codes, self.ran, self.given, self.left_early = list(codes), list[str](), list[Any](), False
        self.engine = SimpleNamespace(alive=True)
        self.subject = self

    def exactly(self, events: Any) -> "Stand":
        self.given.append(events)
        return self

    @contextmanager
    def trying(self, preparation: Any, name: str, keeper: Any = None) -> Iterator["Stand"]:
        yield self

    def foresee(self) -> None:
        pass

    def record(self, name: str, **_: Any) -> Any:
        return name

    def plans(self, recordings: Any, *, full: bool, quick: bool) -> Any:
        return [live(f"publish/out@{batch}:after") for batch in range(self.given[-1].batches)], ()

    def _next(self, plan: ScenarioPlan) -> Outcome:
        found = self.codes.pop(0)
        if isinstance(found, Exception):
            raise found
        self.ran.append(plan.id)
        return outcome(plan, *found)

    def run_all(self, plans: Sequence[ScenarioPlan], *_: Any) -> Iterator[Outcome]:
        try:
            yield self._next(plans[0])
        except GeneratorExit:  # as the executor does, which then ends its children
            self.left_early = True
            raise

    def judge_recording(self, plan: ScenarioPlan, _: Any) -> Outcome:
        return self._next(plan)

    def compare(self, *_: Any) -> list[CheckResult]:
        return [CheckResult("shipped", Verdict.FAIL, (Finding("other-rows", None, "differ"),), 1)]


def tries(stand: Any, scenario: str = "publish/out@1:after+live", wanted: SameFinding = WANTED) -> Tries:
    return Tries(stand, stand, WHOLE, scenario, wanted)


def test_the_crash_goes_with_its_batch_and_the_part_is_remembered_with_its_scenario():
    stand = Stand(["published-again"], ["published-again"])
    tried = tries(stand)

    assert tried.fails(ALL)
    assert tried.fails(PART)
    assert stand.ran == ["publish/out@1:after+live", "publish/out@0:after+live"]
    assert [given.total for given in stand.given] == [3, 1]
    assert tried.failed[PART].scenario == "publish/out@0:after+live"


def test_another_finding_is_not_the_same_failure():
    tried = tries(Stand(["published-again"], ["counted-again"], []))

    assert [tried.fails(ALL), tried.fails(PART), tried.fails(PART)] == [True, False, False]


def test_no_run_is_left_before_its_end():
    stand = Stand(["published-again"], ["published-again"])
    tries(stand).fails(ALL)

    assert not stand.left_early


def test_without_the_fault_the_run_itself_is_looked_at():
    stand = Stand(["published-again"])

    assert tries(stand, FAULT_FREE.id).fails(WHOLE.all(fault=False))
    assert stand.ran == ["fault-free"]


def test_what_two_runs_differ_in_is_looked_at_where_the_finding_is_one_of_those():
    assert tries(Stand([]), FAULT_FREE.id, SameFinding("shipped", "other-rows")).fails(WHOLE.all(fault=False))


def test_a_part_that_the_job_cannot_be_run_on_does_not_fail():
    tried = tries(Stand(["published-again"], StreamproofError("no rows")))

    assert tried.fails(ALL)
    assert not tried.fails(PART)
    assert tried.not_run == ["no rows"]


@pytest.mark.parametrize("problem", [StreamproofError("it cannot be bound"), JvmGone("it is gone")])
def test_where_not_even_the_whole_can_be_run_the_reason_is_said(problem):
    with pytest.raises(StreamproofError, match=str(problem)):
        tries(Stand(problem)).fails(ALL)


def test_where_a_part_that_has_failed_cannot_be_run_any_more_the_reason_is_said():
    tried = tries(Stand(["published-again"], StreamproofError("the children are gone")))
    tried.fails(ALL)

    with pytest.raises(StreamproofError, match="the children are gone"):
        tried.fails(ALL)


def test_one_scenario_is_shrunk_at_a_time():
    with pytest.raises(ConfigurationError, match="names 3 scenarios"):
        tries(Stand([]), "publish/*").fails(ALL)
