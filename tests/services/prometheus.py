"""A real Prometheus for a test."""

import os
from pathlib import Path

import pytest

from streamproof.lab import prometheus
from streamproof.lab.prometheus import Prometheus


def scraping(folder: Path, target: str, rules: str) -> Prometheus:
    """One that scrapes `HOST:PORT`; without the program the test is skipped, and fails where CI is set."""
    if prometheus.found() is None:
        why = "prometheus is not there: install it, or name the promtool beside it in PROMTOOL"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return Prometheus(folder, scraped=target, rules=rules)
