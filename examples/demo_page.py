"""The picture of the live page that `make demo` ends with: of its own proof where a browser is there, else the one of the documentation."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import streamproof as sp
from streamproof.cli.prove_screen import again, in_a_sentence
from streamproof.core.verdict import Verdict
from streamproof.observe.live.access import Access
from streamproof.observe.live.server import LivePage, bound
from streamproof.proof_page import ProofBoard

OF_THE_DOCUMENTATION = Path("docs/guides/pictures/live-proof.png")
_PATIENCE_MS = 10_000
"""A picture must not make the demo longer than some seconds."""


def board_of(job: Path) -> ProofBoard:
    """What hears the proof of a job for its page."""
    return ProofBoard(str(job), again(str(job), None))


def picture(board: ProofBoard, proof: sp.Proof, place: Path) -> Path:
    """The picture of the page as it was at the end of a proof; that of the documentation where no browser is there, or it takes too long."""
    board.done(Verdict(proof.verdict), in_a_sentence(proof))
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return OF_THE_DOCUMENTATION
    with suppress(
        Exception
    ):  # a browser of another version, or none that may start here: the demo has shown all the same what it is about
        from playwright.sync_api import sync_playwright

        with LivePage(board, bound("0"), Access()) as served, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"], timeout=_PATIENCE_MS
            )
            page = browser.new_page(viewport={"width": 1180, "height": 640})
            page.set_default_timeout(_PATIENCE_MS)
            page.goto(served.url)
            page.locator("#why", has_text=in_a_sentence(proof)[:20]).wait_for()
            page.screenshot(path=place, full_page=True, animations="disabled")
            browser.close()
            return place
    return OF_THE_DOCUMENTATION
