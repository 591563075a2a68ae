"""The system's Chromium, and pages written from the synthetic reports of tests/unit/report."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

REPORTS = Path(__file__).parents[1] / "unit" / "report" / "conftest.py"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Where Chromium is: the variable CHROMIUM, or one of its names on the path. Without it a CI run fails, a local one skips."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        reason = f"no Chromium: set CHROMIUM to its path, or install one of {', '.join(names)}"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    return found


@pytest.fixture(scope="session")
def browser(chromium_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """The pages on disk: {"green": (report, path of report.html), ...}."""
    from streamproof.report.html import render

    spec = importlib.util.spec_from_file_location("synthetic_reports", REPORTS)
    reports = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reports)
    folder = tmp_path_factory.mktemp("pages")
    pages = {}
    for kind in ("green", "red", "followed", "shrunk", "unknown", "empty"):
        report = getattr(reports, f"build_{kind}")()
        path = folder / f"{kind}.html"
        path.write_text(render(report), encoding="utf-8")
        pages[kind] = report, path
    return pages
