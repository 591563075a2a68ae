"""An unknown format is told from a torn file, and what is written stays readable for the release before (R30)."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest

import known_formats
from streamproof import __version__
from streamproof.core.formats import Format, number_in, require_keys
from streamproof.core.incarnation import Incarnation
from streamproof.core.manifest import Chain, Digest, Fingerprint, LedgerEntry, Manifest, Parked, Section, StagedFile
from streamproof.errors import CheckpointError, UnknownFormat
from streamproof.runtime.journal import losses
from streamproof.runtime.journal.losses import Loss
from streamproof.runtime.tables import pins

CHAIN = Chain(2, 2, 3, 1, 1)
FILES = (StagedFile("part-0", 10, "c", Digest(2, 5, 77, {"v": (1.5, 1.5)}, {"v": 0.1})), StagedFile("part-1", 2))
MANIFEST = Manifest(
    id="m",
    job="risk",
    query="exposure",
    incarnation="i",
    batch=3,
    attempt="a",
    fingerprint=Fingerprint(90_000, ('{"logOffset":3}',), {"0": ("a.json",)}, {"1": "{}"}),
    offset_log="v1\n{}",
    source_logs={"0": {"3": "v1\n{}"}},
    sections=(Section("exposure", "main", "d", FILES, Digest(2, 5, 77), 2, CHAIN), Section("late", "late", "d", (), Digest())),
    counts={"late": 1},
    places={"exposure": "out"},
    connectors={"exposure": "files"},
    topics={"trades": "id"},
    made_by={"operators": "window"},
    version="7.8.9",
    unknown_since=2,
)
ENTRY = LedgerEntry("risk", "exposure", "i", 3, 0, "m", "f", 12, 7, 1, FILES, CHAIN)
INCARNATION = Incarnation("risk", "exposure", "i", "2026-01-05T09:00:00+00:00", "7.8.9")
LOSSES = {"exposure": Loss(1, 1, 3, CHAIN)}
TABLES = {"prices": "0f3a"}


@dataclass(frozen=True)
class Kind:
    name: str
    text: str
    read: Callable[..., Any]
    found: Any


KINDS = (
    Kind("a manifest", MANIFEST.to_json(), Manifest.from_json, MANIFEST),
    Kind("a ledger entry", ENTRY.to_json(), LedgerEntry.from_json, ENTRY),
    Kind("an incarnation", INCARNATION.to_json(), Incarnation.from_json, INCARNATION),
    Kind("a record of accepted losses", losses.to_json(LOSSES), losses.from_json, LOSSES),
    Kind("a record of the tables of a batch", pins.to_json(TABLES), pins.from_json, TABLES),
)
PLACES = {
    "a manifest": ([], ["fingerprint"], ["sections", 0], ["sections", 0, "digest"], ["sections", 0, "earlier"], ["sections", 0, "files", 0],
                   ["sections", 0, "files", 0, "digest"]),
    "a ledger entry": ([], ["earlier"], ["files", 0], ["files", 0, "digest"]),
    "an incarnation": ([],),
    "a record of the tables of a batch": ([],),
    "a record of accepted losses": ([], ["losses", "exposure"], ["losses", "exposure", "chain"]),
}  # fmt: skip
"""Where a record has keys."""
of_each_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
in_each_place = pytest.mark.parametrize(
    ("kind", "place"),
    [(kind, place) for kind in KINDS for place in PLACES[kind.name]],
    ids=lambda value: value.name if isinstance(value, Kind) else "/".join(map(str, value)) or "top",
)


def changed(text: str, place: list[str | int], change: Callable[[dict[str, Any]], object]) -> str:
    found = json.loads(text)
    inner = found
    for step in place:
        inner = inner[step]
    change(inner)
    return json.dumps(found)


@of_each_kind
def test_r30_what_is_written_is_read_back(kind):
    assert kind.read(kind.text) == kind.found


@of_each_kind
@pytest.mark.parametrize("number", [0, 4, 99, "1", "v1", True, [1], None], ids=repr)
def test_r30_another_number_is_an_unknown_format(kind, number):
    said = "no format" if number is None else f"format {json.dumps(number)}"

    with pytest.raises(UnknownFormat, match=re.escape(f"/a/record is {kind.name} of {said}")):
        kind.read(changed(kind.text, [], lambda found: found.update(format=number)), where="/a/record")


@in_each_place
def test_r30_a_key_that_is_not_known_is_an_unknown_format(kind, place):
    with pytest.raises(UnknownFormat, match='of format 1 with the key "colour", which is not part of it'):
        kind.read(changed(kind.text, place, lambda found: found.update(colour="red")))


@pytest.mark.parametrize(
    ("kind", "place", "key"),
    [
        (KINDS[0], [], "job"),
        (KINDS[0], ["fingerprint"], "files"),
        (KINDS[0], ["sections", 0], "digest"),
        (KINDS[0], ["sections", 0, "digest"], "rows"),
        (KINDS[0], ["sections", 0, "files", 0], "size"),
        (KINDS[1], [], "manifest"),
        (KINDS[1], ["files", 0], "name"),
        (KINDS[2], [], "incarnation"),
        (KINDS[3], [], "losses"),
        (KINDS[3], ["losses", "exposure"], "chain"),
        (KINDS[4], [], "tables"),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else str(value),
)
def test_r30_a_whole_record_that_lacks_a_key_is_not_torn(kind, place, key):
    with pytest.raises(UnknownFormat, match=f'of format 1 without the key "{key}"'):
        kind.read(changed(kind.text, place, lambda found: found.pop(key)))


@pytest.mark.parametrize(
    "change",
    [{"sections": 5}, {"sections": [5]}, {"fingerprint": None}, {"sections": [{}]}],
    ids=["number", "numbers", "null", "empty"],
)
def test_r30_a_whole_record_of_other_shape_is_not_torn(change):
    with pytest.raises(UnknownFormat, match="of format 1"):
        Manifest.from_json(changed(MANIFEST.to_json(), [], lambda found: found.update(change)))


@of_each_kind
def test_r30_a_record_that_is_cut_short_is_torn_wherever_it_is_cut(kind):
    for end in range(len(kind.text)):
        if kind.name == "a record of accepted losses":
            assert kind.read(kind.text[:end]) == {}
        else:
            with pytest.raises(ValueError, match=r"^torn$"):
                kind.read(kind.text[:end])


@of_each_kind
@pytest.mark.parametrize("text", ["\0" * 40, "null", "5", '"x"', "[]", "{} {}", "\ufffd"], ids=repr)
def test_r30_what_is_no_record_at_all_is_torn(kind, text):
    if kind.name == "a record of accepted losses":
        assert kind.read(text) == {}
    else:
        with pytest.raises(ValueError, match=r"^torn$"):
            kind.read(text)


@of_each_kind
def test_r30_a_torn_record_of_another_format_is_not_ours_to_mend(kind):
    newer = changed(kind.text, [], lambda found: found.update(format=4))

    with pytest.raises(UnknownFormat, match="of format 4"):
        kind.read(newer[:-3])


def test_r30_the_error_says_where_what_which_version_and_what_to_do():
    newer = changed(MANIFEST.to_json(), [], lambda found: found.update(format=4))

    with pytest.raises(CheckpointError) as raised:
        Manifest.from_json(newer, where="/checkpoint/manifests/3")

    error = raised.value
    assert type(error) is UnknownFormat
    assert not isinstance(error, ValueError), "whoever mends what is torn must not catch it"
    assert error.message == (
        "/checkpoint/manifests/3 is a manifest of format 4, written by Streamproof 7.8.9. "
        f"This is Streamproof {__version__}, which knows format 1, 2 and 3."
    )
    assert "stays as it is" in error.required
    assert "Run the version of Streamproof that wrote it" in error.remedy
    assert "backup" in error.remedy


def test_r30_a_version_that_reads_two_formats_names_both():
    with pytest.raises(UnknownFormat, match="which knows format 1 and 2"):
        Format("a manifest", written=2, known=(1, 2)).require_known(3, "here")


@of_each_kind
def test_r30_the_number_stands_before_all_else(kind):
    """By that a version to come is told from a torn file, also where the rest is not JSON any more."""
    assert next(iter(json.loads(kind.text))) == "format"
    assert number_in(kind.text) == known_formats.FORMAT
    assert number_in(kind.text[:5]) is None


def test_r30_a_manifest_with_rows_that_wait_has_a_format_of_its_own():
    """An earlier version would publish nothing of them, and remove them."""
    parked = Parked(2, "000002-run", (StagedFile("part-0.jsonl", 10, "crc32:00"),), {90: 3, 120: 1})
    waiting = replace(MANIFEST, parked=(parked, replace(parked, folded=True)))

    assert json.loads(MANIFEST.to_json())["format"] == 1
    assert json.loads(waiting.to_json())["format"] == 2
    assert Manifest.from_json(waiting.to_json()) == waiting
    with pytest.raises(AssertionError):
        known_formats.require_manifest(waiting.to_json())


def test_r30_a_manifest_that_names_versions_of_tables_has_a_format_of_its_own_and_the_hash_of_others_stays():
    """An earlier version would compute a batch again with other rows of the table. Ledgers hold hashes from before there were tables."""
    of_tables = replace(MANIFEST, fingerprint=replace(MANIFEST.fingerprint, tables=TABLES))

    assert json.loads(of_tables.to_json())["format"] == 3
    assert Manifest.from_json(of_tables.to_json()) == of_tables
    assert MANIFEST.fingerprint.hash == "4de253fa952b0820"
    assert of_tables.fingerprint.hash != MANIFEST.fingerprint.hash
    assert "tables" not in json.loads(MANIFEST.to_json())["fingerprint"]


def test_r30_of_rows_put_together_by_an_earlier_version_there_may_be_fewer_than_it_says():
    parked = Parked(2, "000002-run", (StagedFile("part-0.jsonl", 10),), {90: 3}, folded=True)
    earlier = changed(replace(MANIFEST, parked=(parked,)).to_json(), ["parked", 0], lambda found: found.pop("counted"))

    assert Manifest.from_json(earlier).parked == (replace(parked, counted=False),)


def test_r30_what_is_written_is_what_the_release_before_reads():
    known_formats.require_manifest(MANIFEST.to_json())
    known_formats.require_ledger_entry(ENTRY.to_json())
    known_formats.require_ledger_entry(replace(ENTRY, files=(), earlier=None).to_json())
    known_formats.require_losses(losses.to_json(LOSSES))
    known_formats.require_incarnation(INCARNATION.to_json())


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Manifest, known_formats.MANIFEST - {"format"} | {"parked"}),
        (LedgerEntry, known_formats.LEDGER_ENTRY - {"format"}),
        (Section, known_formats.SECTION),
        (StagedFile, known_formats.FILE),
        (Digest, known_formats.DIGEST),
        (Chain, known_formats.CHAIN),
        (Fingerprint, known_formats.FINGERPRINT | {"tables"}),
        (Loss, known_formats.LOSS),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_r30_no_key_is_added_without_a_new_format(kind, keys):
    assert {field.name for field in fields(kind)} == keys


def test_keys_with_a_default_may_be_left_out():
    require_keys(StagedFile, {"name": "part-0", "size": 1})
