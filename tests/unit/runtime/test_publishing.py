"""Outputs that are down are asked ever less often, and what waits for them is published in order (R8); no Spark is started."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.core.manifest import Chain, Digest, Fingerprint, LedgerEntry, Manifest, Section
from streamproof.errors import CheckpointError, SinkUnavailable, StagedRowsGone, StoreEmptied, TwoDrivers, WrongCheckpoint
from streamproof.runtime.batch.pauses import FIRST_SECONDS, LONGEST_SECONDS, Pause
from streamproof.runtime.watching.events import QueryEvents

publishing = pytest.importorskip("streamproof.runtime.batch.publishing")


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        assert seconds > 0, "nobody turns in circles"
        self.now += seconds


@dataclass
class Store:
    """A sink whose store may be down; it counts how often it is asked."""

    down: bool = False
    asked: int = 0
    taken: list[int] = field(default_factory=list)
    found: Sequence[LedgerEntry] = ()
    may_lag: bool = True
    place: Any = field(default_factory=lambda: SimpleNamespace(staging="out/_staging", where="kafka://h/kept"))
    dropped: list[str] = field(default_factory=list)
    newest: int = -1
    staged: tuple[int, ...] = ()

    def complete(self, manifest: Manifest, section: Section) -> bool:
        if self.down:
            raise SinkUnavailable("it is down.", required="Nothing is lost.")
        return manifest.batch <= self.newest

    lacks: bool = False
    owned: LedgerEntry | None = None

    def owner(self) -> LedgerEntry | None:
        return self.owned

    def has_staged(self, batch: int) -> bool:
        return batch in self.staged

    def prepare(self, manifest: Manifest, section: Section) -> None:
        """Nothing to prepare."""

    def publish(self, manifest: Manifest, section: Section) -> None:
        self.asked += 1
        if self.down:
            raise SinkUnavailable("it is down.", required="Nothing is lost.")
        if self.lacks:
            raise StoreEmptied("kafka://h/kept knows nothing of batch 1")
        if self.found and self.found[0].manifest != manifest.id:
            raise TwoDrivers("another manifest", required="one driver")
        self.taken.append(manifest.batch)

    def entries(self, batch: int) -> Sequence[LedgerEntry]:
        return self.found

    def abort(self, directory: str) -> None:
        self.dropped.append(directory)


def entry(batch: int, incarnation: str = "i") -> LedgerEntry:
    return LedgerEntry("job", "kept", incarnation, batch, shard=0, manifest="m", fingerprint="f", rows=1, hash=1)


def manifest(batch: int, rows: int = 1) -> Manifest:
    section = Section("kept", "main", f"_staging/{batch}", (), Digest(rows=rows, hash=batch))
    return Manifest(f"m{batch}", "job", "kept", "i", batch, "a", Fingerprint(0, (), {}), "", {}, (section,), {"input": 1})


class Manifests:
    checkpoint = "checkpoint"

    def read(self, batch: int) -> Manifest:
        return manifest(batch)

    def batches(self) -> list[int]:
        return [0, 1, 2]

    def newest_first(self) -> Iterator[Manifest]:
        return map(manifest, reversed(self.batches()))

    def path(self, batch: int) -> str:
        return f"manifests/{batch}"

    def mark_unknown(self, since: int) -> None:
        self.unknown_since = since


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def publisher(clock, store):
    return publishing.Publisher(
        Manifests(), {"kept": store}, {"kept": 100}, QueryEvents("kept"), clock=clock, wait=clock.wait, admit=lambda _: -1
    )


def test_r8_batches_go_straight_to_waiting_while_an_output_is_left_alone(publisher, store, clock):
    store.down = True
    for batch in range(50):
        publisher.publish(manifest(batch))

    assert store.asked == 1
    assert publisher.backlogs["kept"].waiting == list(range(50))
    clock.now += FIRST_SECONDS
    store.down = False
    publisher.publish(manifest(50))
    assert store.taken == list(range(51))
    assert publisher.events.notes == [
        "The output kept had to wait (50 batches at most, asked 2 times, with growing pauses): it is down."
    ]


def test_r8_what_a_store_has_taken_after_a_pause_stays_staged_until_it_has_taken_the_next(publisher, store, clock):
    """It may go down again and have lost it."""
    store.down = True
    for batch in range(3):
        publisher.publish(manifest(batch))
    clock.now += FIRST_SECONDS
    store.down = False

    publisher.catch_up()
    assert (store.taken, store.dropped) == ([0, 1, 2], ["_staging/0", "_staging/1"])
    publisher.finish(1)
    assert store.dropped == ["_staging/0", "_staging/1", "_staging/2"]


@pytest.mark.parametrize("staged", [(), (4,)])
def test_a_store_that_was_down_when_the_run_began_is_asked_what_it_has_before_it_gets_more(publisher, store, clock, staged):
    """A copy that lagged behind may stand in for it: of what is not staged any more the sink then says that it is gone."""
    store.down, store.newest, store.staged = True, 2, staged
    publisher.look_back(range(5))
    assert publisher.backlogs["kept"].waiting == list(staged), "more cannot be known"
    publisher.publish(manifest(5))
    assert store.asked == 0
    clock.now += FIRST_SECONDS
    store.down = False

    publisher.publish(manifest(6))

    assert store.taken == [3, 4, 5, 6]


def test_an_output_that_has_everything_when_it_comes_back_gets_nothing_again(publisher, store, clock):
    store.down, store.newest, store.staged = True, 4, (4,)
    publisher.look_back(range(5))
    clock.now += FIRST_SECONDS
    store.down = False

    publisher.publish(manifest(5))

    assert store.taken == [5]


def test_looking_back_costs_as_much_as_there_are_batches_with_rows(store, clock, monkeypatch):
    """Each manifest names the batch with rows before it: those between, without rows for the output, are not read."""
    read = []

    def chained(_: Manifests, batch: int) -> Manifest:
        read.append(batch)
        found = manifest(batch, rows=int(batch in (3, 40_000, 90_000)))
        before = max((with_rows for with_rows in (3, 40_000, 90_000) if with_rows < batch), default=-1)
        return replace(found, sections=(replace(found.sections[0], earlier=Chain(newest=before)),))

    monkeypatch.setattr(Manifests, "read", chained)
    publisher = publishing.Publisher(
        Manifests(), {"kept": store}, {"kept": 100}, QueryEvents("kept"), clock=clock, wait=clock.wait, admit=lambda _: -1
    )
    store.newest = 3

    publisher.look_back(range(99_900, 100_000))

    assert publisher.backlogs["kept"].waiting == [40_000, 90_000]
    assert read[:4] == [99_999, 90_000, 40_000, 3]


def emptied(monkeypatch, batches, with_rows):
    """A hundred manifests, of which the batches with rows are none: the newest of those is older."""
    read = []

    def kept(_: Manifests, batch: int) -> Manifest | None:
        read.append(batch)
        found = manifest(batch, rows=0)
        chain = Chain(newest=with_rows, count=7, sum=70)
        return replace(found, sections=(replace(found.sections[0], earlier=chain),)) if batch >= batches[0] else None

    monkeypatch.setattr(Manifests, "read", kept)
    monkeypatch.setattr(Manifests, "batches", lambda _: list(batches))
    return read


@pytest.mark.parametrize("newest", [1_000, 100_000])
def test_a_store_that_was_emptied_is_told_though_its_newest_manifest_is_no_longer_kept(publisher, store, monkeypatch, newest):
    """By the chain, and at a cost that is the same after any number of batches."""
    read = emptied(monkeypatch, range(newest - 100, newest), 40)

    with pytest.raises(StoreEmptied) as told:
        publisher.look_back(range(newest - 100, newest))

    assert told.value.message == "kafka://h/kept knows nothing of batch 40, the newest of 7 that were published there."
    assert "--accept-missing" in told.value.remedy
    assert read == [newest - 1, 40]


def test_a_store_that_has_its_newest_batch_was_not_emptied(publisher, store, monkeypatch):
    emptied(monkeypatch, range(900, 1_000), 40)
    store.found = (LedgerEntry("job", "kept", "i", 40, 0, "m40", "f", 1, 1),)

    publisher.look_back(range(900, 1_000))

    assert publisher.backlogs["kept"].waiting == []


def test_a_batch_of_which_a_part_is_published_and_the_manifest_lost_is_told(publisher, store, monkeypatch):
    emptied(monkeypatch, range(900, 1_000), 40)
    store.found = (LedgerEntry("job", "kept", "i", 40, 0, "m40", "f", 1, 1, shards=2),)

    with pytest.raises(CheckpointError, match="kept still waits for its batch"):
        publisher.look_back(range(900, 1_000))


class Folder:
    """Manifests on a disk that only counts what is deleted."""

    def __init__(self, *batches: int) -> None:
        self.there = [str(batch) for batch in batches]

    def names(self, _: str) -> list[str]:
        return list(self.there)

    def delete(self, path: str) -> None:
        self.there.remove(path.rpartition("/")[2])


@pytest.mark.parametrize(("waiting", "left"), [((), range(5, 105)), ((30,), range(5, 105)), ((3, 50), range(2, 105))])
def test_manifests_that_no_rule_needs_go_and_those_of_waiting_batches_stay(waiting, left):
    from streamproof.runtime.journal.manifests import ManifestStore

    folder = Folder(*range(105))

    ManifestStore(folder, "checkpoint").prune(104, waiting)

    assert folder.there == [str(batch) for batch in left]


ENTRY = LedgerEntry("job", "kept", "i", 5, 0, "m5", "f", 1, 1)


@pytest.mark.parametrize(
    ("batch", "rows", "found", "refused"),
    [
        (4, 1, (), "has batch 5 .* and not batch 4, which has rows for it now"),
        (4, 1, (ENTRY,), None),
        (5, 1, (ENTRY,), None),
        (6, 1, (), None),
        (4, 0, (), None),
        (4, 0, (ENTRY,), "has batch 4 .* which has no rows for it now"),
        (6, 0, (), None),
    ],
)
def test_r1_batches_are_in_an_outputs_ledger_in_order(store, batch, rows, found, refused):
    """One with rows that is not there, before one that is, or one without that is, belongs to an older copy of the checkpoint."""
    publisher = publishing.Publisher(Manifests(), {"kept": store}, {"kept": 100}, QueryEvents("kept"))
    publisher.begin(lambda _: 5)
    store.found = tuple(replace(entry, manifest=f"m{batch}") for entry in found)

    if refused is None:
        publisher.publish(manifest(batch, rows))
    else:
        with pytest.raises(WrongCheckpoint, match=refused):
            publisher.publish(manifest(batch, rows))


def test_r1_the_newest_batch_of_an_output_has_rows_in_the_checkpoint_too(store, monkeypatch):
    """Seen when the store answers for the first time, also if that is after the batches of a whole run."""
    store.found = (ENTRY,)
    monkeypatch.setattr(Manifests, "read", lambda _, batch: manifest(batch, rows=0))
    publisher = publishing.Publisher(Manifests(), {"kept": store}, {"kept": 100}, QueryEvents("kept"))

    with pytest.raises(WrongCheckpoint, match=r"has batch 5 .* which has no rows for it now"):
        publisher.begin(lambda _: 5)


def test_r8_pauses_grow_to_half_a_minute_and_begin_anew_once_it_has_answered(publisher, store, clock):
    store.down = True
    publisher.publish(manifest(0))
    tries = []
    for _ in range(2_000):
        before = store.asked
        publisher.catch_up()
        tries += [clock.now] if store.asked > before else []
        clock.now += 0.1

    waits = [later - earlier for earlier, later in pairwise(tries)]
    assert store.asked < 20
    assert waits[0] < 2
    assert LONGEST_SECONDS / 2 <= waits[-1] <= LONGEST_SECONDS + 0.2
    store.down = False
    clock.now += LONGEST_SECONDS
    publisher.catch_up()
    store.down = True
    publisher.publish(manifest(1))
    assert publisher.behind[0].seconds <= FIRST_SECONDS


def test_r8_the_end_of_a_run_asks_a_last_time_and_says_what_waits(publisher, store, clock):
    store.down = True
    publisher.publish(manifest(0))

    with pytest.raises(SinkUnavailable, match="1 batch of kept wait: it is down"):
        publisher.finish(30)

    assert clock.now == pytest.approx(30, abs=0.1)
    assert 4 < store.asked < 10
    store.asked = 0
    with pytest.raises(SinkUnavailable):
        publisher.finish(0)
    assert store.asked == 1, "even in its pause"


def test_a_run_that_is_asked_to_end_waits_for_no_store(publisher, store, clock):
    store.down = True
    publisher.publish(manifest(0))

    assert publisher.finish(30, lambda: clock.now >= 2) is False
    assert clock.now < 5
    assert publisher.behind
    store.down = False
    assert publisher.finish(60) is True


def test_what_is_behind_is_shown_with_its_pause(publisher, store):
    store.down = True
    publisher.publish(manifest(0))
    (behind,) = publisher.behind

    assert (behind.output, behind.batches) == ("kept", 1)
    assert FIRST_SECONDS / 2 <= behind.seconds <= FIRST_SECONDS


def test_two_jobs_do_not_pause_in_step():
    pauses = [Pause(name, Clock()) for name in ("a/kept", "b/kept")]
    for pause in pauses:
        pause.begin()

    assert pauses[0].seconds_left != pauses[1].seconds_left


def test_r7_what_another_manifest_has_published_stands_only_when_that_is_accepted(publisher, store):
    store.found = [LedgerEntry("job", "kept", "i", 0, 0, "another", manifest(0).fingerprint.hash, 7, 7)]
    with pytest.raises(TwoDrivers):
        publisher.publish(manifest(0))

    publisher.accepted = 0
    publisher.publish(manifest(0))

    assert store.taken == [0], "under the id that the ledger knows"
    assert "with 7 rows; this one holds 1" in publisher.events.notes[0]


def test_r7_rows_that_are_gone_of_a_batch_that_spark_has_left_behind_have_another_way_out(publisher, store, monkeypatch):
    def gone(manifest: Manifest, _: Section) -> None:
        raise StagedRowsGone("gone", remedy="--replay-last", batch=manifest.batch)

    monkeypatch.setattr(store, "publish", gone)
    publisher.backlogs["kept"].waiting = [1]
    with pytest.raises(StagedRowsGone) as older:
        publisher.catch_up()
    publisher.backlogs["kept"].waiting = [2]
    with pytest.raises(StagedRowsGone) as newest:
        publisher.catch_up()

    assert "Spark has gone beyond batch 1" in older.value.required
    assert newest.value.remedy == "--replay-last"


@pytest.mark.parametrize(
    ("owned", "said"),
    [
        (
            entry(2),
            "Another driver works on this checkpoint, or has: batch 2 is published in kafka://h/kept, and this one was at batch 2.",
        ),
        (entry(7), "batch 7 is published in kafka://h/kept, and this one was at batch 2."),
        (
            entry(0, "of another checkpoint"),
            "belongs to the checkpoint with the incarnation of anoth, up to batch 0; this one is i.",
        ),
    ],
    ids=["it published this batch", "it is further", "it began anew"],
)
def test_r7_a_driver_that_goes_on_after_another_has_taken_over_names_that_one(publisher, store, owned, said):
    """It was stopped by SIGSTOP, say: what it had left in the store is gone, since the other has finished it."""
    store.lacks, store.owned = True, owned

    with pytest.raises(TwoDrivers) as told:
        publisher.publish(manifest(2))

    assert said in told.value.message
    assert "let it go on" in told.value.remedy


@pytest.mark.parametrize("owned", [None, entry(1)], ids=["nothing is there", "what was published before"])
def test_a_store_that_was_emptied_is_still_called_so(publisher, store, owned):
    store.lacks, store.owned = True, owned

    with pytest.raises(StoreEmptied):
        publisher.publish(manifest(2))
