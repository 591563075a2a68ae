"""The job survives every kind of crash: no trade is lost, none counted twice, none dropped in silence."""

from pathlib import Path

import pytest

import streamproof as sp


def test_survives_every_kind_of_crash(capsys: pytest.CaptureFixture[str]) -> None:
    """The quick plan, for every change; it takes about a minute. The standard plan takes longer: streamproof prove."""
    with capsys.disabled():  # so that the progress is seen
        print()
        assert sp.prove(Path(__file__).parent, quick=True, progress=True)
