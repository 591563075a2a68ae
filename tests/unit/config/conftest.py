from collections.abc import Callable
from pathlib import Path

import pytest

from streamproof.config import JobConfig, load

GOOD = """\
[job]
entry = "job.py:risk_exposure"
checkpoint = "checkpoints/risk_exposure"
trigger = "10 seconds"
[source.trades]
connector = "files"
path = "data/trades"
format = "json"
schema = "trade_id string, client string, notional decimal(10,2), ts long"
event_time = { column = "ts", unit = "milliseconds", lag = "10 seconds", max_future = "5 minutes" }
[sink.exposure]
connector = "files"
path = "out/exposure"
[spark]
sql.shuffle.partitions = 2
[profile.local.source.trades]
path = "elsewhere"
"""
JOB = """\
import streamproof as sp

@sp.job
def risk_exposure(trades: sp.Stream) -> sp.Outputs:
    checked = trades.require(notional="notional > 0")
    return sp.Outputs(exposure=checked, rejected=checked.rejected)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    job = tmp_path / "my_job"
    job.mkdir()
    (job / "job.py").write_text(JOB)
    (job / "streamproof.toml").write_text(GOOD)
    return job


@pytest.fixture
def loaded(folder: Path) -> Callable[..., JobConfig]:
    """Loads the good file with pieces of it replaced."""

    def loaded(*replacements: tuple[str, str], profile: str | None = None) -> JobConfig:
        text = GOOD
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new, 1)
        (folder / "streamproof.toml").write_text(text)
        return load("my_job", profile=profile)

    return loaded
