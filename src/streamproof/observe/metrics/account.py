"""Where records have gone, and whether the account adds up."""

from streamproof.core.account import COUNTED
from streamproof.observe.metric import QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.events import BatchCommitted, QueryEnded, WatermarkLeapt

_SHARE = 'rate(streamproof_records_total{{place="{place}"}}[15m]) / on (job_name, query) group_left rate(streamproof_input_records_total[15m]) > {share}'
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
    shown="sum by (job_name, query, place) (rate(streamproof_records_total[5m]))",
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
DIFFERENCE = Metric(
    name="account_difference_records",
    kind=Kind.GAUGE,
    unit="records",
    labels=(QUERY,),
    means="How many records have no place in the account, or two; known when a run has ended.",
    bad="It is not 0.",
    todo="Do not restart over it. Keep checkpoint and outputs, and look at the reference of the code account.",
    readings={QueryEnded: lambda event: [((event.query,), event.account.wanted - event.account.account.total)]},
    alerts=(
        Alert(
            name="StreamproofAccountWrong",
            when="streamproof_account_difference_records != 0",
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: the account of {{ $labels.query }} does not add up by {{ $value }} records.",
            todo="Keep checkpoint and outputs as they are. The result of the run says which place is wrong.",
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
    readings={WatermarkLeapt: lambda event: [((event.query,), 1)]},
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
METRICS = (PLACES, DIFFERENCE, LEAPS)
