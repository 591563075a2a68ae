"""The documentation site: it builds strictly, without network, and every page is where a reader finds it; pictures are as they are drawn."""

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
NAMED = re.compile(r"\bdocs/([a-z0-9_/.-]+\.md)(?:#([a-z0-9_-]+))?")
OUTSIDE = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"')
"""What a browser would fetch by itself."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--config-file",
            str(ROOT / "mkdocs.yml"),
            "--site-dir",
            str(folder),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_builds_strictly(site):
    assert (site / "index.html").is_file()


def test_every_fence_is_drawn_as_code(site):
    written = (
        sum(len(re.findall(r"^ *```.*\n", page.read_text(encoding="utf-8"), re.MULTILINE)) for page in DOCS.rglob("*.md")) // 2
    )
    drawn = sum(page.read_text(encoding="utf-8").count('<div class="highlight">') for page in site.rglob("*.html"))

    assert drawn == written > 30


def test_no_page_fetches_anything_from_elsewhere(site):
    found = {url for page in site.rglob("*.html") for url in OUTSIDE.findall(page.read_text(encoding="utf-8"))}
    assert found == set()


def test_every_page_is_in_the_navigation():
    navigation = re.sub("#.*", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n", 1)[1])
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}

    assert pages - set(re.findall(r"[\w/-]+\.md", navigation)) == set()


def test_every_page_that_the_code_names_is_there():
    named = {(page, part) for path in (ROOT / "src").rglob("*.py") for page, part in NAMED.findall(path.read_text("utf-8"))}

    assert ("reference/stream.md", "keyed") in named
    assert [page for page, _ in sorted(named) if not (DOCS / page).is_file()] == []
    headings = {page: re.findall(r"^#+ (.*)$", (DOCS / page).read_text("utf-8"), re.MULTILINE) for page, part in named if part}
    assert [
        f"{page}#{part}"
        for page, part in sorted(named)
        if part and part not in [re.sub(r"\W+", "-", one.lower()) for one in headings[page]]
    ] == []


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A module of the pictures, as the script imports it."""
    monkeypatch.syspath_prepend(str(PICTURES))
    return importlib.import_module


def test_the_pictures_are_what_the_script_draws(drawing):
    drawn = {name: draw() for name, draw in drawing("draw").PICTURES.items()}

    assert {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.svg")} == drawn


def test_the_allowed_percentiles_of_the_picture_are_the_oracle_s(drawing):
    from streamproof.prove.oracle.sketches import ExactPercentile

    module = drawing("percentiles")
    values = module.latencies()
    for share in module.SHARES.values():
        exact = ExactPercentile(values, share, module.ERROR)
        low, up = module.allowed(values, share)
        assert [value for value in values if exact.takes(value)] == [value for value in values if low <= value <= up]


def test_the_watermark_of_the_picture_is_the_model_s(drawing):
    from streamproof.prove.oracle.watermark import Watermark

    module = drawing("explanations")
    model, found = Watermark(module.LAG * 1_000_000), []
    for events in module.BATCHES:
        model.saw({"": max(events) * 1_000_000})
        found.append(model.predicted_ms // 1_000)

    assert [batch.watermark for batch in module.batches()] == found
