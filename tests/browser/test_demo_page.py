"""`make demo` ends with a picture of the live page: of its own proof, or of the documentation where no browser is there."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamproof.core.verdict import Verdict
from streamproof.prove.events import Judged, Planned, Started

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n"
FOUND = "Every one of 4 crash points came to the right end. The report: reports/demo/report.html"


@pytest.fixture
def demo_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import demo_page

    monkeypatch.setattr(demo_page, "in_a_sentence", lambda proof: FOUND)
    yield demo_page
    sys.modules.pop("demo_page")


@pytest.fixture
def board(demo_page):
    points = ("plan/offsets@2:before", "plan/offsets@2:after", "commit/commits@2:before", "commit/commits@2:after")
    board = demo_page.board_of(Path("examples/risk_exposure"))
    for event in (Started("risk_exposure", 5_000, "trades", 7, 5, "4.3.0", "local[2]"), Planned(points)):
        board(event)
    for point in points:
        board(Judged(point, Verdict.PASS, (point,), ""))
    return board


def test_it_is_of_the_proof_that_was_just_seen(chromium_path, demo_page, board, tmp_path):
    with ThreadPoolExecutor(1) as apart:  # one thread has one playwright, and the tests beside have theirs in this one
        place = apart.submit(demo_page.picture, board, SimpleNamespace(verdict="pass"), tmp_path / "live-page.png").result(60)

    assert place == tmp_path / "live-page.png"
    assert place.read_bytes().startswith(PNG)
    assert board.now()["word"] == "pass"


@pytest.mark.parametrize("chromium", ["", "/bin/false"], ids=["no browser", "a browser that does not start"])
def test_without_a_browser_it_is_that_of_the_documentation(chromium, demo_page, board, tmp_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", chromium)
    monkeypatch.setenv("PATH", str(tmp_path))

    place = demo_page.picture(board, SimpleNamespace(verdict="pass"), tmp_path / "live-page.png")

    assert (ROOT / place).read_bytes().startswith(PNG)
