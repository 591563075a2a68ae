import pytest

from streamproof.core.phases import Phase, Side, StepName, may_name_steps


@pytest.mark.parametrize(
    "text",
    [
        "plan/offsets@0:after",
        "work/state.0.1@3:after",
        "publish/exposure@3:before",
        "stage/late#2@11:before",
        "exposure:commit/commits@4:after",
        "start/metadata@0:before",
    ],
)
def test_a_step_name_survives_reading_and_writing(text):
    assert str(StepName.parse(text)) == text


def test_the_parts_of_a_step_name():
    step = StepName.parse("totals:stage/exposure#2@3:before")

    assert step == StepName(Phase.STAGE, "exposure", 3, Side.BEFORE, number=2, query="totals")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "publish",
        "publish/exposure@3",
        "publish/exposure:after",
        "nowhere/x@1:after",
        "publish/x@-1:after",
        "publish/x@1:during",
    ],
)
def test_what_is_no_step_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="publish/exposure@3:after"):
        StepName.parse(text)


@pytest.mark.parametrize(
    "pattern",
    [
        "publish/*",
        "exposure:publish/exposure@3:after",
        "*lish/x",
        "exp*/exposure@3:after",
        "[sp][tu]*@2:after",
        "*+live",
        "fault-free",
        "work/state.1@3:after",
    ],
)
def test_a_pattern_that_a_plan_could_hold(pattern):
    assert may_name_steps(pattern)


@pytest.mark.parametrize("pattern", ["", "nonsense", "publish", "pubish/exposure@3:after", "exposure@3"])
def test_a_pattern_that_no_plan_can_hold(pattern):
    assert not may_name_steps(pattern)
