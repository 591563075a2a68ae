"""Whether the queries of a job run, since when, and what they say."""

from streamproof.observe.metric import NOW, QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.events import Note, QueryEnded, QueryStarted

UP = Metric(
    name="query_up",
    kind=Kind.GAUGE,
    unit="1 or 0",
    labels=(QUERY,),
    means="Whether a query runs.",
    bad="It is not there although the job should run: an error that ends a query ends the run, and this endpoint with it.",
    todo="The service manager has the exit code, and the log of the run the error. Start it again: it goes on where it was.",
    readings={
        QueryStarted: lambda event: [((event.query,), 1)],
        QueryEnded: lambda event: [((event.query,), 0)],
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
METRICS = (UP, STARTED, NOTES)
