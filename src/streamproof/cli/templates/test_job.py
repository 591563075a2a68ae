"""The job survives every crash: no trade is lost, none counted twice, none dropped in silence."""

from pathlib import Path

import streamproof as sp


def test_survives_every_crash() -> None:
    assert sp.prove(Path(__file__).parent).verdict == "pass"
