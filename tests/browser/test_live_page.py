"""The live page in a real browser: a run that is told to it, and a real job on Spark from its start to its end."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from spark.small_job import SUMS, WINDOWED, Binding, SmallJob, event
from streamproof.cli.prove_screen import again
from streamproof.core.verdict import Verdict
from streamproof.errors import SinkUnavailable
from streamproof.observe.live.access import Access
from streamproof.observe.live.board import RunBoard
from streamproof.observe.live.server import LivePage, bound
from streamproof.proof_page import ProofBoard
from streamproof.prove.events import Judged, Planned, Proving, Started
from streamproof.runtime.watching.events import Note, PublicationWaiting
from unit.observe.live_samples import Clock, Story, batch, ended
from unit.observe.live_samples import started as started_query

JOBS = Path(__file__).parents[1] / "proofs" / "jobs"
TOKEN = "a-token-of-some-length"
EXPECTED = re.compile(r"net::ERR_|401 \(Unauthorized\)")
"""What the browser itself says of a server that is gone, or wants a token."""


@pytest.fixture
def looked_at(browser):
    """A function that opens a page at an address: whatever it asks of another machine, or complains of, fails the test."""
    contexts, trouble = [], []

    def look(url, *, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: None if EXPECTED.search(message.text) else trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("request", lambda asked: trouble.append(asked.url) if not asked.url.startswith((url, "data:")) else None)
        page.goto(url)
        return page

    yield look
    for context in contexts:
        context.close()
    assert trouble == []


@contextlib.contextmanager
def told(access: Access | None = None, port: str = "0") -> Iterator[SimpleNamespace]:
    """A page that is served: `.url`, and `.story` to tell events."""
    clock = Clock()
    board = RunBoard("small", clock)
    with LivePage(board, bound(port), access or Access()) as page:
        yield SimpleNamespace(url=page.url, clock=clock, story=Story(clock, [board]))


def word(page, said):
    page.get_by_role("heading", level=1, name=said).wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_shows_every_part_and_nothing_runs_over(looked_at, width, scheme):
    with told() as live:
        live.story.run(batches=11, partitions=1_500)
        live.story.tell(PublicationWaiting("sums", "sums.postgres", 2, 8.0, "connection refused " + "x" * 300))
        page = looked_at(live.url, width=width, scheme=scheme)
        page.locator(".query").wait_for()

        word(page, "Behind")
        assert page.locator("h3").all_inner_texts() == [
            "Account11,000 records read",
            *[text for text in page.locator("h3").all_inner_texts() if text.startswith("Batches11 committed")],
            "Event time",
            "Lagwhen the newest batch was planned",
            "State",
            "Outputs",
            "What went wrong, or is worth a look",
        ]
        assert page.locator(".part.emitted .value").inner_text() == "9,680"
        assert page.locator(".batch").count() == 12
        assert page.locator(".batch.now").inner_text().startswith("#11\nin work for")
        assert "Readers get records of trades 4.2 s after their event time" in page.locator(".age").inner_text()
        assert "1,484 further partitions" in page.locator("main").inner_text()
        assert "Only the 1,000 partitions with the most to read" in page.locator("main").inner_text()
        assert page.locator(".trouble .todo").inner_text().startswith("Start the store")
        assert "This page only reads" in page.locator("footer").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        ground = [int(part) for part in re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))]
        assert min(ground) > 200 if scheme == "light" else max(ground) < 60


def test_the_bar_moves_when_a_batch_is_committed(looked_at):
    with told() as live:
        live.story.tell(*started_query(), *batch(0))
        page = looked_at(live.url)
        part = page.locator(".part.emitted")
        part.get_by_text("880").wait_for()
        page.evaluate("window.kept = document.querySelector('.part.emitted')")

        live.story.tell(*batch(1))

        part.get_by_text("1,760").wait_for()
        assert page.evaluate("window.kept === document.querySelector('.part.emitted')"), "else it would jump, and not move"


def test_a_run_that_ends_leaves_its_last_picture_and_the_next_run_goes_on_in_the_same_page(looked_at):
    with told() as live:
        live.story.tell(*started_query(), *batch(0))
        page = looked_at(live.url)
        page.locator(".query").wait_for()
        live.story.tell(ended())
    word(page, "Ended")
    banner = page.locator("#ended")
    assert "This is its last picture" in banner.inner_text()
    page.locator("#line.lost").wait_for()
    assert page.locator(".part.emitted .value").inner_text() == "880"
    assert not page.locator("#lost").is_visible()

    with told(port=live.url.rpartition(":")[2].strip("/")) as again:
        again.story.tell(*started_query())
        word(page, "Healthy")
        assert not banner.is_visible()


def test_an_error_stays_on_the_page_with_what_to_do(looked_at):
    with contextlib.suppress(SinkUnavailable), told() as live:
        live.story.tell(*started_query(), *batch(0))
        page = looked_at(live.url)
        page.locator(".query").wait_for()
        raise SinkUnavailable("postgres does not answer", remedy="Start the database.")

    word(page, "Stopped")
    assert page.locator("#why").inner_text() == "An error has stopped the run: postgres does not answer"
    assert page.locator(".trouble .todo").inner_text() == "Start the database."


def test_what_people_write_is_text_and_never_markup(looked_at):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    with told() as live:
        live.story.tell(*started_query(evil), Note(evil, evil, evil))
        page = looked_at(live.url)
        page.locator(".trouble").wait_for()

        assert evil in page.locator(".trouble .what").inner_text()
        assert page.locator("main img, main script").count() == 0


def test_whoever_has_the_token_types_it_once(looked_at):
    with told(Access(TOKEN, "in .streamproof/live-token")) as live:
        live.story.tell(*started_query())
        page = looked_at_denied(looked_at, live.url)
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Look").click()

        word(page, "Healthy")
        assert page.url == live.url
        assert TOKEN not in page.content()
        page.reload()
        word(page, "Healthy")


def looked_at_denied(looked_at, url):
    page = looked_at(url)
    page.get_by_role("heading", name="This page needs its token").wait_for()
    return page


@contextlib.contextmanager
def proved() -> Iterator[SimpleNamespace]:
    """A page of a proof that is served: `.url`, and `.board` to tell events."""
    board = ProofBoard("my_job", again("my_job", None), Clock())
    with LivePage(board, bound("0"), Access()) as page:
        yield SimpleNamespace(url=page.url, board=board)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_grid_of_a_proof_fills_up_and_ends_with_the_verdict(looked_at, width):
    points = tuple(
        f"{phase}@{batch}:{side}"
        for batch in range(12)
        for phase in ("plan/offsets", "work/state.0.0", "work/state.0.1", "publish/exposure", "commit/commits")
        for side in ("before", "after")
    )
    with proved() as proof:
        page = looked_at(proof.url, width=width)
        word(page, "Preparing")
        for told in (Started("risk_exposure", 1_000, "trades", 7, 12, "4.3.0", "local[2]"), Planned(points)):
            proof.board(told)
        proof.board(Proving(0, 60, points[0]))
        page.locator(".grid .c.untried").nth(119).wait_for()
        proof.board(Judged(points[0], Verdict.PASS, points[:40]))
        proof.board(Judged(points[40], Verdict.FAIL, points[40:42], "exactly-once: trade t-1 is counted twice"))
        proof.board(Proving(2, 60, points[42], 90.0))
        page.locator(".grid .c.fail").first.wait_for()

        assert page.locator(".grid .c.pass").count() == 40
        assert page.locator(".grid .c.fail").first.get_attribute("title") == f"{points[40]}, fail"
        word(page, "Failing")
        assert f"streamproof prove my_job --only {points[40]} --seed 7" in page.locator(".trouble .todo").inner_text()
        assert page.get_by_role("progressbar").get_attribute("aria-valuenow") == "2"
        assert page.evaluate("document.documentElement.scrollWidth") == width
        proof.board.done(Verdict.FAIL, "A trade was counted twice. The report: report.html")
    word(page, "Fail")
    assert "The proof ended" in page.locator("#ended").inner_text()
    assert page.locator(".grid .c.pass").count() == 40


@pytest.mark.full
def test_a_real_proof_is_on_the_page_although_it_has_a_network_of_its_own(looked_at):
    command = ["prove", str(JOBS / "lines"), "--only", "publish/*", "--max-scenarios", "3", "--live", "0"]
    with running(command, {**os.environ}, name="proof") as run:
        page = looked_at(run.url)
        word(page, re.compile("Preparing|Recording"))
        page.locator(".grid .c.pass").first.wait_for(timeout=150_000)
        page.get_by_text("3 of 3").first.wait_for(timeout=60_000)
        word(page, re.compile("Unknown"))

    assert page.locator(".grid .c.pass").count() >= 3
    assert page.locator(".grid .c.fail").count() == 0
    assert "report.html" in page.locator("#why").inner_text()
    assert run.process.returncode == 3, "cut short: a part of the plan is no pass"


def test_a_real_job_is_on_the_page_from_its_start_to_its_end(looked_at, tmp_path):
    """By the command line, with a trigger that never ends by itself: files come while the page is open, then it is asked to end."""
    counting = {"spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "true"}
    job = SmallJob(None, tmp_path / "job", SUMS, Binding(**{**vars(WINDOWED), "spark": counting, "trigger": "1 second"}))
    job.feed([event("e1", 1), event("e2", 2, client="b"), event("bad", 3, v=-1)])
    environment = {**os.environ, "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1"}
    with running(["run", str(job.folder), "--live", "0", "--json"], environment) as run:
        page = looked_at(run.url)
        word(page, re.compile("Starting|Healthy"))
        page.locator(".query[data-query=sums]").wait_for(timeout=90_000)
        page.locator(".part.rejected .value", has_text="1").wait_for(timeout=60_000)
        job.feed([event("e3", 100)])
        job.feed([event("e4", 101)])
        job.feed([event("late", 5)])  # behind the watermark of the batch before
        page.locator(".part.late .value", has_text="1").wait_for(timeout=60_000)
        page.get_by_text(re.compile(r"#\d+.*most of it (work|plan|publish|stage|commit) · \d")).first.wait_for()
        page.get_by_text("Readers get records of events").wait_for()
        seen = page.locator("main").inner_text()
        run.process.send_signal(signal.SIGTERM)
        word(page, "Ended")
    result = json.loads(run.printed)

    assert run.process.returncode == 143
    shown = {part.get_attribute("data-place"): part.locator(".value").inner_text() for part in page.locator(".part").all()}
    account = result["account"]
    assert {place: int(count) for place, count in shown.items()} == {place: account[place] for place in shown}
    assert result["account_input"] == 6
    assert "the account adds up" in page.locator("main").inner_text()
    assert re.search(r"watermark 2026-01-05 09:0\d:\d\d UTC, 10 s before the newest event", seen), seen
    assert re.search(r"0 stateStoreSave\s+\d+\s+[\d.]+ k?B", seen), seen
    assert "The run was asked to end." in page.locator("#why").inner_text()


@contextlib.contextmanager
def running(arguments: list[str], environment: dict[str, str], name: str = "run") -> Iterator[SimpleNamespace]:
    """`streamproof ... --live 0`, ended with the test; `.printed` is what it has printed, once it is over."""
    command = [sys.executable, "-m", "streamproof.cli.main", *arguments]
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            said, found = [], None
            for line in process.stderr:  # what it says after this line the pipe holds
                said.append(line)
                if found := re.search(rf"Live page of this {name}: (http://\S+)", line):
                    break
            assert found, said
            run = SimpleNamespace(url=found[1], process=process, printed="")
            yield run
            process.wait(60)
            out.seek(0)
            run.printed = out.read()
        finally:
            process.kill()
            process.communicate(timeout=60)
