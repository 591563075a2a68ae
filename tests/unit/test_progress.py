"""Progress without a terminal: plain lines, few of them."""

import io

import pytest
from rich.console import Console

from streamproof.progress import BarProgress, LineProgress, progress_on
from streamproof.prove.events import Failed, Finished, Preparing, Proving, Recorded, Recording, Started

EVENTS = [
    Preparing("loading PySpark"),
    Preparing("starting Spark; making 50,000 events"),
    Started("risk_exposure", 50_000, "trade", 7, 12, "4.3.0", "local[2]"),
    *(Recording(batch, 12) for batch in range(13)),
    Recorded(612, 268, 9, 6.2, 8),
    *(Proving(done, 277, f"publish/exposure@{done}:before", 96.0) for done in range(278)),
    Failed("publish/exposure@3:after", 21.0),
    Failed("publish/exposure@4:after", 22.0),
    Finished(),
]


def shown(terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120 if terminal else 60, highlight=False)
    with progress_on(console) as progress:
        assert isinstance(progress, BarProgress if terminal else LineProgress)
        for event in EVENTS:
            progress(event)
    return console.file.getvalue()


def test_plain_lines_say_what_is_tried_and_are_few():
    lines = shown(terminal=False).splitlines()

    assert lines[:2] == [
        "  preparing            loading PySpark",
        "  preparing            starting Spark; making 50,000 events",
    ]
    assert lines[2] == "risk_exposure · 50,000 trades · seed 7 · 12 batches · Spark 4.3.0 on local[2]"
    assert lines[3] == "  recording            the job runs without a fault, twice"
    assert lines[4] == "  recording            12 of 12 batches"
    assert lines[5] == "  plan                 612 durable steps, 268 distinct disks, 9 live crashes, 8 other faults"
    assert "  proving              0 of 277 · publish/exposure@0:before   1 min 36 s left" in lines
    assert sum("first failure" in line for line in lines) == 1
    assert len(lines) < 20


def test_on_a_terminal_there_is_a_bar_and_nothing_is_left_moving():
    text = shown(terminal=True)

    assert "612 durable steps" in text
    assert "277 of 277" in text
    assert text.count("\x1b[?25h") == text.count("\x1b[?25l"), "the cursor is shown again"


def test_an_interrupted_proof_leaves_the_terminal_as_it_was():
    console = Console(file=io.StringIO(), force_terminal=True, width=120)

    def interrupted():
        with progress_on(console) as progress:
            progress(Recording(1, 12))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert console.file.getvalue().count("\x1b[?25h") == 1
