"""200 batches of the job of `streamproof init`: nothing is left behind batch by batch. `make soak` does it for every kind, and for as long as asked."""

import pytest

from soak.catalogue import KINDS
from soak.growth import growths
from soak.kinds import SHORT_MEMORY
from soak.running import soaked

pytestmark = pytest.mark.full

BATCHES = 200
OF_A_QUIET_MACHINE = {"heap", "memory", "batch_ms", "start_seconds"}
"""Memory and time are judged in runs that have the machine for themselves."""


def test_what_a_job_keeps_does_not_grow(tmp_path):
    found = soaked(KINDS["init"], tmp_path / "job", BATCHES, SHORT_MEMORY)

    grown = [each for each in growths(found.samples, found.batches, {}) if each.name not in OF_A_QUIET_MACHINE]
    assert "\n".join(str(each) for each in grown if each.too_much) == ""
    assert {"files checkpoints/risk_exposure/exposure/state", "files tmp", "threads"} <= {each.name for each in grown}
    assert len(found.starts) == 2
