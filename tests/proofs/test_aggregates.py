"""Declared aggregates are proved, and a proof finds a merge that forgets a side and a sketch that is worse than it says.

The quick plan has 33 scenarios: `streamproof prove tests/proofs/jobs/aggregates --quick`.
"""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "aggregates"
CARELESS = """

from dataclasses import replace  # noqa: E402

from streamproof.stream.aggregates import Sketch  # noqa: E402


class Careless(Sketch):
    def column(self, name, rows):
        return replace(Sketch(**vars(self)), error=0.5).column(name, rows)


def careless(sketches):
    return {name: Careless(**vars(one)) for name, one in sketches.items()}

"""


@pytest.mark.full
def test_r23_declared_aggregates_are_proved(tmp_path: Path) -> None:
    proof = prove(Path(shutil.copytree(JOB, tmp_path / "job")), only="fault-free,publish/summaries@2:after,work/state.0.1@2:after")

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == 3
    assert proof.report["not_compared"] == [], "every column is compared by its class"


@pytest.mark.full
def test_r23_a_merge_that_forgets_a_side_and_a_careless_sketch_are_found(tmp_path: Path) -> None:
    job = Path(shutil.copytree(JOB, tmp_path / "job"))
    text = (job / "job.py").read_text()
    text = text.replace('"n": "left.n + right.n"', '"n": "greatest(left.n, right.n)"')
    text = text.replace("import streamproof as sp\n", f"import streamproof as sp\n{CARELESS}", 1)
    text = text.replace("**sp.sketch.percentiles(", "**careless(sp.sketch.percentiles(").replace(
        "error=0.05),\n        venues", "error=0.05)),\n        venues"
    )
    (job / "job.py").write_text(text)

    proof = prove(job, only="fault-free")

    assert not proof
    checks = {check["name"]: check for check in proof.report["scenarios"][0]["checks"] if check["verdict"] == "fail"}
    assert {finding["code"] for finding in checks["window-contents"]["findings"]} == {"other-value", "beyond-stated-error"}
    assert "merge-of-parts" in {finding["code"] for finding in checks["accumulators"]["findings"]}
