"""Calls of an API have a key each: what gives several rows of a window or of a key must tell them apart in it."""

import pytest

from streamproof.config import load
from streamproof.errors import ConfigurationError
from streamproof.runtime.binding.bind import bind

JOB = """
import streamproof as sp

@sp.job
def newest(prices: sp.Stream) -> sp.Outputs:
    return sp.Outputs(newest=prices.{calls})
"""
CONFIG = """
[job]
entry = "job.py:newest"

[source.prices]
connector = "files"
path = "data"
format = "json"
schema = "instrument string, version long, price double, ts timestamp"
event_time = {{ column = "ts", lag = "10 seconds" }}

[sink.newest]
connector = "http"
url = "https://api.example/prices"
key = {key}
idempotent = true
"""
LATEST = 'latest("instrument", order_by="version", within="1 day")'
EARLY = 'window(sp.tumbling("1 minute"), by="instrument", emit="early").aggregate(n=sp.sketch.distinct("price"))'


def bound(tmp_path, calls, key):
    (tmp_path / "job.py").write_text(JOB.format(calls=calls))
    (tmp_path / "streamproof.toml").write_text(CONFIG.format(key=key))
    return bind(load(tmp_path))


@pytest.mark.parametrize(
    ("calls", "lacks", "said"),
    [
        (LATEST, "version", "A key of latest() gives a row whenever it changes"),
        (EARLY, "revision", "A window gives several rows"),
    ],
)
def test_a_key_that_is_the_same_for_every_row_is_refused(tmp_path, calls, lacks, said):
    with pytest.raises(ConfigurationError) as refused:
        bound(tmp_path, calls, '["instrument"]')

    assert f'[sink.newest] key lacks "{lacks}"' in refused.value.message
    assert said in refused.value.required
    assert f'Add "{lacks}" to the key' in refused.value.remedy


@pytest.mark.parametrize(("calls", "key"), [(LATEST, '["instrument", "version"]'), (EARLY, '["instrument", "revision"]')])
def test_a_key_that_tells_them_apart_is_taken(tmp_path, calls, key):
    assert bound(tmp_path, calls, key).places["newest"].connector == "http"


def test_a_plain_row_and_a_final_window_have_what_key_they_are_given(tmp_path):
    assert bound(tmp_path, EARLY.replace("early", "final"), '["instrument"]')
    assert bound(tmp_path, 'filter("true", name="all")', '["instrument"]')
