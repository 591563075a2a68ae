"""Where records have gone."""

from streamproof.core.account import COUNTED
from streamproof.observe.metric import NOW, QUERY, Alert, Kind, Metric, Severity
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
)
LEAPT = Metric(
    name="watermark_leapt_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="When the watermark last leapt in this run; absent where it did not.",
    bad="It is there: one event with a wrong time made the watermark leap.",
    todo="As with watermark_leaps_total.",
    # A moment, since a counter that is 1 when Prometheus first sees it, or 1 again after a restart, has not risen.
    readings={WatermarkLeapt: lambda event: [((event.query,), NOW)]},
    alerts=(
        Alert(
            name="StreamproofWatermarkLeapt",
            when="time() - last_over_time(streamproof_watermark_leapt_timestamp_seconds[15m]) < $15m",
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: the watermark of {{ $labels.query }} leapt ahead, and what comes after is late.",
            todo="One event with a wrong time does that. Late records are in the output late. Find the event, and bound event times (future).",
        ),
    ),
)
METRICS = (PLACES, LEAPS, LEAPT)
