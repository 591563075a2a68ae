"""What is proved is what is shipped: a run without trace ids has equal rows and equal step names."""

from collections.abc import Mapping

from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.comparing import Code, row_differences
from streamproof.prove.artifacts.float_order import Steps
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.record.recording import Recording


def shipped_equals_proved(proved: Recording, shipped: Recording, steps: Mapping[str, Steps]) -> CheckResult:
    """The check "shipped-plan"; `steps` says by output how far values of two right runs may be apart."""
    findings = list(row_differences(proved.binding.folder, shipped.binding.folder, steps))
    other = sorted(proved.steps.comparable ^ shipped.steps.comparable)
    if other:
        what = "a run without trace ids, as the job is shipped, has other durable steps than the one that is proved"
        findings.append(
            Finding(Code.OTHER_STEPS, None, what, None, "the same steps", f"only in one of them: {', '.join(other[:5])}")
        )
    return CheckResult("shipped-plan", Verdict.FAIL if findings else Verdict.PASS, tuple(findings), len(findings))
