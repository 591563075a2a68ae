"""A live crash and the image of the same step must come to the same end; where only one of them ran, nothing is claimed."""

from streamproof.core.manifest import Digest
from streamproof.core.phases import StepName
from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.comparing import PublishedRows
from streamproof.prove.checkers import CheckResult
from streamproof.prove.judging import Outcome
from streamproof.prove.plan.on_files import FAULTS
from streamproof.prove.plan.planning import Mode, ScenarioPlan
from streamproof.prove.record.images import Image
from streamproof.prove.run import _agreeing

STEP = StepName.parse("commit/commits@1:after")
IMAGE = Image(str(STEP), STEP, (str(STEP),), {}, "disk")


ONE, ANOTHER = PublishedRows({"totals": Digest(1, 0, 1)}), PublishedRows({"totals": Digest(1, 0, 2)})


def outcome(mode: Mode, emitted: int, published: PublishedRows = ONE) -> Outcome:
    plan = ScenarioPlan(f"{STEP}+{mode}", mode, "process-death", STEP, IMAGE)
    return Outcome(plan, True, [CheckResult("account", Verdict.PASS)], 1.0, {"emitted": emitted}, published=published)


def test_another_account_than_the_image_fails() -> None:
    live = _agreeing([outcome(Mode.IMAGE, 5), outcome(Mode.LIVE, 4)])[1]

    assert live.verdict is Verdict.FAIL
    assert live.checks[-1].name == "agreement"


def test_other_rows_than_the_image_published_fail() -> None:
    live = _agreeing([outcome(Mode.IMAGE, 5), outcome(Mode.LIVE, 5, ANOTHER)])[1]

    assert live.verdict is Verdict.FAIL
    assert "in the rows that are published" in live.checks[-1].findings[0].what


def test_the_same_end_passes() -> None:
    assert _agreeing([outcome(Mode.IMAGE, 5), outcome(Mode.LIVE, 5)])[1].checks[-1] == CheckResult("agreement", Verdict.PASS)


def test_without_the_image_nothing_is_claimed() -> None:
    assert [check.name for check in _agreeing([outcome(Mode.LIVE, 5)])[0].checks] == ["account"]


def test_a_task_that_is_tried_again_is_no_crash_to_compare() -> None:
    retried = FAULTS[0]
    plan = ScenarioPlan(f"{STEP}+{retried.name}+live", Mode.LIVE, retried.name, STEP, injected=retried)
    image, live = _agreeing(
        [outcome(Mode.IMAGE, 5), Outcome(plan, True, [CheckResult("account", Verdict.PASS)], 1.0, {"emitted": 4})]
    )

    assert live.verdict is Verdict.PASS
    assert [check.name for check in live.checks] == [check.name for check in image.checks]
