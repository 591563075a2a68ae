"""Whether the queries of a job run, since when, and what they say."""

from streamproof.observe.metric import NOW, QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.death_events import QueryDied, QueryStopped
from streamproof.runtime.watching.events import Note, QueryEnded, QueryStarted, RunFailed
from streamproof.runtime.watching.failure import PAGE
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedHeard, WatchedStarted

UP = Metric(
    name="query_up",
    kind=Kind.GAUGE,
    unit="1 or 0",
    labels=(QUERY,),
    means="Whether a query runs.",
    bad="It is not there although the job should run: an error that ends a query ends the run, and this endpoint with it.",
    todo="The service manager has the exit code, and the log of the run the error. Start it again: it goes on where it was.",
    plain=True,
    readings={
        QueryStarted: lambda event: [((event.query,), 1)],
        QueryEnded: lambda event: [((event.query,), 0)],
        QueryDied: lambda event: [((event.query,), 0)],
        QueryStopped: lambda event: [((event.query,), 0)],
        WatchedStarted: lambda event: [((event.query,), 1)],
        WatchedEnded: lambda event: [((event.query,), 0)],
    },
)
STARTED = Metric(
    name="query_started_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="When this run of a query began.",
    bad="It changes again and again: something starts the job each time it dies.",
    todo="Look at the error that ends it. A job that dies at one batch each time has a record or a store that it cannot get past.",
    plain=True,
    readings={
        QueryStarted: lambda event: [((event.query,), NOW)],
        WatchedStarted: lambda event: [((event.query,), NOW)],
    },
    alerts=(
        Alert(
            name="StreamproofRestarts",
            # In an hour, since whoever starts a job may wait for five minutes in between. A job without an interval is started by a timer again and
            # again, and ends well: of such a job only the starts count that find a batch unfinished.
            when=(
                "(changes(streamproof_query_started_timestamp_seconds[1h]) + 1 > 3"
                " and last_over_time(streamproof_trigger_interval_seconds[1h]) >= 0)"
                " or changes(streamproof_batch_resumed_timestamp_seconds[1h]) + 1 > 2"
            ),
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: query {{ $labels.query }} is started again and again, {{ $value }} times within an hour.",
            todo="Look at the error that ends it each time. Nothing is lost: what was not committed is done again.",
        ),
    ),
)
RESUMED = Metric(
    name="batch_resumed_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="When this run of a query began, if the run before had left a batch unfinished; absent if it had not.",
    bad="It changes again and again: the job dies in a batch each time.",
    todo="As with query_started_timestamp_seconds.",
    readings={QueryStarted: lambda event: [((event.query,), NOW)] if event.resumes else []},
)
NOTES = Metric(
    name="notes_total",
    kind=Kind.COUNTER,
    unit="notes",
    labels=(QUERY, "code"),
    means="What a run has said that is no error, by its code.",
    bad="A code comes that was not there yesterday.",
    todo="The code has a row in the reference of codes.",
    plain=True,
    readings={Note: lambda event: [((event.query, event.code), 1)]},
)
DIED = Metric(
    name="query_died",
    kind=Kind.GAUGE,
    unit="1 or 0",
    labels=(QUERY,),
    means="Whether a query of a plain PySpark job has died of an error, until it is started again. An error in a job of ours ends the whole run.",
    bad="It is 1: the other queries of the session go on, and nothing starts this one again.",
    todo="The driver's log and query.exception() have the error.",
    plain=True,
    readings={
        WatchedStarted: lambda event: [((event.query,), 0)],
        WatchedEnded: lambda event: [((event.query,), 1 if event.error is not None else 0)],
    },
    alerts=(
        Alert(
            name="StreamproofQueryDied",
            # With the code of what it died of beside it; without, where that is not known.
            when=(
                "(streamproof_query_died == 1) * ignoring (code, page) group_left (code, page) streamproof_last_failure_info"
                " or (streamproof_query_died == 1 unless ignoring (code, page) streamproof_last_failure_info)"
            ),
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: query {{ $labels.query }} has died, and its process goes on.",
            todo="The driver's log has the error. Nothing starts the query again: let the job end with it (spark.streams.awaitAnyTermination()).",
            beside={"code": "{{ $labels.code }}", "page": "{{ $labels.page }}"},
        ),
    ),
)
_OF_SPARK = "https://spark.apache.org/docs/latest/sql-error-conditions.html"
LAST_FAILURE = Metric(
    name="last_failure_info",
    kind=Kind.INFO,
    unit="always 1",
    labels=(QUERY, "code", "page"),
    means="What a query failed of last: the code of the error, and the page that explains it. Of a plain PySpark job the code is Spark's condition and "
    "the class of the exception. No text of an error is here.",
    bad="It is there.",
    todo="The page says what the code means. An error in a job of ours ends the run, and the endpoint with it: the last scrape may miss it, `--otel` sends it.",
    plain=True,
    readings={
        RunFailed: lambda event: [((event.failure.query if event.failure else "", event.code, f"{PAGE}#error-{event.code}"), 1)],
        WatchedEnded: lambda event: [((event.query, event.error, _OF_SPARK), 1)] if event.error is not None else [],
    },
)
HEARD = Metric(
    name="last_heard_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="When Spark last said anything of a query of a plain PySpark job: it has started, a batch is over, or there was no input.",
    bad="It stands for much longer than it ever did.",
    todo="A batch takes long, or hangs: Spark does not tell when one begins. See its stages in Spark's own page.",
    while_running=True,
    plain=True,
    readings={
        WatchedStarted: lambda event: [((event.query,), NOW)],
        WatchedHeard: lambda event: [((event.query,), NOW)],
    },
    shown="time() - streamproof_last_heard_timestamp_seconds",
    alerts=(
        Alert(
            name="StreamproofSilent",
            # Ten times what lay between two words so far, and ten minutes at least; half an hour where there were not yet two.
            # Whatever was said so far, twice the interval of the trigger at least.
            when=(
                "(time() - streamproof_last_heard_timestamp_seconds > clamp_min(10 * streamproof_heard_interval_seconds_sum"
                " / streamproof_heard_interval_seconds_count, $10m)"
                " or (time() - streamproof_last_heard_timestamp_seconds > $30m unless streamproof_heard_interval_seconds_count > 0))"
                " unless time() - streamproof_last_heard_timestamp_seconds <= 2 * streamproof_trigger_interval_seconds"
            ),
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: Spark has said nothing of query {{ $labels.query }} for {{ $value | humanizeDuration }}.",
            todo="A batch takes long, or hangs in a task or in foreachBatch. Spark's own page shows the stage that is under way.",
        ),
    ),
)
INTERVAL = Metric(
    name="heard_interval_seconds",
    kind=Kind.HISTOGRAM,
    unit="seconds",
    labels=(QUERY,),
    means="How long it took from one word of Spark about a query of a plain PySpark job to the next.",
    bad="It grows: batches take longer.",
    todo="As with batch_seconds.",
    plain=True,
    readings={
        WatchedHeard: lambda event: [((event.query,), event.since_before)] if event.since_before is not None else [],
    },
    shown="histogram_quantile(0.95, rate(streamproof_heard_interval_seconds_bucket[10m]))",
)
TRIGGER = Metric(
    name="trigger_interval_seconds",
    kind=Kind.GAUGE,
    unit="seconds",
    labels=(QUERY,),
    means="The interval of a query's trigger: such a query should run for ever. Absent with the trigger available-now, and where Spark does not tell it.",
    bad="It is longer than readers want to wait.",
    todo="Give the query another trigger.",
    plain=True,
    readings={
        QueryStarted: lambda event: [((event.query,), event.trigger_seconds)] if event.trigger_seconds is not None else [],
        WatchedStarted: lambda event: [((event.query,), event.trigger_seconds)] if event.trigger_seconds is not None else [],
    },
)
METRICS = (UP, STARTED, RESUMED, DIED, LAST_FAILURE, HEARD, INTERVAL, TRIGGER, NOTES)
