"""What is proved is what is shipped: a run without trace ids has equal rows and equal step names."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from streamproof.config import output_of
from streamproof.core.verdict import Verdict
from streamproof.prove.artifacts.comparing import by_column, plain, rows_in, without_partners
from streamproof.prove.artifacts.float_order import Steps
from streamproof.prove.checkers import CheckResult, Finding
from streamproof.prove.record.binding import OUT
from streamproof.prove.record.recording import Recording


class Code(StrEnum):
    """What is found here."""

    OTHER_ROWS = "other-rows"
    OTHER_STEPS = "other-steps"


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


def row_differences(one: Path, other: Path, steps: Mapping[str, Steps] | None = None) -> Iterator[Finding]:
    """The differences between the outputs of two scenario folders, one with trace ids and one without: one finding for each output.

    Rows are compared as multisets; floats to a billionth, since the order of addition is not fixed, and what is made of them by its
    step (`steps`, by output). The original bytes of rejected rows hold the trace id and are left aside.
    """
    for name in sorted({path.name for folder in (one, other) for path in (folder / OUT).glob("*")}):
        of_output = (steps or {}).get(output_of(name), {})
        only, missing = without_partners(list(rows_in(one / OUT / name)), list(rows_in(other / OUT / name)), of_output)
        if not only and not missing:
            continue
        example = {column: plain(value) for column, value in by_column((only or missing)[0])}
        yield Finding(
            Code.OTHER_ROWS,
            None,
            f"a run without trace ids, as the job is shipped, has other rows in {name} than the one that is proved",
            None,
            "the same rows",
            f"{len(only):,} rows only with trace ids, {len(missing):,} only without",
            f"such as {example}; a job must not depend on the column _trace, on random numbers, or on the hour",
        )
