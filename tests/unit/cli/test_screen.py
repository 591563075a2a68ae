"""What is being done, where there is no terminal: lines for a log, new things at once, progress now and then."""

from streamproof.cli import screen
from unit.cli.conftest import Clock


def test_new_things_are_said_at_once_and_what_only_counts_on_once_a_minute():
    said, clock = [], Clock()
    lines = screen._Lines("running trades", said.append, clock)

    lines("starting Spark")
    for batch in range(1, 200):
        clock.now += 1
        lines(f"batch {batch}, {batch * 1_000:,} rows in ({'computing' if batch % 2 else 'publishing'}, 3 s)")
    lines("batch 199, 199,000 rows in; 1 batch waits for table: no answer. (asked again in 2 s)")
    lines("batch 199, 199,000 rows in; 1 batch waits for table: no answer. (being asked again, no answer for 49 s)")
    lines("batch 200, 200,000 rows in")

    texts = [line.partition("running trades: ")[2] for line in said]
    assert texts == [
        "starting Spark",
        "batch 1, 1,000 rows in (computing, 3 s)",
        "batch 61, 61,000 rows in (computing, 3 s)",
        "batch 121, 121,000 rows in (computing, 3 s)",
        "batch 181, 181,000 rows in (computing, 3 s)",
        "batch 199, 199,000 rows in; 1 batch waits for table: no answer. (asked again in 2 s)",
        "batch 200, 200,000 rows in",
    ]


def test_lines_carry_the_time_and_no_secrets(capsys, monkeypatch):
    monkeypatch.setattr(screen, "redacted", lambda text: text.replace("s3cret", "***"))

    with screen.waiting("running trades") as told:
        told("asking s3cret")

    (line,) = capsys.readouterr().err.splitlines()
    assert line[10] == "T"
    assert line[19:] == "Z  running trades: asking ***"
