"""The alerts of all metrics as a file of rules for Prometheus."""

import json
from collections.abc import Iterator

from streamproof.observe import runbook
from streamproof.observe.metrics import ALERTS

FILE = "streamproof-alerts.yml"


def alert_rules() -> str:
    """YAML, one group. Values are written as JSON strings, which YAML reads alike."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Written by `streamproof monitoring`. The next one overwrites it: put rules of your own into another file."
    yield "groups:"
    yield "  - name: streamproof"
    yield "    rules:"
    for metric, alert in ALERTS:
        yield f"      - alert: {alert.name}"
        yield f"        expr: {_text(alert.when)}"
        yield f"        for: {alert.lasting}"
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
