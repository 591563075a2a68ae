"""Backups on a schedule: due or not, failing or not, the job goes on; plans are kept as batches are staged."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from streamproof.config import load
from streamproof.config.backup import BackupConfig
from streamproof.config.beside import Beside
from streamproof.core.notes import NoteCode
from streamproof.errors import ConfigurationError
from streamproof.runtime.backups import Backups, _Query, backups_of
from streamproof.runtime.watching.backup_events import BackedUp, BackupFailed
from streamproof.runtime.watching.events import BatchCommitted, BatchStaged, Note, QueryStarted
from streamproof.savepoints.places import place_at
from streamproof.savepoints.points import plans_in, points_in
from unit.checkpoint.written import OURS, copy_of
from unit.cli.store_on_disk import AWAY, store_on_disk

STAGED = BatchStaged("sums", 2, {}, {}, False, 0.1)
COMMITTED = BatchCommitted("sums", 2, {}, {}, None, {})


class Run:
    """A run that is only heard of, with a clock that is put on by hand."""

    def __init__(self, folder, every=900, to=None):
        self.checkpoint, self.heard, self.seconds = copy_of(OURS / "checkpoint" / "sums", folder), [], 0.0
        self.to = to or folder / "to"
        config = BackupConfig(to="to", every=f"{every} seconds", keep=2)
        start = datetime(2026, 11, 28, tzinfo=UTC)
        self.backups = Backups(
            config,
            self.to,
            self.heard.append,
            clock=lambda: self.seconds,
            now=lambda: start + timedelta(seconds=self.seconds),
        )

    def say(self, *events):
        for event in events:
            self.backups(event)

    def start(self):
        self.say(QueryStarted("sums", "r", str(self.checkpoint), {}, 0))

    def wait_for(self, kind, count=1):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            found = [one for one in self.heard if isinstance(one, kind)]
            if len(found) >= count:
                return found
            time.sleep(0.01)
        raise AssertionError(f"{kind} did not come: {self.heard}")


@pytest.fixture
def run(tmp_path):
    made = Run(tmp_path)
    yield made
    made.backups.end()


def test_the_first_is_due_at_once_and_the_next_when_its_time_has_come(run):
    run.start()
    (first,) = run.wait_for(BackedUp)
    assert (first.query, first.files > 0, first.every) == ("sums", True, 900)

    run.seconds = 800
    run.say(COMMITTED)
    run.backups.finish(asked_to_end=False)
    assert len([one for one in run.heard if isinstance(one, BackedUp)]) == 1, "it is not due yet"
    run.seconds = 901
    run.backups.finish(asked_to_end=False)
    assert [one.files for one in run.heard if isinstance(one, BackedUp)] == [first.files, 0], "nothing has changed since"
    assert len(points_in(run.to / "sums")) == 1


def test_the_plan_of_a_batch_is_kept_as_soon_as_it_is_staged(run):
    run.start()
    run.wait_for(BackedUp)
    run.say(STAGED)
    run.backups.finish(asked_to_end=True)

    assert list(plans_in(run.to / "sums" / "plans")) == [2]


def test_a_backup_that_fails_is_said_once_and_tried_again(run):
    run.to.write_text("a file where the folder goes")
    run.start()
    (failed,) = run.wait_for(BackupFailed)
    assert "to/sums" in failed.why
    assert failed.newest is None

    run.seconds = 61
    run.say(COMMITTED)
    run.wait_for(BackupFailed, 2)
    run.to.unlink()
    run.seconds = 122
    run.say(COMMITTED)
    run.wait_for(BackedUp)
    notes = [one for one in run.heard if isinstance(one, Note)]
    assert [one.code for one in notes] == [NoteCode.BACKUP_FAILED] == [one.code for one in run.backups.notes]
    assert "none is known; the job goes on, and it is tried again." in notes[0].text


def test_a_damaged_checkpoint_is_said(run):
    for file in run.checkpoint.glob("state/*/*/*.zip"):
        newest = max(int(one.stem.partition("_")[0]) for one in file.parent.glob("*.zip"))
        if int(file.stem.partition("_")[0]) == newest:
            file.write_bytes(file.read_bytes()[:100])
    run.start()
    run.wait_for(Note)

    (said,) = run.backups.notes
    assert "The backup of sums is of batch" in said
    assert "--verify says more" in said


def test_the_first_backup_comes_with_the_first_batch(run):
    commits = run.checkpoint / "commits"
    commits.rename(run.checkpoint / "later")
    run.start()
    run.backups.finish(asked_to_end=False)
    assert run.heard == []

    again = Run.__new__(Run)
    again.__dict__.update(run.__dict__)
    again.backups = Backups(run.backups._config, run.to, run.heard.append, clock=lambda: 0.0)
    again.start()
    deadline = time.monotonic() + 20
    while not (again.backups._queries and again.backups._queries["sums"].waits) and time.monotonic() < deadline:
        time.sleep(0.01)
    (run.checkpoint / "later").rename(commits)
    again.say(COMMITTED)
    again.backups.finish(asked_to_end=False)
    assert [type(one) for one in run.heard] == [BackedUp]


TOML = """
[job]
entry = "job.py:small"
checkpoint = "{checkpoint}"
[source.events]
connector = "files"
path = "data"
format = "json"
schema = "id string"
[backup]
{backup}
"""


def loaded(folder, backup, checkpoint="checkpoints/small"):
    (folder / "job.py").write_text("def small(): ...\n")
    (folder / "streamproof.toml").write_text(TOML.format(backup=backup, checkpoint=checkpoint))
    return load(folder)


def test_the_table_of_the_configuration(tmp_path):
    found = loaded(tmp_path, 'to = "../second"').backup
    assert found is not None
    assert (found.to, found.every, found.keep) == ("../second", timedelta(minutes=15), 3)
    assert backups_of(loaded(tmp_path, 'to = "../second"').model_copy(update={"beside": Beside()}), list.append) is None


@pytest.mark.parametrize(
    ("backup", "said"),
    [
        ("keep = 2", '[backup] needs the key "to"'),
        ('to = "x"\nevery = "0 seconds"', "[backup] every is of no length."),
        ('to = "x"\nkeep = 0', "[backup] keep is 0."),
        ('to = "x"\nregion = "r"', "[backup] region is given, and to is a folder."),
        ('to = "x"\nevry = "1 hour"', '[backup] has no key "evry". Did you mean "every"?'),
    ],
)
def test_a_table_with_a_mistake(backup, said, tmp_path):
    with pytest.raises(ConfigurationError) as raised:
        loaded(tmp_path, backup)

    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("to", "checkpoint", "said"),
    [
        ("s3a://me:hidden@bucket/backup", "checkpoints/small", "The address of the store has credentials in it."),
        ("ftp://host/backup", "checkpoints/small", "[backup] ftp://host/backup is no address of a store that backups can go to."),
        ("backup", "s3a://bucket/checkpoint", "[job] checkpoint is s3a://bucket/checkpoint, which is in a store."),
        ("checkpoints/small/backup", "checkpoints/small", "neither lies in the other"),
        ("checkpoints", "checkpoints/small", "neither lies in the other"),
    ],
)
def test_a_place_that_is_none_is_refused_when_the_configuration_is_read(to, checkpoint, said, tmp_path):
    with pytest.raises(ConfigurationError) as raised:
        loaded(tmp_path, f'to = "{to}"', checkpoint)

    assert said in str(raised.value)


def test_a_store_and_where_it_answers(tmp_path):
    found = loaded(tmp_path, 'to = "s3://bucket/x"\nendpoint = "http://host:1"\nregion = "r"').backup
    assert found is not None
    assert (found.to, found.endpoint, found.region) == ("s3://bucket/x", "http://host:1", "r")


def test_a_store_that_is_away_is_said_once_and_what_was_missed_is_made_up_for(tmp_path, monkeypatch):
    disk = store_on_disk(tmp_path / "store", monkeypatch)
    disk.problem = OSError(AWAY)
    run = Run(tmp_path, to="s3://bucket/backups")
    try:
        run.start()
        run.wait_for(BackupFailed)
        for batch in (1, 2):
            run.say(replace(STAGED, batch=batch))
        run.wait_for(BackupFailed, 3)
        (note,) = run.backups.notes
        assert "NETWORK_CONNECTION (curlCode: 7, Could not connect to server)." in note

        disk.problem = None
        run.say(replace(STAGED, batch=3))
        run.backups.finish(asked_to_end=False)
        plans = tmp_path / "store" / "bucket" / "backups" / "sums" / "plans"
        assert sorted(path.name for path in plans.iterdir()) == ["1.json", "2.json", "3.json"]
        assert not [one for one in run.heard if isinstance(one, BackedUp)], "that is tried again a minute later"
        run.seconds = 61
        run.backups.finish(asked_to_end=False)
        (made,) = run.wait_for(BackedUp)
        assert made.path.startswith("s3://bucket/backups/sums/points/")
        assert len(run.backups.notes) == 1
    finally:
        run.backups.end()


def test_a_process_that_ends_says_nothing_of_a_backup_that_ends_with_it(tmp_path, monkeypatch):
    disk = store_on_disk(tmp_path / "store", monkeypatch)
    run = Run(tmp_path, to="s3://bucket/backups")
    disk.problem = OSError(AWAY)
    run.backups.end()
    run.backups._fails(_Query("sums", run.checkpoint, place_at("s3://bucket/backups"), 0.0), "away", "away")

    assert run.heard == []
