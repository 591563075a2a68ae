"""A machine whose clock is not set to UTC proves the same: instants are compared as instants."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamproof.proof import prove

JOB = Path(__file__).parent / "jobs" / "full_plan"


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.full
@pytest.mark.usefixtures("in_tokyo")
def test_a_job_with_windows_and_late_rows_passes_in_another_time_zone(tmp_path: Path) -> None:
    proof = prove(Path(shutil.copytree(JOB, tmp_path / "job")), only="publish/exposure@2:after")

    assert time.tzname == ("JST", "JST")
    assert proof, repr(proof)
    assert proof.report["conservation"]["fault_free"]["late"] > 0
