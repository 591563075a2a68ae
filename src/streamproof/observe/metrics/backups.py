"""Whether the checkpoints of a job lie in a second place too, and how old that copy is."""

from streamproof.observe.metric import NOW, QUERY, Alert, Kind, Metric, Severity
from streamproof.runtime.watching.backup_events import BackedUp, BackupFailed

NEWEST = Metric(
    name="newest_backup_timestamp_seconds",
    kind=Kind.GAUGE,
    unit="seconds since 1970",
    labels=(QUERY,),
    means="When the newest backup of a query's checkpoint was made, or was last seen to have all there is; 0 without any. There where the job has [backup].",
    bad="It falls behind by more than the interval: backups fail.",
    todo="The note backup-failed says why. The job itself is not harmed, but a checkpoint that is damaged now goes back to that moment.",
    readings={
        BackedUp: lambda event: [((event.query,), NOW)],
        BackupFailed: lambda event: [((event.query,), 0.0 if event.newest is None else event.newest.timestamp())],
    },
    while_running=True,
    shown="time() - streamproof_newest_backup_timestamp_seconds",
    alerts=(
        Alert(
            name="StreamproofBackupOld",
            when="time() - streamproof_newest_backup_timestamp_seconds > 3 * streamproof_backup_interval_seconds",
            lasting="0m",
            severity=Severity.TICKET,
            says="{{ $labels.job_name }}: the newest backup of the checkpoint of {{ $labels.query }} is {{ $value }} seconds old.",
            todo="The note backup-failed of the run says why. The job goes on; mend the place that backups go to.",
        ),
    ),
)
INTERVAL = Metric(
    name="backup_interval_seconds",
    kind=Kind.GAUGE,
    unit="seconds",
    labels=(QUERY,),
    means="How often a backup is due, as [backup] every says.",
    bad="It is longer than you want to go back.",
    todo="Set [backup] every.",
    readings={
        BackedUp: lambda event: [((event.query,), event.every)],
        BackupFailed: lambda event: [((event.query,), event.every)],
    },
    while_running=True,
)
WRITTEN = Metric(
    name="backup_written_bytes_total",
    kind=Kind.COUNTER,
    unit="bytes",
    labels=(QUERY,),
    means="Bytes that backups have written: what was there already with the same bytes is not written again.",
    bad="It grows by the whole state each time: the disk of the backups has no hard links, or the state store writes all anew.",
    todo="Choose a disk with hard links, or a longer interval.",
    readings={BackedUp: lambda event: [((event.query,), event.bytes)]},
)
METRICS = (NEWEST, INTERVAL, WRITTEN)
