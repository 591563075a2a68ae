"""The mistakes that the doctor knows: one module for each, in the order in which a job is written."""

from streamproof.doctor.findings.blocking_lookup import BLOCKING_LOOKUP
from streamproof.doctor.findings.checkpoint_changes import CHECKPOINT_CHANGES
from streamproof.doctor.findings.checkpoint_deleted import CHECKPOINT_DELETED
from streamproof.doctor.findings.checkpoint_missing import CHECKPOINT_MISSING
from streamproof.doctor.findings.checkpoint_shared import CHECKPOINT_SHARED
from streamproof.doctor.findings.clock_skew import CLOCK_SKEW
from streamproof.doctor.findings.data_loss_ignored import DATA_LOSS_IGNORED
from streamproof.doctor.findings.few_keys import FEW_KEYS
from streamproof.doctor.findings.local_checkpoint import LOCAL_CHECKPOINT
from streamproof.doctor.findings.marked_done_first import MARKED_DONE_FIRST
from streamproof.doctor.findings.missed_trigger import MISSED_TRIGGER
from streamproof.doctor.findings.no_watermark import NO_WATERMARK
from streamproof.doctor.findings.not_idempotent import NOT_IDEMPOTENT
from streamproof.doctor.findings.partial_read import PARTIAL_READ
from streamproof.doctor.findings.partitions import PARTITIONS
from streamproof.doctor.findings.retry_storm import RETRY_STORM
from streamproof.doctor.findings.short_retention import SHORT_RETENTION
from streamproof.doctor.findings.small_files import SMALL_FILES
from streamproof.doctor.findings.stale_table import STALE_TABLE
from streamproof.doctor.findings.state_in_memory import STATE_IN_MEMORY
from streamproof.doctor.findings.state_outside import STATE_OUTSIDE
from streamproof.doctor.findings.timer_in_the_past import TIMER_IN_THE_PAST
from streamproof.doctor.findings.unbounded_state import UNBOUNDED_STATE
from streamproof.doctor.findings.wall_clock import WALL_CLOCK
from streamproof.doctor.findings.zero_delay import ZERO_DELAY
from streamproof.doctor.mistake import Mistake

MISTAKES: tuple[Mistake, ...] = (
    NO_WATERMARK,
    ZERO_DELAY,
    WALL_CLOCK,
    UNBOUNDED_STATE,
    STATE_IN_MEMORY,
    STATE_OUTSIDE,
    TIMER_IN_THE_PAST,
    FEW_KEYS,
    PARTITIONS,
    BLOCKING_LOOKUP,
    RETRY_STORM,
    STALE_TABLE,
    NOT_IDEMPOTENT,
    PARTIAL_READ,
    MARKED_DONE_FIRST,
    CHECKPOINT_CHANGES,
    CHECKPOINT_MISSING,
    CHECKPOINT_DELETED,
    CHECKPOINT_SHARED,
    LOCAL_CHECKPOINT,
    DATA_LOSS_IGNORED,
    SHORT_RETENTION,
    SMALL_FILES,
    CLOCK_SKEW,
    MISSED_TRIGGER,
)
