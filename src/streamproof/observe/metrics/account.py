"""Where records have gone."""

from streamproof.core.account import COUNTED
from streamproof.observe.metric import QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.events import BatchCommitted, QueryStarted, WatermarkLeapt

# By all labels that both have: two processes may run a job of one name, such as staging and production, and each is told from the other by its `instance`.
_SHARE = 'rate(streamproof_records_total{{place="{place}"}}[15m]) / ignoring (place) group_left () rate(streamproof_input_records_total[15m]) > {share}'
PLACES = Metric(
    name="records_total",
    kind=Kind.COUNTER,
    unit="records",
    labels=(QUERY, "place"),
    means="Records of committed batches by their place in the account: emitted, late, rejected, duplicate and so on.",
    bad="The share of late or rejected ones rises.",
    todo="late: the lag of the source is too short for what comes. rejected: the output rejected has each record with its reason.",
    readings={
        BatchCommitted: lambda event: [
            ((event.query, place), number) for place, number in event.counts.items() if place in COUNTED and number >= 0
        ],
    },
    shown="rate(streamproof_records_total[5m])",
    alerts=(
        Alert(
            name="StreamproofManyLate",
            when=_SHARE.format(place="late", share=0.05),
            lasting="10m",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: {{ $value | humanizePercentage }} of the records of {{ $labels.query }} are late.",
            todo="They are in the output late, if the job returns it. If that lasts, give the source a longer lag: streamproof lag works it out.",
        ),
        Alert(
            name="StreamproofManyRejected",
            when=_SHARE.format(place="rejected", share=0.01),
            lasting="10m",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: {{ $value | humanizePercentage }} of the records of {{ $labels.query }} are rejected.",
            todo="The output rejected has each with its reason. One reason that is new is a producer that has changed.",
        ),
    ),
)
LEAPS = Metric(
    name="watermark_leaps_total",
    kind=Kind.COUNTER,
    unit="leaps",
    labels=(QUERY,),
    means="How often the watermark went ahead by more than a day, or past the clock.",
    bad="It rises: one event with a wrong time made it leap, and what comes after is late.",
    todo="Find the event by its time, and set a limit (future in event_time), by which such records are rejected.",
    readings={
        QueryStarted: lambda event: [((event.query,), 0)],  # Prometheus sees no increase in a series that begins with 1
        WatermarkLeapt: lambda event: [((event.query,), 1)],
    },
    alerts=(
        Alert(
            name="StreamproofWatermarkLeapt",
            when="increase(streamproof_watermark_leaps_total[15m]) > 0",
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: the watermark of {{ $labels.query }} leapt ahead, and what comes after is late.",
            todo="One event with a wrong time does that. Late records are in the output late. Find the event, and bound event times (future).",
        ),
    ),
)
METRICS = (PLACES, LEAPS)
