"""The frame: what is looked for is what there is something for, the rest is skipped and said so; the gravest comes first."""

from pathlib import Path

import pytest

from streamproof.doctor.examine import examine
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.findings import MISTAKES
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient

PLACE = Place(Path("job.py"), 7)


def mistake(code, severity, *needs, also=()):
    def look(patient):
        yield Symptom(severity, "It is wrong.", PLACE, "Mend it.", "seen")

    return Mistake(code, "a mistake", "It matters.", (Way(needs, look), *also))


def test_the_gravest_comes_first():
    mistakes = [
        mistake(Code.ZERO_DELAY, Severity.NOTE, Part.TEXT),
        mistake(Code.FEW_KEYS, Severity.STOP, Part.TEXT),
        mistake(Code.PARTITIONS, Severity.WARN, Part.TEXT),
    ]

    found = examine(Patient("x"), mistakes)

    assert [one.severity for one in found.findings] == [Severity.STOP, Severity.WARN, Severity.NOTE]
    assert not found.is_sound


def test_notes_alone_are_sound():
    assert examine(Patient("x"), [mistake(Code.ZERO_DELAY, Severity.NOTE, Part.TEXT)]).is_sound


def test_what_is_not_there_is_not_looked_at_and_said():
    patient = Patient("x", missing={Part.CHECKPOINT: "there is none", Part.SERVICES: "nobody asked"})
    wanting = mistake(Code.MISSED_TRIGGER, Severity.STOP, Part.CHECKPOINT)

    found = examine(patient, [wanting])

    assert not found.findings
    assert [(one.code, one.needs) for one in found.skipped] == [(Code.MISSED_TRIGGER, (Part.CHECKPOINT,))]
    assert found.as_dict()["missing"] == {"checkpoint": "there is none", "services": "nobody asked"}


def test_one_way_that_can_be_taken_is_enough():
    patient = Patient("x", missing={Part.CHECKPOINT: "there is none"})
    two = mistake(
        Code.FEW_KEYS, Severity.WARN, Part.TEXT, also=(Way((Part.CHECKPOINT,), lambda _: pytest.fail("it is not there")),)
    )

    found = examine(patient, [two])

    assert len(found.findings) == 1
    assert not found.skipped


def test_every_code_is_that_of_one_mistake():
    assert sorted(one.code for one in MISTAKES) == sorted(Code)
    assert all(way.needs for one in MISTAKES for way in one.ways)
    assert all(one.why.endswith(".") for one in MISTAKES)
