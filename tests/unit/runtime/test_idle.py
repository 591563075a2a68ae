"""Which source of a union is idle, by the clocks of the batches, and what it is made to reach."""

from datetime import timedelta

from streamproof.checkpoint.logs import OffsetLog
from streamproof.core.manifest import Fingerprint
from streamproof.core.notes import NoteCode
from streamproof.runtime.journal.logs import BatchLogs
from streamproof.runtime.watching.idle import IdleSources

SOURCES = ("orders", "refunds")
MINUTE = 60_000


class Batch:
    """Stands for a computed batch: what its sources have reached, seconds, and what was lifted."""

    def __init__(self, *reached):
        self._reached = [None if one is None else one * 1_000 for one in reached]
        self.lifted = {}

    def reached(self):
        return self._reached

    def lift(self, source, watermark_ms):
        self.lifted[SOURCES[source]] = watermark_ms // 1_000


def after(**seconds):
    return IdleSources("totals", SOURCES, {name: timedelta(seconds=of) for name, of in seconds.items()})


def saw(idle, minute, *reached, read=None):
    """What a batch at this minute lifts; sources that have reached something have read something, and others may have."""
    files = {
        str(number): ("f",) if one is not None or (read or ())[number : number + 1] == (True,) else ()
        for number, one in enumerate(reached)
    }
    batch = Batch(*reached)
    idle.saw(BatchLogs(Fingerprint(0, ("o", "o"), files), "", {}, clock_ms=minute * MINUTE), batch)
    return batch.lifted


def test_a_source_reaches_what_the_other_has_reached_once_it_is_idle():
    idle = after(refunds=120)

    assert saw(idle, 0, 100, 40) == {}
    assert saw(idle, 1, 200, None) == {}
    assert idle.now == set()
    assert saw(idle, 2, 300, None) == {"refunds": 300}
    assert [(note.code, note.about) for note in idle.notes()] == [(NoteCode.SOURCE_IDLE, "refunds")]
    assert saw(idle, 3, None, None) == {}  # it is there already
    assert saw(idle, 4, 310, 90) == {}
    assert idle.now == set()


def test_what_was_read_and_rejected_is_heard_of():
    idle = after(refunds=60)
    saw(idle, 0, 100, 40)

    assert saw(idle, 1, 200, None, read=(True, True)) == {}
    assert saw(idle, 2, 300, None) == {"refunds": 300}


def test_a_source_that_was_not_heard_of_since_the_start_holds_the_watermark_unless_it_is_idle():
    idle = after(orders=60)

    assert saw(idle, 0, None, None) == {}
    assert saw(idle, 1, None, None) == {}
    assert idle.now == {"orders"}
    assert saw(idle, 2, None, 50) == {"orders": 50}


def test_without_idle_after_nothing_is_asked():
    idle = after()

    assert saw(idle, 0, 1, 2) == {}
    assert idle.notes() is not None
    assert list(idle.notes()) == []


class Logs:
    """Offset logs of a checkpoint, by the end offsets of both sources."""

    def __init__(self, first, *ends):
        self._logs = {first + number: OffsetLog(0, (first + number) * MINUTE, of, {}) for number, of in enumerate(ends)}

    def batches(self, _):
        return sorted(self._logs)

    def offsets(self, batch):
        return "", self._logs[batch]


def test_a_start_reads_in_the_logs_when_a_source_was_heard_of():
    idle = after(refunds=120)
    idle.look_back(Logs(0, ("1", "1"), ("2", "2"), ("3", "2"), ("4", "2")))

    assert saw(idle, 2, 100, None) == {}  # heard of in batch 1, a minute before
    assert saw(idle, 3, 200, None) == {"refunds": 200}


def test_a_source_that_no_log_has_heard_of_is_quiet_since_the_oldest():
    idle = after(refunds=120)
    idle.look_back(Logs(7, ("1", None), ("2", None)))

    assert saw(idle, 8, 100, None) == {}
    assert saw(idle, 9, 200, None) == {"refunds": 200}


def test_without_a_batch_a_source_is_quiet_since_the_first():
    idle = after(refunds=120)
    idle.look_back(Logs(0))

    assert saw(idle, 5, 100, None) == {}
    assert saw(idle, 7, 200, None) == {"refunds": 200}


def test_where_all_are_idle_one_note_says_that_nothing_moves():
    idle = after(orders=60, refunds=120)
    saw(idle, 0, 100, 40)
    saw(idle, 3, None, None)

    (note,) = idle.notes()

    assert "all sources of totals are idle, so its watermark stands where it is" in note
    assert "goes on without it" not in note


def test_where_another_was_not_heard_of_since_the_start_the_note_says_that_it_stands_still():
    idle = after(orders=60)
    saw(idle, 0, None, None)
    saw(idle, 1, None, None)

    (note,) = idle.notes()

    assert "stands still, since refunds has delivered nothing since this start" in note
