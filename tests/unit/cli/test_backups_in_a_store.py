"""Backups in a store: what is sent once, what counts, what is removed, and what a restore refuses."""

import hashlib
import json
import shutil
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.verify.sound import verify
from streamproof.errors import CheckpointError, ConfigurationError, StoreUnavailable, UnknownFormat
from streamproof.savepoints import backup as module
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.places import place_at, place_below
from streamproof.savepoints.restore import restore
from streamproof.savepoints.store import Store
from unit.checkpoint.written import JOIN, OURS, VARIABLES, WINDOWS, contents, copy_of, kafka_checkpoint
from unit.cli.store_on_disk import AWAY, store_on_disk

SUMS = OURS / "checkpoint" / "sums"
URI = "s3://bucket/backups/exposure"


class Ended(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path):
    """Points are made in a folder of the test's own."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


@pytest.fixture
def disk(monkeypatch, tmp_path):
    return store_on_disk(tmp_path / "store", monkeypatch)


@pytest.fixture
def objects(tmp_path):
    return tmp_path / "store" / "bucket" / "backups" / "exposure"


@pytest.fixture
def clock(monkeypatch):
    """Each backup is made a minute after the one before."""
    times = iter(datetime(2026, 11, 28, 23, tzinfo=UTC) + timedelta(minutes=minute) for minute in range(1_000))
    monkeypatch.setattr(module, "now_utc", lambda: next(times))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def files(folder: Path) -> dict[str, tuple[int, str]]:
    """The folders too, but not when they were changed."""
    return {name: (0 if (folder / name).is_dir() else time, text) for name, (time, text) in contents(folder).items()}


def two_points(tmp_path: Path) -> Path:
    """Backs up a checkpoint as it was after batch 3, and as it is after batch 4."""
    copy = copy_of(WINDOWS, tmp_path)
    commit = (copy / "commits" / "4").read_bytes()
    (copy / "commits" / "4").unlink()
    assert back_up(copy, place_at(URI)).batch == 3
    (copy / "commits" / "4").write_bytes(commit)
    assert back_up(copy, place_at(URI)).batch == 4
    return copy


@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN, VARIABLES, SUMS], ids=lambda path: path.name)
def test_a_backup_can_be_put_back_byte_for_byte(checkpoint, disk, streamproof, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    local = back_up(copy, tmp_path / "local").point.path
    before = contents(copy)

    result = streamproof("backup", copy.name, "--to", URI)

    assert result.code == 0, result.err
    (point,) = place_at(URI).points()
    assert f"{point.where} is sound, and a start goes on after batch {point.batch}." in " ".join(result.out.split())
    assert f"streamproof restore {URI} --to {copy.name}" in " ".join(result.out.split())
    assert contents(copy) == before
    assert list((tmp_path / "temporary").rglob("*-batch-*")) == [], "the point that was made to be sent is gone"
    shutil.rmtree(copy)
    restored = streamproof("restore", URI, "--to", copy.name)
    assert restored.code == 0, restored.err
    assert files(copy) == files(local)
    assert verify(inspect_checkpoint(copy)).is_sound


def test_a_file_lies_under_its_sha256_and_is_sent_once(disk, clock, objects, tmp_path):
    copy = two_points(tmp_path)

    sent = [Path(path).name for path in disk.sent]
    assert len(sent) == len(set(sent)), "an unchanged file is sent once"
    assert all(hashlib.sha256(file.read_bytes()).hexdigest() == file.name for file in (objects / "files").iterdir())
    assert len(names(objects / "points")) == 2
    count = len(disk.sent)
    again = back_up(copy, place_at(URI))
    assert not again.made
    assert len(disk.sent) == count


def test_the_list_is_written_last(disk, objects, tmp_path):
    back_up(copy_of(WINDOWS, tmp_path), place_at(URI))

    assert "/points/" in disk.sent[-1]
    assert not [path for path in disk.sent[:-1] if "/points/" in path]


def test_a_process_that_is_ended_while_it_sends_leaves_no_point_and_its_files_are_used(disk, objects, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    disk.left, disk.problem = 10, Ended()
    with pytest.raises(Ended):
        back_up(copy, place_at(URI))
    disk.left = disk.problem = None
    sent = names(objects / "files")
    assert len(sent) == 10
    assert place_at(URI).points() == []
    left = tmp_path / "temporary" / place_at(URI).works_in.relative_to(tmp_path / "temporary") / "left"
    left.mkdir()  # as after kill -9, where nothing was tidied up

    done = back_up(copy, place_at(URI))

    assert not left.exists()
    assert len({Path(path).name for path in disk.sent}) == len(disk.sent), "what was there is not sent again"
    assert done.copied_files == len(names(objects / "files")) - 10
    restore(place_at(URI), tmp_path / "c")


def test_a_file_that_was_cut_short_by_the_end_of_a_process_is_sent_again(disk, objects, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    back_up(copy, place_at(URI))
    shutil.rmtree(objects / "points")
    largest = max((objects / "files").iterdir(), key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:7])

    assert back_up(copy, place_at(URI)).copied_files == 1
    restore(place_at(URI), tmp_path / "c")


def test_a_file_that_was_sent_and_not_yet_read_back_is_read_back(disk, objects, tmp_path):
    """The process was ended between the two: that the name and the size are right says nothing of the bytes."""
    copy = copy_of(WINDOWS, tmp_path)
    back_up(copy, place_at(URI))
    shutil.rmtree(objects / "points")
    largest = max((objects / "files").iterdir(), key=lambda file: file.stat().st_size)
    largest.write_bytes(bytes(largest.stat().st_size))

    assert back_up(copy, place_at(URI)).copied_files == 1
    restore(place_at(URI), tmp_path / "c")


def test_what_the_checksum_of_the_store_refuses_is_damaged(disk, clock, streamproof, objects, tmp_path):
    copy = two_points(tmp_path)
    only = hashlib.sha256((copy / "state" / "0" / "0" / "5.zip").read_bytes()).hexdigest()
    real = disk.open_input_stream

    def checked(path):
        if path.endswith(only):
            raise OSError("AWS Error VALIDATION during GetObject operation: Response checksums mismatch")
        return real(path)

    disk.open_input_stream = checked

    said = " ".join(streamproof("restore", URI, "--to", "c").out.split())
    assert "passed over: state/0/0/5.zip of it is not what was sent, by the store's own checksum." in said
    assert "c is sound again, as it was after batch 3" in said


def test_what_arrives_otherwise_than_it_was_sent_is_no_backup(disk, objects, tmp_path, monkeypatch):
    real = Store.write

    def harmed(self, name, content):
        real(self, name, content.read_bytes()[:-1] + b"!" if isinstance(content, Path) and content.name == "5.zip" else content)

    monkeypatch.setattr(Store, "write", harmed)

    with pytest.raises(CheckpointError, match="is not what was sent"):
        back_up(copy_of(WINDOWS, tmp_path), place_at(URI))
    assert place_at(URI).points() == []


def test_older_points_go_lists_first_and_the_files_that_no_list_names(disk, clock, objects, tmp_path):
    removed = []
    real = disk.delete_file
    disk.delete_file = lambda path: (removed.append(path), real(path))
    for count in range(1, 5):
        shutil.rmtree(tmp_path / "k", ignore_errors=True)
        ends = [{"trades": {"0": 5 + number}} for number in range(count)]
        done = back_up(kafka_checkpoint(tmp_path / "k", ends, committed=count), place_at(URI), keep=2)

    assert [point.batch for point in place_at(URI).points()] == [2, 3]
    assert [point.batch for point in done.removed] == [1]
    of_last = removed[len(removed) - next(n for n, path in enumerate(reversed(removed), 1) if "/points/" in path) :]
    assert all("/files/" in path for path in of_last[1:])
    (objects / "files" / ("0" * 64)).write_text("half-sent once, and never named")
    back_up(tmp_path / "k", place_at(URI), keep=1)
    (point,) = place_at(URI).points()
    listed = json.loads((objects / "points" / f"{point.name}.json").read_text())["files"]
    assert names(objects / "files") == {sha256 for sha256, *_ in listed.values()}


def test_a_point_that_lost_a_file_is_made_anew(disk, clock, objects, tmp_path):
    copy = two_points(tmp_path)
    listed = [json.loads(path.read_text())["files"] for path in sorted((objects / "points").iterdir())]
    only = {one[0] for one in listed[1].values()} - {one[0] for one in listed[0].values()}
    (objects / "files" / only.pop()).unlink()

    done = back_up(copy, place_at(URI))

    assert (done.made, done.copied_files) == (True, 1)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda file: file.unlink(), "state/0/0/5.zip of it is gone from the store, or cut short."),
        (lambda file: file.write_bytes(file.read_bytes()[:-3]), "state/0/0/5.zip of it is gone from the store, or cut short."),
        (lambda file: file.write_bytes(bytes(len(file.read_bytes()))), "state/0/0/5.zip of it is not what was sent: SHA-256 "),
    ],
    ids=["gone", "short", "changed"],
)
def test_what_is_missing_or_differs_is_refused_and_the_point_before_is_taken(
    harm, said, disk, clock, objects, streamproof, tmp_path
):
    copy = two_points(tmp_path)
    harm(objects / "files" / hashlib.sha256((copy / "state" / "0" / "0" / "5.zip").read_bytes()).hexdigest())
    newest = place_at(URI).points()[-1]

    refused = streamproof("restore", URI, "--to", "c", "--batch", "4")

    assert refused.code == 1
    assert f"No backup in {URI} is sound: {newest.name}: {said}" in " ".join(refused.err.split())
    assert not list(tmp_path.glob("c*")) or not (tmp_path / "c").exists()
    assert not list(tmp_path.glob("*.partial"))
    result = streamproof("restore", URI, "--to", "c")
    assert result.code == 0, result.err
    assert f"{newest.name} is damaged, and passed over: {said}" in " ".join(result.out.split())
    assert "c is sound again, as it was after batch 3" in " ".join(result.out.split())


def test_a_torn_list_is_no_point_and_one_of_a_newer_version_stays(disk, clock, objects, tmp_path):
    copy = two_points(tmp_path)
    newest = objects / "points" / f"{place_at(URI).points()[-1].name}.json"
    whole = newest.read_text()
    newest.write_text(whole[: len(whole) // 2])
    assert restore(place_at(URI), tmp_path / "c").point.batch == 3

    newest.write_text(whole.replace('"format": 1', '"format": 2'))
    with pytest.raises(UnknownFormat, match="a backup of format 2"):
        back_up(copy, place_at(URI))
    assert newest.exists()


def test_a_list_that_names_a_file_outside_is_refused(disk, objects, tmp_path):
    back_up(copy_of(WINDOWS, tmp_path), place_at(URI))
    (path,) = (objects / "points").iterdir()
    path.write_text(path.read_text().replace('"metadata"', '"../../outside"'))

    with pytest.raises(CheckpointError, match="which is no file of a checkpoint"):
        restore(place_at(URI), tmp_path / "c")
    assert not list(tmp_path.rglob("outside"))


def test_plans_since_come_along_with_the_tables_that_they_name(disk, objects, tmp_path):
    copy = copy_of(SUMS, tmp_path)
    newest = inspect_checkpoint(copy).logs.newest_committed
    assert newest is not None
    earlier = shutil.copytree(copy, tmp_path / "earlier")
    for number in range(2, newest + 1):
        for name in (f"commits/{number}", f"offsets/{number}", f"_streamproof/manifests/{number}"):
            (earlier / name).unlink(missing_ok=True)
    place = place_at(URI)
    assert back_up(earlier, place).batch == 1
    manifest = copy / "_streamproof" / "manifests" / "2"
    found = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(found | {"format": 3, "fingerprint": found["fingerprint"] | {"tables": {"rates": "v1"}}}))
    version = copy / "_streamproof" / "tables" / "rates" / "v1"
    version.mkdir(parents=True)
    (version / "part-0").write_text("rates")
    for number in range(2, newest + 1):
        assert place.keep_plan(copy, number)
    assert not place.keep_plan(copy, newest)
    place.remove_older(1)

    done = restore(place, tmp_path / "c")

    assert done.again == tuple(range(2, newest + 1))
    ahead = (tmp_path / "c" / "_streamproof" / "ahead" / "2").read_text()
    assert json.loads(ahead) == json.loads(manifest.read_text())
    assert (tmp_path / "c" / "_streamproof" / "tables" / "rates" / "v1" / "part-0").read_text() == "rates"
    assert not list(tmp_path.glob("*.partial"))
    (objects / "plans" / "3.json").unlink()
    assert restore(place, tmp_path / "c2").again == (2,)


def test_plans_of_another_history_go(disk, objects, tmp_path):
    copy, place = copy_of(SUMS, tmp_path), place_at(URI)
    for number in (1, 2, 3):
        place.keep_plan(copy, number)
    other = copy / "_streamproof" / "manifests" / "2"
    found = json.loads(other.read_text())
    found["fingerprint"]["watermark_ms"] += 1
    other.write_text(json.dumps(found))

    assert place.keep_plan(copy, 2)

    assert names(objects / "plans") == {"1.json", "2.json"}


def test_another_checkpoint_and_other_things_are_refused(disk, objects, streamproof, tmp_path):
    back_up(copy_of(JOIN, tmp_path), place_at(URI))

    result = streamproof("backup", copy_of(WINDOWS, tmp_path).name, "--to", URI)
    assert result.code == 2
    assert f"{URI} has backups of another checkpoint (query " in " ".join(result.err.split())

    (objects.parent / "notes.txt").write_text("x")
    result = streamproof("backup", WINDOWS.name, "--to", "s3://bucket/backups")
    assert result.code == 2
    assert "s3://bucket/backups has exposure, notes.txt, which are no backups." in " ".join(result.err.split())


def test_two_at_a_time_on_one_machine_are_refused(disk, tmp_path):
    with place_at(URI).writing(), pytest.raises(ConfigurationError, match=f"Another process writes a backup to {URI}"):
        back_up(copy_of(WINDOWS, tmp_path), place_at(URI))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["s3://bucket/nothing"], "s3://bucket/nothing has no backups."),
        (["s3://bucket/backups"], "Name one of s3://bucket/backups/exposure."),
        ([URI, "--batch", "2"], "It has the batches 4."),
    ],
)
def test_what_cannot_be_restored(arguments, said, disk, streamproof, tmp_path):
    back_up(copy_of(WINDOWS, tmp_path), place_at(URI))

    result = streamproof("restore", *arguments, "--to", "c")

    assert result.code == 2
    assert said in " ".join(result.err.split())


def test_a_store_that_is_away_is_said_and_may_be_tried_again(disk, streamproof, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    disk.problem = OSError(AWAY)

    result = streamproof("backup", copy.name, "--to", URI)

    assert result.code == 75
    said = " ".join(result.err.split())
    assert f"{URI} does not answer: NETWORK_CONNECTION (curlCode: 7, Could not connect to server)." in said
    assert "8E3F" not in said, "what differs from try to try would be said anew each time"
    assert streamproof("restore", URI, "--to", "c").code == 75


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (OSError("AWS Error ACCESS_DENIED during PutObject operation: Forbidden"), "ACCESS_DENIED (Forbidden)."),
        (OSError("AWS Error NO_SUCH_BUCKET during PutObject operation: It does not exist"), "NO_SUCH_BUCKET (It does not exist)."),
        (ImportError("The pyarrow installation is not built with support for 'S3FileSystem'"), "is not built with support for"),
        (pa.ArrowInvalid("Unexpected query parameter in S3 URI: 'regoin'"), "Unexpected query parameter in S3 URI: 'regoin'."),
    ],
)
def test_a_store_that_refuses_is_told_from_one_that_is_away(problem, said, disk):
    disk.problem = problem
    with pytest.raises(ConfigurationError) as raised:
        Store(URI).list()
    assert said in str(raised.value)


def test_no_secret_comes_out(disk, monkeypatch, capsys):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    disk.problem = OSError("GET https://host/x?sig=abc%20 with wJalrXUtnFEMI has failed")
    with pytest.raises(StoreUnavailable) as raised:
        Store(URI).list()
    assert "wJalrXUtnFEMI" not in str(raised.value)
    assert "abc" not in str(raised.value)
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("uri", "endpoint"),
    [
        ("s3://AKIA:hidden@bucket/x", None),
        ("s3://bucket/x?secret_key=hidden", None),
        ("abfs://account:hidden@host/x", None),
        ("s3://bucket/x", "https://me:hidden@host"),
    ],
)
def test_an_address_with_credentials_is_refused_without_being_said(uri, endpoint):
    with pytest.raises(ConfigurationError, match="has credentials in it") as raised:
        place_at(uri, endpoint=endpoint)
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize("uri", ["ftp://host/x", "s3:/bucket/x", "s3:///x"])
def test_what_is_no_store_is_refused(uri):
    with pytest.raises(ConfigurationError, match="is no address of a store that backups can go to"):
        place_at(uri)


def test_where_a_store_answers_is_handed_on_and_a_query_has_a_place_of_its_own(disk):
    assert place_below("s3://bucket/x/?tls_ca_file_path=/c", "sums") == "s3://bucket/x/sums?tls_ca_file_path=/c"
    place = place_at(place_below("s3a://bucket/x?tls_ca_file_path=/c", "sums"), endpoint="http://host:1", region="r")
    assert place.where == "s3://bucket/x/sums"
    assert place.points() == []
    assert disk.opened == ["s3://bucket/x/sums?tls_ca_file_path=%2Fc&endpoint_override=http%3A%2F%2Fhost%3A1&region=r"]


def test_a_folder_for_temporary_files_that_others_may_read_is_refused(disk, tmp_path):
    shared = place_at(URI).works_in.parent
    shared.mkdir(mode=0o755)
    shared.chmod(0o755)

    with pytest.raises(ConfigurationError, match="others may read it"):
        back_up(copy_of(WINDOWS, tmp_path), place_at(URI))


def test_s3_is_not_asked_for_minutes(monkeypatch):
    """A process that ends waits for a question that is under way."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        store = Store(URI, endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}", region="r")
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match=r"NETWORK_CONNECTION \(curlCode: 28, Timeout was reached\)"):
            store.list()
    assert time.monotonic() - began < 30


def test_an_option_that_is_not_known_is_refused():
    with pytest.raises(ConfigurationError, match="One of these options is not known: regoin"):
        Store("s3://bucket/x?regoin=r", region="r").list()


def test_a_store_is_not_asked_any_more_once_the_process_ends(disk, tmp_path, monkeypatch):
    place, sent = place_at(URI), []
    real = Store.write

    def ends(self, name, content):
        sent.append(name)
        place.end()
        real(self, name, content)

    monkeypatch.setattr(Store, "write", ends)

    with pytest.raises(StoreUnavailable, match="is not asked any more"):
        back_up(copy_of(WINDOWS, tmp_path), place)
    assert len(sent) <= 8, "those side by side at that moment"


def test_what_there_is_is_listed_newest_first(disk, clock, objects, streamproof, tmp_path):
    copy = two_points(tmp_path)
    back_up(copy, tmp_path / "folder")
    first, second = place_at(URI).points()
    size = place_at(URI).size(second)

    shown = [" ".join(line.split()) for line in streamproof("restore", URI, "--list").out.splitlines()]
    assert shown[0].startswith(f"batch 4 2026-11-28 23:01:00 UTC {size.files} files, ")
    assert shown[1].startswith("batch 3 2026-11-28 23:00:00 UTC ")
    found = json.loads(streamproof("restore", URI, "--list", "--json").out)
    assert [one["path"] for one in found] == [second.where, first.where]
    assert found[0] == {"path": second.where, "at": "2026-11-28T23:01:00+00:00", "batch": 4, **size._asdict()}
    assert " ".join(streamproof("restore", "folder", "--list").out.split()).startswith("batch 4 2026-11-28 23:02:00 UTC ")
    (objects / "points" / f"{second.name}.json").write_text("{")
    assert "its list is cut short: it is no backup" in streamproof("restore", URI, "--list").out
    assert streamproof("restore", "nothing", "--list").code == 2
    without = streamproof("restore", URI)
    assert without.code == 2
    assert "or see what there is with --list" in " ".join(without.err.split())


def test_no_backup_without_the_state_that_the_one_before_has(disk, tmp_path):
    copy = copy_of(WINDOWS, tmp_path)
    back_up(copy, place_at(URI))
    shutil.rmtree(copy / "state")

    with pytest.raises(ConfigurationError, match=r"has no state/0, and the backup .*-batch-4 has\."):
        back_up(copy, place_at(URI))
