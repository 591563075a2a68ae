"""Faultless histories that a test then breaks."""

import pytest

from streamproof.prove.artifacts.history import History
from unit.prove.small import ONCE, PLAIN, RECORDS, faultless


@pytest.fixture
def once() -> History:
    """Deduplication and windows: the windows 60-90 of clients a and b are emitted by batch 2, the window 120-150 stays open."""
    return faultless(ONCE, RECORDS, no_data=1)


@pytest.fixture
def plain() -> History:
    return faultless(PLAIN, RECORDS)
