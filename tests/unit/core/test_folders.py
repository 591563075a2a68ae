"""What `check` counts is what a run reads."""

from pathlib import Path

import pytest

from streamproof.core.folders import Listing, files_below, left_out, listing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "data[1]/a.json",
        "data[1]/b[2].json",
        "data[1]/c:d.json",
        "data[1]/_hidden.json",
        "data[1]/.hidden.json",
        "data[1]/e.json._COPYING_",
        "data[1]/date=2026-03-02/hour=01/f.json",
        "data[1]/date=2026-03-02/more/g.json",
        "data[1]/old/h.json",
        "data[1]/_temporary/i.json",
        "data1/other.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_files_that_are_read_are_counted_and_others_named(folder: Path) -> None:
    assert listing(f"{folder}/data[1]") == Listing(4, ("date=2026-03-02/more", "old"), frozenset({"date", "hour"}))
    assert "data/old" in left_out("data", ["old"])


def test_a_pattern_is_one_where_nothing_has_its_name(folder: Path) -> None:
    assert listing(f"{folder}/dat?1") == Listing(1)
    assert listing(f"{folder}/data[1]/a.json") == Listing(1)
    assert listing(f"{folder}/data[1") is None or listing(f"{folder}/data[1") == Listing(0)
    assert listing(f"{folder}/nothing") is None
    assert listing(f"{folder}/{{a,b}}") is None


def test_the_files_below_a_folder_and_their_bytes(tmp_path):
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.json").write_text("123")
    (tmp_path / "b.json").write_text("45")
    (tmp_path / ".hidden").write_text("6")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "c.json").write_text("7")

    assert files_below(tmp_path) == (2, 5)
