"""`backup` and `restore`: what is copied, what is shared, what is refused; the checkpoint and former backups stay as they were."""

import errno
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.verify import finding
from streamproof.checkpoint.verify.sound import verify
from streamproof.core.manifest import Fingerprint, Manifest
from streamproof.errors import CheckpointError, ConfigurationError, DiskFull
from streamproof.savepoints import backup as module
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.points import keep_plan, only_one, plans_in, points_in
from streamproof.savepoints.restore import _after, restore
from unit.checkpoint.written import JOIN, OURS, VARIABLES, WINDOWS, contents, copy_of, kafka_checkpoint
from unit.cli.test_inspect_verify import damaged

SUMS = OURS / "checkpoint" / "sums"


def older_copy(folder):
    """A copy of WINDOWS of which batch 4 cannot be gone on from."""
    (folder / "older").mkdir()
    return damaged(WINDOWS, folder / "older", "state/0/0/5.zip")


@pytest.fixture
def clock(monkeypatch):
    """Each backup is made a minute after the one before."""
    times = iter(datetime(2026, 11, 28, 23, tzinfo=UTC) + timedelta(minutes=minute) for minute in range(1_000))
    monkeypatch.setattr(module, "now_utc", lambda: next(times))


@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN, VARIABLES, SUMS], ids=lambda path: path.name)
def test_a_backup_is_sound_and_can_be_put_back(checkpoint, streamproof, tmp_path):
    copy, to = copy_of(checkpoint, tmp_path), tmp_path / "second" / "place"
    before = contents(copy)

    result = streamproof("backup", copy.name, "--to", str(to))

    assert result.code == 0, result.err
    (point,) = points_in(to)
    assert f"{point.path} is sound, and a start goes on after batch {point.batch}." in result.out
    assert point.batch == inspect_checkpoint(copy).logs.newest_committed
    assert contents(copy) == before
    shutil.rmtree(copy)
    kept = contents(to)
    restored = streamproof("restore", str(to), "--to", copy.name)
    assert restored.code == 0, restored.err
    assert f"{copy.name} is sound again, as it was after batch {point.batch}" in restored.out
    assert contents(to) == kept
    found = inspect_checkpoint(copy)
    assert verify(found).is_sound
    assert found.logs.newest_committed == point.batch


def test_only_what_a_start_needs_is_copied(tmp_path):
    point = back_up(copy_of(WINDOWS, tmp_path), tmp_path / "to").point.path

    assert sorted(path.name for path in point.rglob("*.zip")) == ["4.zip", "4.zip", "5.zip", "5.zip"]
    assert {path.name for path in (point / "commits").iterdir() if not path.name.startswith(".")} == {"0", "1", "2", "3", "4"}


def test_what_the_backup_before_has_is_not_copied_again(clock, streamproof, tmp_path):
    copy, to = copy_of(WINDOWS, tmp_path), tmp_path / "to"
    commit = (copy / "commits" / "4").read_bytes()
    (copy / "commits" / "4").unlink()
    older = back_up(copy, to)
    assert older.copied_files == older.files
    (copy / "commits" / "4").write_bytes(commit)
    newer = back_up(copy, to)

    assert (older.batch, newer.batch) == (3, 4)
    assert 0 < newer.copied_files < newer.files
    shared = [path for path in newer.point.path.rglob("*") if path.is_file() and path.stat().st_nlink == 2]
    assert len(shared) == newer.files - newer.copied_files
    assert all(path.samefile(older.point.path / path.relative_to(newer.point.path)) for path in shared)
    again = streamproof("backup", copy.name, "--to", "to")
    assert "is the newest backup still: it is sound, and the checkpoint has nothing newer." in again.out
    assert len(points_in(to)) == 2


def test_a_file_of_the_same_name_with_other_bytes_is_copied(clock, tmp_path):
    """What the disk of the backups has lost does not go on into the next one."""
    copy, to = copy_of(WINDOWS, tmp_path), tmp_path / "to"
    first = back_up(copy, to).point.path
    torn = first / "state" / "0" / "0" / "5.zip"
    torn.write_bytes(torn.read_bytes()[:99])

    done = back_up(copy, to)

    assert done.made
    assert (done.point.path / "state" / "0" / "0" / "5.zip").read_bytes() == (copy / "state" / "0" / "0" / "5.zip").read_bytes()
    assert done.copied_files == 1


def test_the_newest_stay_and_an_older_one_goes_once_the_new_one_is_sound(clock, tmp_path):
    for count in range(1, 6):
        shutil.rmtree(tmp_path / "k", ignore_errors=True)
        ends = [{"trades": {"0": 5 + number}} for number in range(count)]
        done = back_up(kafka_checkpoint(tmp_path / "k", ends, committed=count), tmp_path / "to", keep=2)

    assert [point.batch for point in points_in(tmp_path / "to")] == [3, 4]
    assert [point.batch for point in done.removed] == [2]


def test_a_torn_file_gives_the_newest_sound_point_and_says_so(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "state/0/0/5.zip")

    result = streamproof("backup", copy.name, "--to", "to")

    assert result.code == 1
    assert "a start goes on after batch 3." in result.out
    assert (
        "damaged       state/0/0/5.zip is no whole zip file: it is cut short or damaged. So the backup is 1 batch older"
        in result.out
    )
    (point,) = points_in(tmp_path / "to")
    assert verify(inspect_checkpoint(point.path)).is_sound


def test_damage_of_an_older_batch_stays_away(streamproof, tmp_path):
    copy = damaged(WINDOWS, tmp_path, "offsets/1")

    assert streamproof("backup", copy.name, "--to", "to").code == 0
    (point,) = points_in(tmp_path / "to")
    assert point.batch == 4
    assert not (point.path / "offsets" / "1").exists()


def test_without_the_plan_of_the_batch_before_spark_does_not_start(tmp_path):
    copy = damaged(WINDOWS, tmp_path, "offsets/3")

    assert back_up(copy, tmp_path / "to").batch == 2


def test_nothing_sound_is_refused_and_former_backups_stay(streamproof, tmp_path):
    copy, to = copy_of(WINDOWS, tmp_path), tmp_path / "to"
    back_up(copy, to)
    before = contents(to)
    (copy / "metadata").unlink()

    result = streamproof("backup", copy.name, "--to", "to")

    assert result.code == 2
    assert "has no sound point: The file metadata is gone." in result.err
    assert "streamproof restore puts a former backup in its place" in result.err
    assert {name: one for name, one in contents(to).items() if name != ".lock"} == {
        name: one for name, one in before.items() if name != ".lock"
    }


@pytest.mark.parametrize(
    ("to", "said"),
    [
        (".", "is the checkpoint itself"),
        ("state/backup", "lies in the checkpoint"),
        ("..", "holds the checkpoint"),
        ("../other", "other is a checkpoint."),
        ("../full", "full has notes.txt, which are no backups."),
        ("../file", "file is a file."),
    ],
)
def test_a_folder_that_is_no_second_place_is_refused(to, said, streamproof, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    shutil.copytree(JOIN, tmp_path / "other")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    (tmp_path / "file").touch()
    before = contents(tmp_path)

    result = streamproof("backup", copy.name, "--to", f"{copy.name}/{to}")

    assert result.code == 2
    assert said in result.err
    assert contents(tmp_path) == before


def test_backups_of_another_checkpoint_are_not_mixed(streamproof, tmp_path):
    back_up(copy_of(JOIN, tmp_path), tmp_path / "to")

    result = streamproof("backup", copy_of(WINDOWS, tmp_path).name, "--to", "to")

    assert result.code == 2
    assert "to has backups of another checkpoint (query " in result.err


def test_a_job_without_a_batch_has_nothing_to_back_up(streamproof, tmp_path):
    kafka_checkpoint(tmp_path / "k", [{"trades": {"0": 5}}], committed=0)
    (tmp_path / "k" / "commits").mkdir()

    result = streamproof("backup", "k", "--to", "to")

    assert result.code == 2
    assert "k has no batch that is committed." in result.err


def test_a_full_disk_leaves_the_former_backups_and_nothing_else(clock, tmp_path, monkeypatch):
    copy, to = copy_of(WINDOWS, tmp_path), tmp_path / "to"
    back_up(older_copy(tmp_path), to)
    before = contents(to)
    real, left = shutil.copy2, [3]

    def full(source, target):
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(source, target)

    monkeypatch.setattr(shutil, "copy2", full)

    with pytest.raises(DiskFull, match="the disk is full") as raised:
        back_up(copy, to, keep=1)

    assert "former backups are as they were" in str(raised.value)
    assert {name: one[1] for name, one in contents(to).items()} == {name: one[1] for name, one in before.items()}


def test_a_copy_that_is_not_sound_gets_no_name(tmp_path, monkeypatch):
    copy, real = copy_of(WINDOWS, tmp_path), shutil.copy2

    def cut(source, target):
        real(source, target)
        if target.name == "5.zip":
            target.write_bytes(b"")

    monkeypatch.setattr(shutil, "copy2", cut)
    monkeypatch.setattr("streamproof.savepoints.copying.filecmp.cmp", lambda *_, **__: True)

    with pytest.raises(CheckpointError, match=r"is not sound: state/0/0/5\.zip is no whole zip file"):
        back_up(copy, tmp_path / "to")

    assert [path.name for path in (tmp_path / "to").iterdir()] == [".lock"]


def test_a_checkpoint_that_goes_on_while_it_is_copied_is_copied_anew(tmp_path, monkeypatch):
    """In the middle of the first try Spark removes files that the point needs, and a batch more is done."""
    copy, real, tries = copy_of(WINDOWS, tmp_path), shutil.copy2, []
    held = {name: (copy / name).read_bytes() for name in ("offsets/4", "commits/4")}
    for name in held:
        (copy / name).unlink()
        (copy / name).with_name(f".{Path(name).name}.crc").unlink(missing_ok=True)

    def meanwhile(source, target):
        if not tries:
            tries.append(source)
            for name, text in held.items():
                (copy / name).write_bytes(text)
            for file in copy.glob("state/0/*/[34].zip"):
                file.unlink()
        return real(source, target)

    monkeypatch.setattr(shutil, "copy2", meanwhile)

    done = back_up(copy, tmp_path / "to")

    assert tries
    assert done.batch == 4
    assert verify(inspect_checkpoint(done.point.path)).goes_on or verify(inspect_checkpoint(done.point.path)).is_sound


def go_on(checkpoint):
    """Does what a job does in a batch that removes all older state: its newest version gets the next number."""
    newest = max(int(path.stem) for path in checkpoint.glob("state/0/0/*.zip"))
    for partition in ("0", "1"):
        state = checkpoint / "state" / "0" / partition
        shutil.copy(state / f"{newest}.zip", state / f"{newest + 1}.zip")
        for old in range(1, newest + 1):
            for name in (f"{old}.zip", f".{old}.zip.crc"):
                (state / name).unlink(missing_ok=True)
    for kind in ("offsets", "commits"):
        shutil.copy(checkpoint / kind / str(newest - 1), checkpoint / kind / str(newest))


def test_a_job_that_removes_what_is_verified_is_no_damage(tmp_path):
    copy, said = copy_of(WINDOWS, tmp_path), []

    def say(text):
        if text == "verifying the checkpoint" and text not in said:
            go_on(copy)
        said.append(text)

    done = back_up(copy, tmp_path / "to", say=say)

    assert (done.batch, done.newest, done.behind) == (5, 5, ())
    assert said.count("verifying the checkpoint") == 2


def test_a_job_that_is_quicker_each_time_is_named_and_not_called_damaged(tmp_path):
    copy, said = copy_of(WINDOWS, tmp_path), []

    def say(text):
        said.append(text)
        if text == "verifying the checkpoint":
            go_on(copy)

    with pytest.raises(CheckpointError, match="was written to each of the 5 times that it was verified") as raised:
        back_up(copy, tmp_path / "to", say=say)

    assert "puts a former backup in its place" not in str(raised.value)
    assert said.count("verifying the checkpoint") == 5


def test_what_was_removed_while_it_was_verified_does_not_make_the_backup_older(tmp_path):
    """The older batch would have been taken, and the checkpoint called damaged."""
    copy, said = copy_of(WINDOWS, tmp_path), []

    def say(text):
        if text == "verifying the checkpoint" and text not in said:
            older = (copy / "state" / "0" / "0" / "4.zip").read_bytes()
            go_on(copy)
            for partition in ("0", "1"):
                (copy / "state" / "0" / partition / "4.zip").write_bytes(older)
        said.append(text)

    done = back_up(copy, tmp_path / "to", say=say)

    assert (done.batch, done.behind) == (5, ())


def test_a_file_that_only_the_batch_before_needs_may_go_while_it_is_copied(tmp_path):
    """Else a large state of a quick job would be copied anew each time."""
    copy, said = copy_of(WINDOWS, tmp_path), []

    def say(text):
        said.append(text)
        if text.startswith("file"):
            for old in (copy / "state").glob("*/*/4.zip"):
                old.unlink()

    done = back_up(copy, tmp_path / "to", say=say)

    assert (done.batch, done.behind) == (4, ())
    assert said.count("verifying the checkpoint") == 1
    assert not list(done.point.path.rglob("*4.zip*"))


def test_only_the_state_that_is_copied_is_verified(tmp_path, monkeypatch):
    """A backup reads no version that it leaves behind: meanwhile the newest ones could be removed."""
    copy, read = copy_of(WINDOWS, tmp_path), []
    real = finding.damage_of
    monkeypatch.setattr(finding, "damage_of", lambda path: read.append(path) or real(path))

    back_up(copy, tmp_path / "to")

    assert {path.name for path in read if path.suffix == ".zip" and path.is_relative_to(copy)} == {"4.zip", "5.zip"}


def test_what_a_backup_that_was_ended_has_left_is_removed(tmp_path):
    (tmp_path / "to" / "20261128T230000Z-batch-1.partial" / "offsets").mkdir(parents=True)

    back_up(copy_of(WINDOWS, tmp_path), tmp_path / "to")

    assert [path.name for path in (tmp_path / "to").glob("*.partial")] == []


def test_two_at_a_time_are_refused(tmp_path):
    with only_one(tmp_path / "to"), pytest.raises(ConfigurationError, match="Another process writes a backup"):
        back_up(copy_of(WINDOWS, tmp_path), tmp_path / "to")


def test_a_backup_that_its_disk_has_torn_is_passed_over(clock, streamproof, tmp_path):
    back_up(older_copy(tmp_path), tmp_path / "to")
    newest = back_up(copy_of(WINDOWS, tmp_path), tmp_path / "to").point.path
    torn = newest / "state" / "0" / "0" / "5.zip"
    torn.write_bytes(torn.read_bytes()[:99])

    result = streamproof("restore", "to", "--to", "c")

    assert result.code == 0
    assert f"{newest.name} is damaged, and passed over: state/0/0/5.zip is no whole zip file" in result.out
    assert "c is sound again, as it was after batch 3" in result.out


def test_no_backup_that_is_sound(streamproof, tmp_path):
    point = back_up(copy_of(WINDOWS, tmp_path), tmp_path / "to").point.path
    (point / "metadata").unlink()

    result = streamproof("restore", "to", "--to", "c")

    assert result.code == 1
    assert "No backup in to is sound" in result.err
    assert not (tmp_path / "c").exists()


def test_what_is_there_is_never_written_over(streamproof, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    back_up(copy, tmp_path / "to")
    before = contents(copy)

    result = streamproof("restore", "to", "--to", copy.name)

    assert result.code == 2
    assert f"mv {copy.name} {copy.name}.damaged" in result.err
    assert contents(copy) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "There is no nowhere."),
        (["to"], "Name one of to/exposure."),
        (["to/exposure", "--batch", "2"], "It has the batches 4."),
    ],
)
def test_what_cannot_be_restored(arguments, said, streamproof, tmp_path):
    back_up(copy_of(WINDOWS, tmp_path), tmp_path / "to" / "exposure")

    result = streamproof("restore", *arguments, "--to", "c")

    assert result.code == 2
    assert said in result.err


def test_a_full_disk_while_restoring_leaves_nothing(tmp_path, monkeypatch):
    back_up(copy_of(WINDOWS, tmp_path), tmp_path / "to")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("streamproof.savepoints.restore.sync", full)

    with pytest.raises(DiskFull):
        restore(tmp_path / "to", tmp_path / "c")

    assert not list(tmp_path.glob("c*"))


def test_plans_of_batches_since_come_along_up_to_the_first_that_is_missing(tmp_path):
    copy, to = copy_of(SUMS, tmp_path), tmp_path / "to"
    newest = inspect_checkpoint(copy).logs.newest_committed
    assert newest is not None
    assert newest >= 3
    earlier = shutil.copytree(copy, tmp_path / "earlier")
    for number in range(2, newest + 1):
        for name in (f"commits/{number}", f"offsets/{number}", f"_streamproof/manifests/{number}"):
            (earlier / name).unlink(missing_ok=True)
    made = back_up(earlier, to)
    assert made.batch == 1
    for number in range(2, newest + 1):
        assert keep_plan(copy, to, number)
    assert not keep_plan(copy, to, newest)

    done = restore(to, tmp_path / "c")
    assert done.again == tuple(range(2, newest + 1))
    (to / "plans" / "3").unlink()
    assert restore(to, tmp_path / "c2").again == (2,)
    assert restore(to, tmp_path / "c3", plans_of=copy).again == done.again
    for number in done.again:
        ahead = (tmp_path / "c" / "_streamproof" / "ahead" / str(number)).read_text()
        assert json.loads(ahead) == json.loads((copy / "_streamproof" / "manifests" / str(number)).read_text())


def backed_up_after_batch_1(folder):
    """Ours with plans up to its newest batch, and a backup of it after batch 1 that has no plan."""
    copy = copy_of(SUMS, folder)
    earlier = shutil.copytree(copy, folder / "earlier")
    for number in (2, 3, 4, 5, 6, 7, 8, 9):
        for name in (f"commits/{number}", f"offsets/{number}", f"_streamproof/manifests/{number}"):
            (earlier / name).unlink(missing_ok=True)
    assert back_up(earlier, folder / "to").batch == 1
    return copy


@pytest.mark.parametrize(
    ("plans_of", "said"),
    [
        ("exposure.damagd", "There is no exposure.damagd."),
        ("checkpoint.damaged", "checkpoint.damaged is no checkpoint."),
        ("to", "to is no checkpoint"),
        ("empty", "empty is empty."),
    ],
)
def test_plans_of_what_is_no_checkpoint_is_refused(plans_of, said, streamproof, tmp_path):
    """The batches since would silently be planned anew, although their plans are there."""
    copy = backed_up_after_batch_1(tmp_path)
    (tmp_path / "checkpoint.damaged").mkdir()
    copy.rename(tmp_path / "checkpoint.damaged" / copy.name)
    (tmp_path / "empty").mkdir()

    result = streamproof("restore", "to", "--to", "c", "--plans-of", plans_of)

    assert result.code == 2
    assert said in result.err
    if plans_of == "checkpoint.damaged":
        assert f"Name {plans_of}/{copy.name}." in result.err
    assert not (tmp_path / "c").exists()


def test_plans_come_from_a_checkpoint_that_has_nothing_else_left(tmp_path):
    copy = backed_up_after_batch_1(tmp_path)
    for name in ("offsets", "commits"):
        shutil.rmtree(copy / name)

    assert 2 in restore(tmp_path / "to", tmp_path / "c", plans_of=copy).again


def test_a_checkpoint_is_not_put_among_its_backups(streamproof, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    back_up(copy, tmp_path / "to")
    before = contents(tmp_path / "to")

    result = streamproof("restore", "to", "--to", "to/inside")

    assert result.code == 2
    assert "to/inside lies in to, where the backups are." in result.err
    assert contents(tmp_path / "to") == before
    assert not back_up(copy, tmp_path / "to").made


def test_the_first_plan_begins_where_the_backup_ends(tmp_path):
    """A plan of another history is left out, as the plans after it are."""
    folder = tmp_path / "k"
    kafka_checkpoint(folder, [{"t": {"0": 3}}, {"t": {"0": 5}}], committed=2)
    begins = {2: '{"t": {"0": 7}}', 3: '{"t": {"0": 9}}'}
    ends = {1: '{"t": {"0": 5}}', 2: '{"t": {"0": 9}}', 3: '{"t": {"0": 11}}'}
    manifests = folder / "_streamproof" / "manifests"
    manifests.mkdir(parents=True)
    whole = json.loads((SUMS / "_streamproof" / "manifests" / "1").read_text())
    for number, end in ends.items():
        fingerprint = {"watermark_ms": 0, "offsets": [end], "files": {}, "starts": {"0": begins.get(number, '{"t": {"0": 3}}')}}
        offset_log = (folder / "offsets" / str(min(number, 1))).read_text()
        said = {**whole, "batch": number, "fingerprint": fingerprint, "offset_log": offset_log, "source_logs": {}, "made_by": {}}
        (manifests / str(number)).write_text(json.dumps(said))
    to = tmp_path / "to"
    assert back_up(folder, to).batch == 1

    assert restore(to, tmp_path / "c").again == ()
    follows = json.loads((manifests / "2").read_text())
    follows["fingerprint"]["starts"]["0"] = ends[1]
    (to / "plans" / "2").write_text(json.dumps(follows))
    assert restore(to, tmp_path / "c2").again == (2, 3)


def test_a_restored_checkpoint_says_so(streamproof, tmp_path):
    copy = copy_of(SUMS, tmp_path)
    (copy / "_streamproof" / "ahead").mkdir()
    for number in (9, 10, 11):
        (copy / "_streamproof" / "ahead" / str(number)).touch()

    said = streamproof("inspect", copy.name).out
    assert "its batches 9 to 11 are done again as they were planned" in " ".join(said.split())


def test_a_plan_that_does_not_begin_where_the_one_before_ends_is_left_out():
    def plan(start, end):
        return Manifest("m", "j", "q", "i", 0, "a", Fingerprint(0, (end,), {}, {"0": start}), "", {}, (), {}), Path()

    known = {4: plan("a", "b"), 5: plan("b", "c"), 6: plan("x", "y"), 7: plan("y", "z")}

    assert [number for number, _ in _after(3, known)] == [4, 5]


def test_plans_of_another_history_go(tmp_path):
    copy, to = copy_of(SUMS, tmp_path), tmp_path / "to"
    for number in (1, 2, 3):
        keep_plan(copy, to, number)
    other = copy / "_streamproof" / "manifests" / "2"
    found = json.loads(other.read_text())
    found["fingerprint"]["watermark_ms"] += 1
    other.write_text(json.dumps(found))

    assert keep_plan(copy, to, 2)

    assert sorted(plans_in(to / "plans")) == [1, 2]
