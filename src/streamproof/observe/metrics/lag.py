"""How much the topics have that is not read yet."""

from streamproof.observe.metric import QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.events import BatchCommitted

CONSUMER_LAG = Metric(
    name="consumer_lag_records",
    kind=Kind.GAUGE,
    unit="records (offsets)",
    labels=(QUERY, "source", "topic", "partition"),
    means="How much of a partition was left to read when the newest batch was planned.",
    bad="It grows for longer than a peak lasts, or one partition has much more than the others.",
    todo="See which phase of a batch grows. One partition alone: its producer's key is hot.",
    plain=True,
    readings={
        BatchCommitted: lambda event: [((event.query, lag.source, lag.topic, str(lag.partition)), lag.lag) for lag in event.lag],
    },
    while_running=True,
    shown="sum without (source, partition) (streamproof_consumer_lag_records)",
    alerts=(
        Alert(
            name="StreamproofFallsBack",
            when=(
                "sum without (source, partition) (deriv(streamproof_consumer_lag_records[15m])) > 0 and "
                "sum without (source, partition) (streamproof_consumer_lag_records) > ignoring (topic) group_left () "
                "$5m * rate(streamproof_input_records_total[15m])"
            ),
            lasting="10m",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: {{ $labels.query }} falls back on {{ $labels.topic }}, by more than five minutes of its input.",
            todo="Nothing is lost while the topic keeps it: compare with its retention. If the phase work takes most of a batch, give it more cores.",
        ),
    ),
)
METRICS = (CONSUMER_LAG,)
