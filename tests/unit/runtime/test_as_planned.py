"""Which batches of a restored checkpoint are done again as they were planned, and which plan comes next; Spark is not started."""

from types import SimpleNamespace

import pytest

from streamproof.core.notes import NoteCode
from streamproof.runtime import as_planned
from streamproof.runtime.start.options import Start
from streamproof.runtime.watching.events import Emitter, Note, QueryStarted
from unit.runtime.disk import Disk


class Folders(Disk):
    """A disk on which a folder can be removed as a whole."""

    def delete(self, path: str) -> None:
        for name in [name for name in self if name == path or name.startswith(f"{path}/")]:
            del self[name]


def restored(*, committed: int, planned: int, ahead: tuple[int, ...]) -> Folders:
    disk = Folders({f"c/commits/{number}": "" for number in range(committed + 1)})
    disk |= {f"c/offsets/{number}": "" for number in range(planned + 1)}
    disk |= {f"c/_streamproof/ahead/{number}": f"manifest {number}" for number in ahead}
    return disk


def done(disk, monkeypatch, *, real_time=False, commits=lambda batch: True):
    """The batches that were started one by one, with what the run has said."""
    started, heard = [], []
    monkeypatch.setattr(as_planned._jvm, "Storage", lambda _: disk)

    def start_query(bound, query, spark, start):
        assert start.one_batch
        assert not start.replay_last
        batch = 1 + max(int(name.rpartition("/")[2]) for name in disk if name.startswith("c/commits/"))
        started.append(batch)
        start.emitter.emit(QueryStarted(query, "r", "c", {}, batch))
        start.emitter.emit(Note(query, "restored", str(NoteCode.RESTORED)))
        if commits(batch):
            disk[f"c/commits/{batch}"] = disk[f"c/offsets/{batch}"] = ""
        return SimpleNamespace(wait=lambda _: True, protocol=SimpleNamespace(look_for_commit=lambda: None))

    monkeypatch.setattr(as_planned, "start_query", start_query)
    bound = SimpleNamespace(
        checkpoint=lambda _: "c", config=SimpleNamespace(trigger=SimpleNamespace(real_time=real_time), backup=None)
    )
    start = Start(replay_last=True, emitter=Emitter(heard.append))
    end = SimpleNamespace(is_set=lambda: False)
    notes = as_planned.do_again_as_planned(bound, "sums", SimpleNamespace(newSession=lambda: None), start, end)
    return started, heard, notes


def test_a_checkpoint_that_was_not_restored_has_nothing_to_do_again(monkeypatch):
    assert done(restored(committed=3, planned=3, ahead=()), monkeypatch) == ([], [], [])


@pytest.mark.parametrize(
    ("planned", "ahead", "batches"),
    [(3, (4, 5, 6), [4, 5, 6]), (4, (5, 6), [4, 5, 6]), (4, (4, 5), [4, 5]), (3, (2, 3, 4), [4])],
    ids=["plans alone", "one is planned already", "planned, and its plan", "some are done"],
)
def test_one_after_the_other_and_then_the_plans_are_gone(planned, ahead, batches, monkeypatch):
    disk = restored(committed=3, planned=planned, ahead=ahead)

    started, heard, notes = done(disk, monkeypatch)

    assert started == batches
    assert [note.code for note in notes] == [NoteCode.AS_PLANNED]
    assert f"its batches {batches[0]} to {batches[-1]} are done again as they were planned." in notes[0]
    assert [type(event) for event in heard] == [Note, QueryStarted], "as of one start, and not that logs were put back"
    assert {name for name in disk if "/manifests/" in name} == {
        f"c/_streamproof/manifests/{number}" for number in ahead if number > 3
    }
    assert not [name for name in disk if "/ahead" in name]


def test_a_gap_gives_the_plans_up(monkeypatch):
    disk = restored(committed=3, planned=3, ahead=(5, 6))

    started, _, notes = done(disk, monkeypatch)

    assert started == []
    assert [note.code for note in notes] == [NoteCode.PLANS_GIVEN_UP]
    assert notes[0].startswith("The plans of the batches 5 to 6 of sums are not used: the plan of batch 4 is not among them.")


def test_a_batch_that_is_not_committed_is_left_to_the_start_that_comes(monkeypatch):
    disk = restored(committed=3, planned=3, ahead=(4, 5, 6))

    started, _, _ = done(disk, monkeypatch, commits=lambda batch: batch < 5)

    assert started == [4, 5]
    assert "c/_streamproof/ahead/5" in disk


def test_the_real_time_trigger_plans_anew(monkeypatch):
    disk = restored(committed=3, planned=3, ahead=(4, 5))

    started, _, notes = done(disk, monkeypatch, real_time=True)

    assert (started, [note.code for note in notes]) == ([], [NoteCode.PLANS_GIVEN_UP])
