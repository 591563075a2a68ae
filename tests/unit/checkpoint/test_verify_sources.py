"""What is lost of the log of a file source is found, whatever Spark has removed of it itself; no copy gets an entry that names nothing."""

import shutil
from pathlib import Path

import pytest

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.logs import source_log_text
from streamproof.checkpoint.verify.finding import Harm
from streamproof.checkpoint.verify.sound import Verified, verify
from streamproof.errors import CheckpointError, ConfigurationError
from streamproof.savepoints.backup import back_up
from streamproof.savepoints.copying import Copy
from streamproof.savepoints.recover import recover
from unit.checkpoint.written import JOIN, WINDOWS, copy_of, file_entry, files_checkpoint


def verified(checkpoint: Path) -> Verified:
    return verify(inspect_checkpoint(checkpoint))


def named(found: Verified) -> list[tuple[Harm, str, set[int]]]:
    return [(one.harm, one.path, {*(one.batches or ())}) for one in found.problems]


def emptied(path: Path) -> None:
    path.write_text("v1")


def without_its_last_entry(path: Path) -> None:
    """As it is where it was cut at the end of a line."""
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))


# -- what Spark removes itself is no damage


@pytest.mark.parametrize("interval", [1, 2, 5, 10, 12])
@pytest.mark.parametrize("batches", [1, 9, 10, 11, 14, 20, 25])
def test_entries_that_a_compact_file_names_may_be_gone(batches, interval, tmp_path):
    found = verified(files_checkpoint(tmp_path / "c", batches, interval=interval))

    assert found.problems == ()
    assert found.sound[-1] == batches - 1


def test_entries_that_only_a_later_compact_file_names_may_be_gone(tmp_path):
    """The interval was changed, and older batches are kept in the logs than entries in the source's log."""
    checkpoint = files_checkpoint(tmp_path / "c", 30, kept=20)

    assert verified(checkpoint).sound[0] == 11
    made = recover(inspect_checkpoint(checkpoint), 15).path
    assert {path.name for path in (made / "sources" / "0").iterdir()} == {"9.compact", *map(str, range(10, 17))}


def test_a_batch_without_a_file_has_no_entry_of_its_own(tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 14)
    for number in (12, 13):
        log = checkpoint / "offsets" / str(number)
        log.write_text(log.read_text().replace(f'"logOffset":{number}', '"logOffset":11'))
    (checkpoint / "sources" / "0" / "12").unlink()
    (checkpoint / "sources" / "0" / "13").unlink()

    assert verified(checkpoint).is_sound


@pytest.mark.parametrize("written", ["-", '{"logOffset":-1}'])
def test_a_source_that_has_read_nothing_yet_has_no_folder(written, tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 2)
    shutil.rmtree(checkpoint / "sources")
    for log in (checkpoint / "offsets").iterdir():
        log.write_text("\n".join([*log.read_text().splitlines()[:2], written]))

    assert verified(checkpoint).is_sound
    assert back_up(checkpoint, tmp_path / "to").batch == 1


def test_an_entry_that_no_batch_names_is_no_damage(tmp_path):
    """A crash between the source's log and the offset log leaves it."""
    checkpoint = files_checkpoint(tmp_path / "c", 9)
    (checkpoint / "sources" / "0" / "9.compact").write_text(source_log_text(map(file_entry, range(10))))

    assert verified(checkpoint).is_sound


def test_the_log_of_a_source_that_is_not_known_is_not_judged(tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 2)
    for log in (checkpoint / "offsets").iterdir():
        log.write_text("\n".join([*log.read_text().splitlines()[:2], '{"offset":3,"timestamp":7}']))
    (checkpoint / "sources" / "0" / "0").write_text('v1\n{"offset":0,"timestamp":0}')

    assert verified(checkpoint).is_sound
    made = back_up(checkpoint, tmp_path / "to").point.path
    assert sorted(path.name for path in (made / "sources" / "0").iterdir()) == ["0", "1"]


# -- what is lost


@pytest.mark.parametrize("harm", [Path.unlink, emptied, without_its_last_entry])
def test_a_lost_compact_file_costs_every_batch_that_stands_on_it(harm, tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 14)
    harm(checkpoint / "sources" / "0" / "9.compact")

    found = verified(checkpoint)

    kind = Harm.MISSING if harm is Path.unlink else Harm.TORN
    assert named(found) == [(kind, "sources/0/9.compact", {8, 9, 10, 11, 12, 13})]
    assert found.sound == ()


def test_a_lost_compact_file_whose_entries_are_still_there(tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 14)
    (checkpoint / "sources" / "0" / "9.compact").unlink()
    for number in range(9):
        (checkpoint / "sources" / "0" / str(number)).write_text(source_log_text([file_entry(number)]))

    found = verified(checkpoint)

    assert [(harm, batches) for harm, _, batches in named(found)] == [(Harm.MISSING, {9, 10, 11, 12, 13})]
    assert found.sound == ()
    assert found.problems[0].path == "sources/0/9.compact"


def test_an_older_compact_file_is_needed_by_no_start(tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 24, kept=20)
    emptied(checkpoint / "sources" / "0" / "9.compact")

    found = verified(checkpoint)

    assert named(found) == [(Harm.TORN, "sources/0/9.compact", set())]
    assert found.goes_on
    made = recover(inspect_checkpoint(checkpoint), 12).path
    assert (made / "sources" / "0" / "9.compact").read_text() == source_log_text(map(file_entry, range(10)))


@pytest.mark.parametrize("entry", ["0", "12"])
def test_an_entry_that_names_nothing_is_torn(entry, tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 14, interval=100)
    emptied(checkpoint / "sources" / "0" / entry)

    found = verified(checkpoint)

    assert [(one.harm, one.path) for one in found.problems] == [(Harm.TORN, f"sources/0/{entry}")]
    assert 13 not in found.sound


@pytest.mark.parametrize("gone", ["sources", "sources/0"])
@pytest.mark.parametrize("checkpoint", [WINDOWS, JOIN], ids=lambda path: path.name)
def test_the_log_of_a_source_is_gone(checkpoint, gone, tmp_path):
    copy = copy_of(checkpoint, tmp_path)
    shutil.rmtree(copy / gone)

    found = verified(copy)

    assert (Harm.MISSING, "sources/0") in [(harm, path) for harm, path, _ in named(found)]
    assert found.sound == ()
    with pytest.raises(ConfigurationError, match=r"has no sound point: The folder sources/0 is not there"):
        back_up(copy, tmp_path / "to")


def test_one_source_of_two_is_gone(tmp_path):
    copy = copy_of(JOIN, tmp_path)
    shutil.rmtree(copy / "sources" / "1")
    (copy / "sources" / "1").mkdir()

    assert [(one.path, one.says) for one in verified(copy).problems] == [("sources/1", "The folder sources/1 is empty.")]


def twice(checkpoint: Path, order: list[int]) -> Path:
    """The query reads streams several times: Spark writes each of them into the offset log as often, and numbers the folders by the streams."""
    for log in (checkpoint / "offsets").iterdir():
        version, metadata, line = log.read_text().splitlines()
        other = line.replace("}", " }")  # another stream that has read equally far has the same text; this one has not
        log.write_text("\n".join([version, metadata, *(other if stream else line for stream in order)]))
    if max(order):
        shutil.copytree(checkpoint / "sources" / "0", checkpoint / "sources" / "1")
    return checkpoint


@pytest.mark.parametrize("order", [[0, 0], [0, 0, 1], [0, 1, 0]])
def test_a_query_that_reads_one_stream_twice_has_one_folder_for_it(order, tmp_path):
    """Seen with Spark 4.3: a union of a stream with itself."""
    checkpoint = twice(files_checkpoint(tmp_path / "c", 14), order)

    found = verified(checkpoint)

    assert (found.problems, found.sound[-1], len(found.unsure)) == ((), 13, 1)
    assert "a union with itself" in found.unsure[0]
    copies = (back_up(checkpoint, tmp_path / "to").point.path, recover(inspect_checkpoint(checkpoint), 12).path)
    for made in copies:
        assert {path.name for path in (made / "sources").iterdir()} == {path.name for path in (checkpoint / "sources").iterdir()}
        assert verified(made).is_sound


def test_a_job_of_ours_reads_no_stream_twice(tmp_path):
    checkpoint = twice(files_checkpoint(tmp_path / "c", 14), [0, 0])
    (checkpoint / "_streamproof").mkdir()

    found = verified(checkpoint)

    assert (Harm.MISSING, "sources/1") in [(one.harm, one.path) for one in found.problems]
    assert found.sound == ()


def test_the_log_of_a_stream_that_is_read_twice_is_damaged(tmp_path):
    checkpoint = twice(files_checkpoint(tmp_path / "c", 14), [0, 0])
    (checkpoint / "sources" / "0" / "9.compact").unlink()

    assert verified(checkpoint).sound == ()


def test_no_backup_without_the_log_of_a_source_that_the_one_before_has(tmp_path):
    """Two sources that have read equally far in each batch: no file tells whether they were one stream."""
    copy = copy_of(JOIN, tmp_path)
    back_up(copy, tmp_path / "to")
    shutil.rmtree(copy / "sources" / "1")

    assert verified(copy).unsure
    with pytest.raises(ConfigurationError, match="has no sources/1, and the backup"):
        back_up(copy, tmp_path / "to")


# -- copies


@pytest.mark.parametrize("lost", ["sources/0/9.compact", "sources/0/12", "sources"])
def test_no_copy_gets_an_entry_that_is_not_known(lost, tmp_path):
    checkpoint = files_checkpoint(tmp_path / "c", 14)
    path = checkpoint / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    with pytest.raises(CheckpointError, match="is not there, and no other file names all that it has named"):
        Copy(inspect_checkpoint(checkpoint), checkpoint, tmp_path / "made", 13, None).make()
