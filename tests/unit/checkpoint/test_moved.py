"""A checkpoint of `transformWithState` that lies elsewhere is read by links; others are read where they are."""

from streamproof.checkpoint.inspection import inspect_checkpoint
from streamproof.checkpoint.moved import moved
from unit.checkpoint.written import VARIABLES, WINDOWS, contents, copy_of


def test_one_without_paths_is_read_in_its_place(tmp_path):
    checkpoint = copy_of(WINDOWS, tmp_path)

    assert moved(checkpoint, inspect_checkpoint(checkpoint).operators, tmp_path / "links") == checkpoint
    assert not (tmp_path / "links").exists()


def test_one_that_was_copied_is_linked_and_its_metadata_name_the_present_place(tmp_path):
    checkpoint = copy_of(VARIABLES, tmp_path)
    before = contents(checkpoint)

    links = moved(checkpoint, inspect_checkpoint(checkpoint).operators, tmp_path / "links")

    (metadata,) = (links / "state" / "0" / "_metadata" / "v2").iterdir()
    (schema,) = (checkpoint / "state" / "0" / "_stateSchema" / "default").iterdir()
    assert f'"file:{links}/state/0/_stateSchema/default/{schema.name}"' in metadata.read_text()
    assert "/data/" not in metadata.read_text()
    assert (links / "state" / "0" / "_stateSchema" / "default" / schema.name).read_bytes() == schema.read_bytes()
    assert (links / "offsets" / "4").read_text() == (checkpoint / "offsets" / "4").read_text()
    assert contents(checkpoint) == before
