"""A dashboard for Grafana: a panel for each metric, by the question that it answers."""

from typing import Any

from streamproof.connectors.extras import library
from streamproof.observe.endpoint import JOB
from streamproof.observe.metric import Kind, Metric
from streamproof.observe.metrics import QUESTIONS

FILE = "streamproof-dashboard.json"
_UNITS = {"seconds": "s", "seconds since 1970": "dateTimeAsIso", "bytes": "bytes", "from 0 to 1": "percentunit"}
_WIDTH, _HEIGHT = 8, 7
_WHAT = "the dashboard"


def expression(metric: Metric) -> str:
    """What a panel shows, in PromQL."""
    if metric.shown:
        return metric.shown
    return f"rate({metric.full_name}[5m])" if metric.kind is Kind.COUNTER else metric.full_name


def dashboard() -> str:
    """The dashboard as JSON, to be imported into Grafana; it asks for the data source when it is.

    Raises
    ------
    MissingExtra
        If grafana-foundation-sdk is not installed.
    """

    def sdk(module: str) -> Any:
        return library(f"grafana_foundation_sdk.{module}", "monitor", _WHAT)

    boards, series, prometheus = sdk("builders.dashboard"), sdk("builders.timeseries"), sdk("builders.prometheus")
    models = sdk("models.dashboard")
    made = (
        boards.Dashboard("Streamproof")
        .uid("streamproof")
        .tags(["streamproof"])
        .refresh("30s")
        .time("now-3h", "now")
        .with_variable(boards.DatasourceVariable("source").label("Prometheus").type("prometheus"))
    )
    source = models.DataSourceRef(type_val="prometheus", uid="${source}")
    for title, metrics in QUESTIONS.items():
        made = made.with_row(boards.Row(title))
        for metric in metrics:
            target = prometheus.Dataquery().expr(expression(metric)).legend_format(_legend(metric)).ref_id("A")
            panel = (
                series.Panel()
                .title(metric.name)
                .description(f"{metric.means} Bad: {metric.bad} Then: {metric.todo}")
                .datasource(source)
                .with_target(target)
                .span(_WIDTH)
                .height(_HEIGHT)
            )
            unit = _UNITS.get(metric.unit)
            made = made.with_panel(panel if unit is None or metric.shown else panel.unit(unit))
    return str(sdk("cog.encoder").JSONEncoder(sort_keys=True, indent=2).encode(made.build())) + "\n"


def _legend(metric: Metric) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in (JOB, *metric.labels, "instance"))
