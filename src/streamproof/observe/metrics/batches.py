"""How long batches take, what comes through, and when the newest was committed."""

from streamproof.observe.metric import NOW, QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import BatchCommitted, BatchPlanned, QueryEnded, QueryStarted
from streamproof.runtime.watching.watched_events import WatchedHeard, WatchedStarted

COMMITTED = Metric(
    name="last_commit_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="When the newest batch of this run was committed.",
    bad="It stands while a batch is under way.",
    todo="See which batch is under way, and in which phase.",
    plain=True,
    readings={BatchCommitted: lambda event: [((event.query,), NOW)]},
    shown="time() - streamproof_last_commit_timestamp_seconds",
)
UNDER_WAY = Metric(
    name="batch_begun_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970, or 0",
    labels=(QUERY,),
    means="When the batch that is under way was planned; 0 where none is.",
    bad="It stands for much longer than batches take.",
    todo="Look at the phases of the batches before, and at what waits for an output.",
    readings={
        BatchPlanned: lambda event: [((event.query,), NOW)],
        BatchCommitted: lambda event: [((event.query,), 0)],
        QueryEnded: lambda event: [((event.query,), 0)],
        QueryDied: lambda event: [((event.query,), 0)],
        QueryStopped: lambda event: [((event.query,), 0)],
    },
    shown="time() - (streamproof_batch_begun_timestamp_seconds > 0)",
    alerts=(
        Alert(
            name="StreamproofStuck",
            # Ten times what batches took in the last hour, and two minutes at least. If none was over in that hour, ten times what they took
            # on the whole, and half an hour at least; half an hour too for a first batch.
            when=(
                "time() - (streamproof_batch_begun_timestamp_seconds > 0) > (clamp_min(10 * rate(streamproof_batch_seconds_sum[1h])"
                " / rate(streamproof_batch_seconds_count[1h]) > 0, $2m) or clamp_min(10 * last_over_time(streamproof_batch_seconds_sum[1d])"
                " / last_over_time(streamproof_batch_seconds_count[1d]), $30m))"
                " or (time() - (streamproof_batch_begun_timestamp_seconds > 0) > $30m unless last_over_time(streamproof_batch_seconds_count[1d]))"
            ),
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: query {{ $labels.query }} works on one batch for {{ $value | humanizeDuration }}.",
            todo="If a store does not answer, StreamproofOutputWaits says which. Else a task hangs, or the batch is too large (batch_time).",
        ),
    ),
)
DURATION = Metric(
    name="batch_seconds",
    kind=Kind.HISTOGRAM,
    unit="seconds",
    labels=(QUERY,),
    means="How long a batch takes, from the moment when Spark looks for input to its commit.",
    bad="It is longer than the trigger, or grows from hour to hour.",
    todo="See which phase grows: work is Spark's tasks, publish is the outputs.",
    plain=True,
    readings={
        BatchCommitted: lambda event: [((event.query,), event.total_ms / 1_000)] if event.total_ms is not None else [],
    },
    shown="histogram_quantile(0.95, rate(streamproof_batch_seconds_bucket[10m]))",
)
PHASES = Metric(
    name="phase_seconds_total",
    kind=Kind.COUNTER,
    unit="seconds",
    labels=(QUERY, "phase"),
    means=(
        "How long the phases of batches took together: plan, work, stage, publish, commit. "
        "Of a plain PySpark job plan, commit, and work-and-write, which Spark does not tell apart."
    ),
    bad="One phase takes most of the time of a job that falls back.",
    todo="work: more cores, or fewer rows per key. publish: the store is slow. plan: many small files.",
    plain=True,
    readings={
        BatchCommitted: lambda event: [
            ((event.query, phase), milliseconds / 1_000) for phase, milliseconds in event.phases_ms.items()
        ],
    },
    shown="rate(streamproof_phase_seconds_total[10m])",
)
INPUT = Metric(
    name="input_records_total",
    kind=Kind.COUNTER,
    unit="records",
    labels=(QUERY,),
    means="Records that committed batches have read.",
    bad="It stands while the source has more.",
    todo="Compare with the consumer lag.",
    plain=True,
    readings={BatchCommitted: lambda event: [((event.query,), event.counts.get("input", 0))]},
    shown="rate(streamproof_input_records_total[5m])",
)
_STANDS = "changes(streamproof_watermark_timestamp_seconds[{0}]) == 0 and changes(streamproof_input_records_total[{0}]) >= 3"
WATERMARK = Metric(
    name="watermark_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="The watermark, in event time: what is older is late, and windows that end before it are closed.",
    bad="It stands while records come: nothing that waits for it comes out.",
    todo="A source that is quiet holds it (idle_after), or event times are wrong.",
    plain=True,
    readings={
        BatchPlanned: lambda event: [((event.query,), event.watermark.timestamp())] if event.watermark is not None else [],
        WatchedHeard: lambda event: [((event.query,), event.watermark.timestamp())] if event.watermark is not None else [],
    },
    shown="time() - streamproof_watermark_timestamp_seconds",
    alerts=(
        Alert(
            name="StreamproofWatermarkStands",
            # By batches, not by minutes: the more time lies between two of them, the further the rule looks back.
            when=f"({' or '.join(map(_STANDS.format, ('15m', '1h', '6h', '1d')))}) and min_over_time(streamproof_query_up[15m]) == 1",
            lasting="5m",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: the watermark of {{ $labels.query }} stands, and batches with records come.",
            todo="Nothing that waits for it comes out. One of several sources is quiet (set idle_after), or event times do not go on.",
        ),
    ),
)
BEHIND = Metric(
    name="watermark_behind_seconds",
    kind=Kind.GAUGE,
    unit="seconds of event time",
    labels=(QUERY,),
    means="How far the watermark of the newest batch with event times lies behind its newest event: the delay, and what came with the batch.",
    bad="It is many times the delay: one source holds the watermark, or an event lies far ahead.",
    todo="As with watermark_timestamp_seconds.",
    while_running=True,
    plain=True,
    readings={
        BatchCommitted: lambda event: (
            [((event.query,), (event.newest_event - event.watermark).total_seconds())]
            if event.newest_event and event.watermark
            else []
        ),
    },
)
LATENCY = Metric(
    name="record_latency_seconds",
    kind=Kind.GAUGE,
    unit="seconds",
    labels=(QUERY, "source", "since", "quantile"),
    means=(
        "How old the records of the newest batch were when readers got them, by quantile (0.5, 0.95, 0.99): "
        "since event, from their event time on; since append, from when Kafka's broker took them."
    ),
    bad="since append grows while consumer lag does not: batches take longer. since event alone: producers send later.",
    todo="append: look at the phases and at the consumer lag. event: look at the producers, and whether the lag of the source is long enough.",
    readings={
        BatchCommitted: lambda event: [
            ((event.query, one.source, str(one.since), quantile), milliseconds / 1_000)
            for one in event.latency
            for quantile, milliseconds in (("0.5", one.p50_ms), ("0.95", one.p95_ms), ("0.99", one.p99_ms))
        ],
    },
    while_running=True,
    shown='streamproof_record_latency_seconds{quantile="0.99"}',
)
LIMIT = Metric(
    name="batch_limit",
    kind=Kind.GAUGE,
    unit="files or records",
    labels=(QUERY, "source"),
    means="How much of a source a batch takes at most.",
    bad="It shrinks to its least under batch_time: batches take longer than wanted however little they read.",
    todo="What a batch costs beside its rows is too much: look at the phases.",
    readings={
        BatchPlanned: lambda event: [((event.query, limit.source), limit.most) for limit in event.limits],
    },
)
BATCHES = Metric(
    name="batches_total",
    kind=Kind.COUNTER,
    unit="batches",
    labels=(QUERY,),
    means="Batches that this run has committed.",
    bad="It stands while a batch is under way.",
    todo="As with last_commit_timestamp_seconds.",
    plain=True,
    readings={
        QueryStarted: lambda event: [((event.query,), 0)],
        WatchedStarted: lambda event: [((event.query,), 0)],
        BatchCommitted: lambda event: [((event.query,), 1)],
    },
    shown="rate(streamproof_batches_total[5m])",
)
METRICS = (COMMITTED, UNDER_WAY, BATCHES, DURATION, PHASES, INPUT, LATENCY, WATERMARK, BEHIND, LIMIT)
