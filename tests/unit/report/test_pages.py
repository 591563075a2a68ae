"""Where the pages lie that a report names."""

from pathlib import Path

from streamproof.report import pages
from streamproof.report.words import READ_WHAT_A_PASS_MEANS

ROOT = Path(__file__).parents[3]


def test_in_a_checkout_a_page_lies_in_its_docs(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert pages.path_of(READ_WHAT_A_PASS_MEANS) == "docs/what-a-pass-means.md"


def test_elsewhere_it_is_named_with_its_whole_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = Path(pages.path_of("docs/incidents/appends-on-replay.md"))
    assert found.is_absolute()
    assert found.is_file()


def test_a_page_that_is_not_there_keeps_its_name():
    assert pages.path_of("docs/incidents/none.md") == "docs/incidents/none.md"
