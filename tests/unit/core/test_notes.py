"""A note reads as its sentence and keeps its code."""

import copy
import json
import pickle

import pytest

from streamproof.core.notes import Note, NoteCode

NOTE = Note(NoteCode.RESTORED, "offsets/2 was torn and is restored from the manifest.", "offsets/2")


def test_it_prints_as_its_sentence() -> None:
    assert f"{NOTE}" == "offsets/2 was torn and is restored from the manifest."
    assert json.loads(json.dumps([NOTE])) == ["offsets/2 was torn and is restored from the manifest."]


@pytest.mark.parametrize("copied", [copy.deepcopy(NOTE), pickle.loads(pickle.dumps(NOTE))])
def test_a_copy_keeps_its_code(copied: Note) -> None:
    assert (copied, copied.code, copied.about) == (NOTE, NoteCode.RESTORED, "offsets/2")
