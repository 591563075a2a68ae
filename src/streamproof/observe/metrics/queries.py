"""Whether the queries of a job run, and what stopped them."""

from streamproof.observe.metric import NOW, QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.events import Note, QueryEnded, QueryStarted, RunFailed

UP = Metric(
    name="query_up",
    kind=Kind.GAUGE,
    unit="1 or 0",
    labels=(QUERY,),
    means="Whether a query runs.",
    bad="It is 0 while another query of the job runs, or the job should run and nothing is scraped.",
    todo="Look at the last error of the run, and start it again: it goes on where it was.",
    readings={
        QueryStarted: lambda event: [((event.query,), 1)],
        QueryEnded: lambda event: [((event.query,), 0)],
    },
    alerts=(
        Alert(
            name="StreamproofQueryDown",
            when="streamproof_query_up == 0 and on (job_name) streamproof_query_up == 1",
            lasting="1m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: query {{ $labels.query }} has ended, and others of the job run on.",
            todo="Its output gets nothing more. Look at the error in the log of the run, then restart the job: it goes on where it was.",
        ),
    ),
)
STARTED = Metric(
    name="query_started_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="When this run of a query began.",
    bad="It changes again and again: something starts the job each time it dies.",
    todo="Look at the error that ends it. A job that dies at one batch each time has a record or a store that it cannot get past.",
    readings={QueryStarted: lambda event: [((event.query,), NOW)]},
    alerts=(
        Alert(
            name="StreamproofRestarts",
            when="changes(streamproof_query_started_timestamp_seconds[15m]) > 2",
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }}: query {{ $labels.query }} was started {{ $value }} times in 15 minutes.",
            todo="Look at the error that ends it each time. Nothing is lost: what was not committed is done again.",
        ),
    ),
)
FAILED = Metric(
    name="run_failed",
    kind=Kind.GAUGE,
    unit="1",
    labels=("code",),
    means="An error has stopped the run, by its code.",
    bad="It is there at all.",
    todo="The code has a section in the reference of codes, with what to do.",
    readings={RunFailed: lambda event: [((event.code,), 1)]},
    alerts=(
        Alert(
            name="StreamproofRunFailed",
            when="streamproof_run_failed == 1",
            lasting="0m",
            severity=Severity.PAGE,
            says="{{ $labels.job_name }} was stopped by an error: {{ $labels.code }}.",
            todo="Look up the code in the reference of codes. Nothing is lost: what was not committed is done again at the next start.",
        ),
    ),
)
NOTES = Metric(
    name="notes_total",
    kind=Kind.COUNTER,
    unit="notes",
    labels=(QUERY, "code"),
    means="What a run has said that is no error, by its code.",
    bad="A code comes that was not there yesterday.",
    todo="The code has a row in the reference of codes.",
    readings={Note: lambda event: [((event.query, event.code), 1)]},
)
METRICS = (UP, STARTED, FAILED, NOTES)
