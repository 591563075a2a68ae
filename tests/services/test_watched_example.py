"""The example that is watched: its database dies, the alert fires, every request is in the account."""

import re
import sys
from pathlib import Path

import pytest
from rich.console import Console

from streamproof.lab import prometheus
from streamproof.observe.rules import alert_rules

pytestmark = [pytest.mark.service, pytest.mark.full]
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_story_goes_as_it_should(tmp_path, monkeypatch):
    if prometheus.found() is None:
        pytest.skip("prometheus is not there: install it, or name the promtool beside it in PROMTOOL")
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    from observability.watched import watched

    console = Console(record=True, width=200)
    sooner = re.sub(r"for: (\d+)m", r"for: \1s", alert_rules())  # the alert waits seconds, not minutes

    assert watched(console, tmp_path / "watched", sooner)

    told = console.export_text()
    assert "no alert fired" in told
    assert "StreamproofOutputWaits fires" in told
