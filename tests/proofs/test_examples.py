"""The worked examples with other windows than the demo's: the quick plan of each."""

import shutil
from pathlib import Path

import pytest

from streamproof.proof import prove

pytestmark = [pytest.mark.spark, pytest.mark.proof, pytest.mark.full]
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["active_users", "sensor_sessions", "observability", "loyalty"])
def test_an_example_is_proved(name: str, tmp_path: Path) -> None:
    job = Path(shutil.copytree(EXAMPLES / name, tmp_path / name))

    proof = prove(job, quick=True)

    assert proof, repr(proof)
    assert proof.report["counts"]["pass"] == len(proof.report["scenarios"]) > 20
