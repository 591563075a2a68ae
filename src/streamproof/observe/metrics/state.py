"""How large the state is, and keys and tables that need a look."""

from collections.abc import Callable, Iterable
from typing import Any

from streamproof.observe.metric import NOW, QUERY, Alert, Kind, Metric, Reading, Severity
from streamproof.runtime.watching.events import BatchCommitted, HotKey, RuleRejected, TableRead, TableStays

_OPERATOR = (QUERY, "operator")


def _of(field: str) -> Callable[[Any], Iterable[Reading]]:
    """A figure of each operator with state. Its place stands in its name: two can be of one kind."""

    def readings(event: BatchCommitted) -> Iterable[Reading]:
        for place, state in enumerate(event.state):
            value = getattr(state, field)
            if value is not None:
                yield (event.query, f"{place} {state.operator}"), value

    return readings


def _when_dropped(event: BatchCommitted) -> Iterable[Reading]:
    """The moment, of each operator that has dropped rows in this batch."""
    return [(labels, NOW) for labels, rows in _of("dropped")(event) if rows > 0]


ROWS = Metric(
    name="state_rows",
    kind=Kind.GAUGE,
    unit="rows",
    labels=_OPERATOR,
    means="Rows in the state of an operator. Spark counts them where the job asks for it.",
    bad="It grows from day to day at the same input.",
    todo="A key that is kept for ever, or a watermark that does not go on.",
    plain=True,
    readings={BatchCommitted: _of("rows")},
    while_running=True,
)
MEMORY = Metric(
    name="state_memory_bytes",
    kind=Kind.GAUGE,
    unit="bytes",
    labels=_OPERATOR,
    means="Memory that the state store has taken for an operator, in all partitions.",
    bad="It comes near the memory of the executors.",
    todo="Bound RocksDB's memory, or give the executors more.",
    plain=True,
    readings={BatchCommitted: _of("memory_bytes")},
    while_running=True,
)
DISK = Metric(
    name="state_disk_bytes",
    kind=Kind.GAUGE,
    unit="bytes",
    labels=_OPERATOR,
    means="The files that hold the state of an operator, of all partitions.",
    bad="It would double within a week at the growth of the last day.",
    todo="See what is in the state: streamproof inspect. A key that is kept for ever has no ttl or within.",
    plain=True,
    readings={BatchCommitted: _of("disk_bytes")},
    while_running=True,
    shown="predict_linear(streamproof_state_disk_bytes[1d], 7 * 86400)",
    alerts=(
        Alert(
            name="StreamproofStateGrows",
            when=(
                "predict_linear(streamproof_state_disk_bytes[1d], $7d) > 2 * streamproof_state_disk_bytes "
                "and streamproof_state_disk_bytes > 1e9 and streamproof_state_disk_bytes offset 1d > 0"
            ),
            lasting="1h",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: the state of {{ $labels.operator }} in {{ $labels.query }} doubles within a week.",
            todo="Look at what is in it by its keys. A key without ttl or within stays for ever.",
        ),
    ),
)
UPDATED = Metric(
    name="state_updated_rows_total",
    kind=Kind.COUNTER,
    unit="rows",
    labels=_OPERATOR,
    means="Rows that batches have put into the state of an operator.",
    bad="It is many times the input: each record changes several windows.",
    todo="Longer steps of hopping windows, or fewer keys.",
    plain=True,
    readings={BatchCommitted: _of("updated")},
    shown="rate(streamproof_state_updated_rows_total[5m])",
)
REMOVED = Metric(
    name="state_removed_rows_total",
    kind=Kind.COUNTER,
    unit="rows",
    labels=_OPERATOR,
    means="Rows that have left the state of an operator.",
    bad="It stands while rows are put there.",
    todo="As with state_rows.",
    plain=True,
    readings={BatchCommitted: _of("removed")},
    shown="rate(streamproof_state_removed_rows_total[5m])",
)
DROPPED = Metric(
    name="state_dropped_rows_total",
    kind=Kind.COUNTER,
    unit="rows",
    labels=_OPERATOR,
    means=(
        "Rows of a plain PySpark job that Spark has dropped as late, by its own count (numRowsDroppedByWatermark). "
        "It counts rows as they come to the operator: late records of one key and window that one task has aggregated before count once."
    ),
    bad="It rises: these records are in no output, and Spark says so nowhere else.",
    todo="See how late events come (streamproof lag), and give withWatermark a longer delay, or keep late rows apart before the operator.",
    plain=True,
    readings={BatchCommitted: _of("dropped")},
    shown="rate(streamproof_state_dropped_rows_total[5m])",
)
DROPPED_AT = Metric(
    name="state_rows_dropped_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=_OPERATOR,
    means="When a batch of a plain PySpark job was last over in which Spark had dropped late rows; absent where it dropped none.",
    bad="It is there, and not long ago: the dropped rows are in no output.",
    todo="As with state_dropped_rows_total.",
    plain=True,
    readings={BatchCommitted: _when_dropped},  # as of watermark_leapt_timestamp_seconds
    alerts=(
        Alert(
            name="StreamproofLateRowsDropped",
            when="time() - last_over_time(streamproof_state_rows_dropped_timestamp_seconds[15m]) < $15m",
            lasting="0m",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: Spark has dropped late rows at {{ $labels.operator }} of {{ $labels.query }}; they are in no output.",
            todo="streamproof lag says how late events come, and which delay withWatermark needs. A job of ours has late rows as an output.",
        ),
    ),
)
HOT = Metric(
    name="hot_key_share",
    kind=Kind.GAUGE,
    unit="from 0 to 1",
    labels=_OPERATOR,
    means="The share of rows that one key has, where a hot key was found.",
    bad="The partition of that key takes longer than the others.",
    todo="The event hot-key has the hash of the key, and the guide on skew says what helps.",
    readings={HotKey: lambda event: [((event.query, event.operator), event.share)]},
    while_running=True,
)
TABLE_READ = Metric(
    name="table_rows",
    kind=Kind.GAUGE,
    unit="rows",
    labels=(QUERY, "table"),
    means="Rows of a table that records are looked up in, in its newest version.",
    bad="It falls at once: the table was replaced by a part of it.",
    todo="Look at who writes the table.",
    readings={TableRead: lambda event: [((event.query, event.table), event.rows)]},
)
TABLE_STAYS = Metric(
    name="table_reads_failed_total",
    kind=Kind.COUNTER,
    unit="reads",
    labels=(QUERY, "table"),
    means="How often a table was due and could not be read, so that its former version stays.",
    bad="It rises: records are looked up in what the table was.",
    todo="The note table-stays says what is wrong with it.",
    readings={
        TableRead: lambda event: [((event.query, event.table), 0)],  # Prometheus sees no increase in a series that begins with 1
        TableStays: lambda event: [((event.query, event.table), 1)],
    },
)
TABLE_FAILED = Metric(
    name="table_read_failed_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY, "table"),
    means="When a table was last due and could not be read; absent where all reads went well.",
    bad="It is there, and not long ago: records are looked up in what the table was.",
    todo="As with table_reads_failed_total.",
    readings={TableStays: lambda event: [((event.query, event.table), NOW)]},  # as of watermark_leapt_timestamp_seconds
    alerts=(
        Alert(
            name="StreamproofTableStays",
            when="time() - last_over_time(streamproof_table_read_failed_timestamp_seconds[30m]) < $30m",
            lasting="0m",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: the table {{ $labels.table }} could not be read; records are looked up in its former version.",
            todo="The note table-stays of the run says what is wrong. Mend the table: it is read again when it is due.",
        ),
    ),
)
RULES = Metric(
    name="rules_rejected_total",
    kind=Kind.COUNTER,
    unit="rules",
    labels=(QUERY, "table"),
    means="Rules that came and are no conditions; the former one of that name stays.",
    bad="It rises.",
    todo="The event rule-rejected has the name of the rule and why.",
    readings={RuleRejected: lambda event: [((event.query, event.table), 1)]},
)
METRICS = (ROWS, MEMORY, DISK, UPDATED, REMOVED, DROPPED, DROPPED_AT, HOT, TABLE_READ, TABLE_STAYS, TABLE_FAILED, RULES)
