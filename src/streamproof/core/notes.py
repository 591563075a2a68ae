"""Notes: what a run or a proof says beside its result, each with a code for programs and a sentence for people."""

from enum import StrEnum


class NoteCode(StrEnum):
    """What a note is about. Programs decide by the code; the sentence may change."""

    # of a start
    SET_FROM_OUTSIDE = "set-from-outside"
    RESTORED = "restored-from-manifest"
    TORN_LOG_DROPPED = "torn-log-dropped"
    TORN_MANIFEST_DROPPED = "torn-manifest-dropped"
    PUBLICATION_MENDED = "publication-mended"
    BATCH_TAKEN_BACK = "batch-taken-back"
    LATENESS_ACCEPTED = "lateness-accepted"
    OLDER_REMOVED = "older-batches-removed"
    LOSS_ACCEPTED = "loss-accepted"
    LOSS_KNOWN = "loss-known"
    WEAKER_STATE = "weaker-state"
    SLOWER_STATE = "slower-state"
    NEWER_SPARK = "newer-spark"
    FLOAT_ORDER = "depends-on-float-order"
    AS_PLANNED = "done-again-as-planned"
    PLANS_GIVEN_UP = "plans-given-up"
    # of a run
    REPLAY_ACCEPTED = "replay-accepted"
    MANIFEST_MISSING = "manifest-missing"
    HAD_TO_WAIT = "output-had-to-wait"
    TABLE_STAYS = "table-stays"
    RULE_REJECTED = "rule-rejected"
    BACKUP_FAILED = "backup-failed"
    # of its end
    UNDER_WAY = "batch-under-way"
    STILL_WAITS = "output-still-waits"
    LISTENER_RAISED = "listener-raised"
    NOT_STOPPED = "query-not-stopped"
    LOSS_PENDING = "loss-pending"
    ACCOUNT_UNKNOWN = "account-unknown"
    WATERMARK_LEAPT = "watermark-leapt"
    SOURCE_QUIET = "source-quiet"
    SOURCE_IDLE = "source-idle"
    HOT_KEY = "hot-key"
    NOT_BOUND = "output-not-bound"
    LAG_UNKNOWN = "lag-unknown"
    SEVERAL_QUERIES = "several-queries"
    BOUNDED = "bounded-run"
    SCHEMA_CHANGED = "schema-changed"
    SUBFOLDER_LEFT_OUT = "subfolder-left-out"
    # of a plain PySpark job that is watched
    QUERY_UNNAMED = "query-unnamed"
    PORT_TAKEN = "port-taken"
    PROGRESS_NOT_READ = "progress-not-read"
    PROGRESS_PASSED_OVER = "progress-passed-over"
    # of a proof
    LEFT_BEHIND = "left-behind"
    FAULTS_LEFT_OUT = "faults-left-out"
    QUICK_PLAN = "quick-plan"
    BRIEF_PLAN = "brief-plan"
    CHECKPOINT_EMPTIED = "checkpoint-emptied"
    CUT_SHORT = "cut-short"
    NOT_FIRED = "fault-not-fired"
    ALERTS = "alerts-raised"
    NOT_EXERCISED = "never-exercised"
    UNKNOWN_FILES = "unknown-files"
    TRACE_LOST = "trace-lost"
    NOT_SEEN = "connections-not-seen"
    SAMPLE = "of-the-sample"
    SETTING_LEFT_OUT = "setting-left-out"
    NOT_IN_REAL_TIME = "not-in-real-time"
    EXPECTED = "expected"


class Note(str):
    """A sentence that has a code; it prints, joins and compares as the sentence. `about` names what it is about, such as a setting."""

    code: NoteCode
    about: str

    def __new__(cls, code: NoteCode, text: str, about: str = "") -> "Note":
        note = super().__new__(cls, text)
        note.code, note.about = code, about
        return note

    def __getnewargs__(self) -> tuple[NoteCode, str, str]:  # type: ignore[override]
        return self.code, str(self), self.about
