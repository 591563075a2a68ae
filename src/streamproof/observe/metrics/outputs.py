"""What readers see, and what waits for an output."""

from streamproof.observe.metric import QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.events import BatchPublished, PublicationWaiting

_OUTPUT = (QUERY, "output")
ROWS = Metric(
    name="rows_published_total",
    kind=Kind.COUNTER,
    unit="rows",
    labels=_OUTPUT,
    means="Rows that readers of an output have got from this run.",
    bad="It stands while input comes.",
    todo="See what waits for the output, and whether the watermark goes on.",
    readings={BatchPublished: lambda event: [((event.query, event.output), event.rows)]},
    shown="rate(streamproof_rows_published_total[5m])",
)
PUBLISH = Metric(
    name="publish_seconds",
    kind=Kind.HISTOGRAM,
    unit="seconds",
    labels=_OUTPUT,
    means="How long it takes to publish a batch in an output.",
    bad="It takes most of a batch.",
    todo="The store is slow: look there.",
    readings={BatchPublished: lambda event: [((event.query, event.output), event.seconds)]},
    shown="histogram_quantile(0.95, rate(streamproof_publish_seconds_bucket[10m]))",
)
WAITING = Metric(
    name="waiting_batches",
    kind=Kind.GAUGE,
    unit="batches",
    labels=_OUTPUT,
    means="Batches that are staged and wait for an output whose store does not answer.",
    bad="It is above 0 for minutes: readers of the output see nothing new.",
    todo="Start the store, or mend the way to it. The job catches up by itself.",
    readings={
        PublicationWaiting: lambda event: [((event.query, event.output), event.batches)],
        BatchPublished: lambda event: [((event.query, event.output), event.waiting)],
    },
    while_running=True,
    alerts=(
        Alert(
            name="StreamproofOutputWaits",
            when="streamproof_waiting_batches > 0",
            lasting="2m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: {{ $value }} batches wait for {{ $labels.output }}, whose store does not answer.",
            todo="Start the store, or mend the way to it. Nothing is lost: the rows are staged, and the job publishes them by itself.",
        ),
    ),
)
METRICS = (ROWS, PUBLISH, WAITING)
