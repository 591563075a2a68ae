"""Fixtures of recordings written by hand."""

from pathlib import Path

import pytest

from streamproof.prove.record.journal import Journal
from streamproof.prove.record.paths import Layout
from unit.prove.record.recorder import LAYOUT, Recorder


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "recording")


@pytest.fixture
def layout() -> Layout:
    return LAYOUT


@pytest.fixture
def recorded(recorder: Recorder) -> Journal:
    """Two whole batches."""
    recorder.start()
    recorder.batch(0)
    recorder.batch(1)
    return recorder.journal()
