"""What a metric is called by OpenTelemetry, and its unit in UCUM: made of the name that Prometheus sees.

The rule goes both ways. A collector or a backend that makes Prometheus' names of OpenTelemetry's (a dot becomes `_`, the unit and `_total`
come to the end) gets ours back, and so the same alerts and dashboard hold there.
"""

from streamproof.observe.metric import PREFIX, Kind, Metric

NAMESPACE = PREFIX.rstrip("_") + "."
_TOTAL = "_total"
_MEASURED = {
    "seconds": "s",
    "seconds of event time": "s",
    "seconds since 1970": "s",
    "seconds since 1970, or 0": "s",
    "bytes": "By",
}
_COUNTED = {
    "1 or 0": "query",
    "always 1": "failure",
    "batches": "batch",
    "files or records": "record",
    "from 0 to 1": "share",
    "leaps": "leap",
    "notes": "note",
    "reads": "read",
    "records": "record",
    "records (offsets)": "record",
    "rows": "row",
    "rules": "rule",
}
_ENDINGS = {"s": "_seconds", "By": "_bytes"}
"""How a unit ends a name of Prometheus."""


def unit(metric: Metric) -> str:
    """Its unit in UCUM; what is counted stands in braces, such as "{record}"."""
    return _MEASURED.get(metric.unit) or f"{{{_COUNTED[metric.unit]}}}"


def name(metric: Metric) -> str:
    """Its name without what the unit and the kind say already: `streamproof_phase_seconds_total` is `streamproof.phase`."""
    short = metric.name.removesuffix(_TOTAL) if metric.kind is Kind.COUNTER else metric.name
    return NAMESPACE + short.removesuffix(_ENDINGS.get(unit(metric), ""))
