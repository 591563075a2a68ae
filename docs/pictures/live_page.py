"""Pictures of the live page, taken by a browser: of the page that is shipped, told the events that its tests tell it."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUN, PROOF = "guides/pictures/live-page.png", "guides/pictures/live-proof.png"


def draw(docs: Path) -> None:
    """Writes them; leaves them as they are where there is no browser."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium: the pictures of the live page stay as they are")  # noqa: T201
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for place, served in ((docs / RUN, run), (docs / PROOF, proof)):
            with served() as url:
                page = browser.new_page(viewport={"width": 1180, "height": 640})
                page.goto(url)
                page.locator(".trouble").first.wait_for()
                page.locator("footer").evaluate("one => one.remove()")  # it says how old the picture is
                place.parent.mkdir(exist_ok=True)
                page.screenshot(path=place, full_page=True, animations="disabled")
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


@contextmanager
def proof() -> Iterator[str]:
    """A proof in which two crash points have failed, with some left to try."""
    sys.path.insert(0, str(ROOT / "tests"))
    from streamproof.cli.prove_screen import again
    from streamproof.core.verdict import Verdict
    from streamproof.observe.live.access import Access
    from streamproof.observe.live.server import LivePage, bound
    from streamproof.proof_page import ProofBoard
    from streamproof.prove.events import Judged, Planned, Proving, Started
    from unit.observe.live_samples import Clock

    kinds = ("plan/offsets", *(f"work/state.{number // 2}.{number % 2}" for number in range(4)), "stage/exposure", "stage/manifest")
    kinds = (*kinds, "publish/exposure.ledger", "publish/exposure", "publish/late", "commit/commits")
    points = tuple(f"{kind}@{batch}:{side}" for batch in range(8) for kind in kinds for side in ("before", "after"))
    clock = Clock()
    board = ProofBoard("risk_exposure", again("risk_exposure", None), clock)
    for event in (Started("risk_exposure", 1_000, "trades", 7, 8, "4.3.0", "local[2]"), Planned(points)):
        board(event)
    for place, point in enumerate(points[:121]):
        clock.pass_(0.4)
        wrong = point.startswith("publish/exposure@3")
        board(Judged(point, Verdict.FAIL if wrong else Verdict.PASS, (point,), "exactly-once: trade t-000417 is counted twice"))
        board(Proving(place + 1, len(points), points[place + 1], 0.4 * (len(points) - place - 1)))
    with LivePage(board, bound("0"), Access()) as page:
        yield page.url
