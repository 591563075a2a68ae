"""What a job's outputs and the sinks of its file have to do with each other."""

from pathlib import Path

import pytest

from streamproof.config import load
from streamproof.errors import ConfigurationError
from streamproof.runtime.binding import bind

JOB = """
from pyspark.sql import functions as F

import streamproof as sp


@sp.job
def totals(trades: sp.Stream) -> sp.Outputs:
    made = trades.window(sp.tumbling("30 seconds"), by="client", emit="EMIT").aggregate(n=F.count("*"))
    return sp.Outputs(made=made)
"""
FILE = """
[job]
entry = "job.py:totals"
checkpoint = "checkpoint"

[source.trades]
connector = "files"
path = "data"
format = "json"
schema = "client string, ts timestamp"
event_time = { column = "ts", lag = "10 seconds" }

[sink.made]
connector = "http"
url = "http://localhost:1/calls"
key = KEY
"""


def bound(folder: Path, emit: str, key: str):
    (folder / "job.py").write_text(JOB.replace("EMIT", emit))
    (folder / "streamproof.toml").write_text(FILE.replace("KEY", key))
    return bind(load(folder))


def test_calls_of_windows_with_several_rows_need_the_revision_in_their_key(tmp_path):
    with pytest.raises(ConfigurationError) as raised:
        bound(tmp_path, "corrections", '["client", "window_start"]')

    assert '[sink.made] key lacks "revision"' in raised.value.message
    assert bound(tmp_path, "corrections", '["client", "window_start", "revision"]')
    assert bound(tmp_path, "final", '["client", "window_start"]')
