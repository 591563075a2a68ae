"""What each metric and each alert is, and what to do: the page for whoever is woken. The project's own reference is the same text."""

from collections.abc import Iterator

from streamproof.observe.metric import Metric, Severity
from streamproof.observe.metrics import ALERTS, QUESTIONS
from streamproof.observe.otel import naming

FILE = "streamproof-runbook.md"
_WHOM = {Severity.PAGE: "wakes somebody", Severity.TICKET: "can wait for the morning"}


def runbook() -> str:
    """Markdown: the alerts first, then all metrics."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Metrics and alerts"
    yield ""
    yield "`streamproof run my_job --metrics 9464` shows these metrics to Prometheus while the job runs. `streamproof monitoring DIR` writes the"
    yield "alerts as rules for Prometheus, a dashboard for Grafana, and this page. Every series has the name of the job as `job_name`."
    yield "`--otel` sends the same numbers to an OpenTelemetry collector, by the names and units in the rows OpenTelemetry. Plain PySpark jobs"
    yield 'have the metrics that say so, by `sp.watch(spark, metrics="9464")`.'
    yield ""
    yield "## Alerts"
    yield ""
    yield "| alert | | what to do |"
    yield "|---|---|---|"
    for metric, alert in ALERTS:
        yield f"| [`{alert.name}`](#{metric.full_name}) | {_WHOM[alert.severity]} | {alert.todo} |"
    for question, metrics in QUESTIONS.items():
        yield ""
        yield f"## {question}"
        for metric in metrics:
            yield from _section(metric)


def _section(metric: Metric) -> Iterator[str]:
    yield ""
    yield f"### {metric.full_name}"
    yield ""
    yield metric.means
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| kind | {metric.kind} |"
    yield f"| unit | {metric.unit} |"
    yield f"| labels | {', '.join(f'`{label}`' for label in metric.labels)} |"
    yield f"| OpenTelemetry | `{naming.name(metric)}`, in `{naming.unit(metric)}` |"
    yield f"| bad | {metric.bad} |"
    yield f"| then | {metric.todo} |"
    if metric.plain:
        yield "| plain PySpark jobs | have it too, by `sp.watch` |"
    for alert in metric.alerts:
        lasting = "at once" if alert.lasting == "0m" else f"where it lasts {alert.lasting}"
        yield f"| alert | `{alert.name}`, {lasting}, {_WHOM[alert.severity]}: `{alert.condition().replace('|', chr(92) + '|')}` |"
