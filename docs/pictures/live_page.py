"""Pictures of the live page, taken by a browser: of the page that is shipped, told the events that its tests tell it."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("guides/pictures/live-page.png",)


def draw(docs: Path) -> None:
    """Writes them; leaves them as they are where there is no browser."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium: the pictures of the live page stay as they are")  # noqa: T201
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        with run() as url:
            page = browser.new_page(viewport={"width": 1180, "height": 900})
            page.goto(url)
            page.locator(".trouble").wait_for()
            page.locator("footer").evaluate("one => one.remove()")  # it says how old the picture is
            (docs / PAGES[0]).parent.mkdir(exist_ok=True)
            page.screenshot(path=docs / PAGES[0], full_page=True, animations="disabled")
        browser.close()


@contextmanager
def run() -> Iterator[str]:
    """A run of eleven batches, one of whose stores does not answer."""
    sys.path.insert(0, str(ROOT / "tests"))
    from streamproof.observe.live.access import Access
    from streamproof.observe.live.board import RunBoard
    from streamproof.observe.live.server import LivePage, bound
    from streamproof.runtime.watching.events import PublicationWaiting
    from unit.observe.live_samples import Clock, Story

    clock = Clock()
    board = RunBoard("risk_exposure", clock)
    story = Story(clock, [board])
    story.run(batches=11, partitions=4, query="exposure")
    story.tell(PublicationWaiting("exposure", "exposure.postgres", 2, 8.0, "connection refused (db-3:5432)"))
    clock.pass_(4)
    with LivePage(board, bound("0"), Access()) as page:
        yield page.url
