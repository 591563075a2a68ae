"""The alerts of all metrics as a file of rules for Prometheus."""

import json
from collections.abc import Iterator
from datetime import timedelta

from streamproof.observe import runbook
from streamproof.observe.metrics import ALERTS
from streamproof.observe.spans import MINUTE

FILE = "streamproof-alerts.yml"


def alert_rules(minute: timedelta = MINUTE) -> str:
    """YAML, one group. Values are written as JSON strings, which YAML reads alike.

    Parameters
    ----------
    minute
        How long a minute of the rules lasts, where somebody tests them on seconds.
    """
    return "\n".join(_lines(minute)) + "\n"


def _lines(minute: timedelta) -> Iterator[str]:
    yield "# Written by `streamproof monitoring`. The next one overwrites it: put rules of your own into another file."
    yield "groups:"
    yield "  - name: streamproof"
    yield "    rules:"
    for metric, alert in ALERTS:
        yield f"      - alert: {alert.name}"
        yield f"        expr: {_text(alert.condition(minute))}"
        yield f"        for: {alert.holds_for(minute)}"
        yield "        labels:"
        yield f"          severity: {alert.severity}"
        yield "        annotations:"
        yield f"          summary: {_text(alert.says)}"
        yield f"          description: {_text(alert.todo)}"
        yield f"          runbook: {_text(f'{runbook.FILE}#{metric.full_name}')}"
        for name, text in alert.beside.items():
            yield f"          {name}: {_text(text)}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
