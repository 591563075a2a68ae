"""All metrics of a run, by the question that they answer. A new one is added to the list of its file, and is then shown, drawn and documented."""

from collections.abc import Mapping, Sequence

from streamproof.observe.metric import Alert, Metric
from streamproof.observe.metrics import account, backups, batches, lag, outputs, queries, state

QUESTIONS: Mapping[str, Sequence[Metric]] = {
    "Does it run": queries.METRICS,
    "Is everything accounted for": account.METRICS,
    "Is it fast enough": batches.METRICS,
    "What is left to read": lag.METRICS,
    "Do readers get it": outputs.METRICS,
    "State and tables": state.METRICS,
    "Is there a copy of the checkpoint": backups.METRICS,
}
METRICS: Sequence[Metric] = tuple(metric for metrics in QUESTIONS.values() for metric in metrics)
OF_PLAIN_JOBS: Sequence[Metric] = tuple(metric for metric in METRICS if metric.plain)
"""Those that Spark's listener tells of a plain PySpark job."""
ALERTS: Sequence[tuple[Metric, Alert]] = tuple((metric, alert) for metric in METRICS for alert in metric.alerts)
