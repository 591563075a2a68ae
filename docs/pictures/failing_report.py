"""What a report shows of a failure: from the first finding to the smallest scenario, the way of its event, and the state on both sides of the crash."""

from shapes import BAND, INK, LATE, LINE, SOFT, box, line, page, text

WIDTH, HEIGHT = 860, 478
LEFT, INNER = 24, 40
STORY = (
    ("arrived", "row 26 of part-0-0.json, read by batch 0"),
    ("in window", "s0 09:01:00-09:02:00 with 16 others, given by batch 2"),
    ("published", "takings, batch=000002: total 1,007.21 · payments 17"),
    ("WRONG", "its row is in takings 2 times; the model has 1"),
)
STATE = (
    ("changed", "s1 09:02", "31", "38"),
    ("gone", "s0 09:01", "17", "not there"),
    ("new", "s0 09:03", "not there", "12"),
)


def failing_report() -> str:
    parts = [
        *_card(16, 78, "1", "What happened", "exactly-once: payment e-000052 is counted twice and 16 more"),
        text(INNER + 24, 81, "crash  after output takings of batch 2 was published, before Spark committed the batch", colour=SOFT),
        *_card(110, 92, "2", "The smallest scenario that fails so", "1 event, 1 batch, 1 fault, of 300 events, 3 batches, 1 fault"),
        *_command(168, "streamproof prove my_job --only publish/takings@0:after --exactly …/smallest.json"),
        *_card(218, 120, "3", "The trace of its event", ""),
        *_story(262),
        *_card(354, 108, "4", "The state at the crash and after the recovery", ""),
        *_state(380),
    ]
    for y in (94, 202, 338):
        parts += [line(LEFT + 12, y, LEFT + 12, y + 16, colour=SOFT, width=2)]
    return page(WIDTH, HEIGHT, "The report of a proof that failed: four steps from the finding to its cause", parts)


def _card(y: float, height: float, number: str, title: str, says: str) -> list[str]:
    drawn = [
        box(LEFT, y, WIDTH - 2 * LEFT, height, fill="#ffffff", stroke=LINE),
        text(LEFT + 12, y + 24, number, weight="bold", anchor="middle", colour=SOFT),
        text(INNER + 24, y + 24, title, weight="bold"),
    ]
    return [*drawn, text(INNER + 24, y + 44, says, colour=LATE if number == "1" else INK)] if says else drawn


def _command(y: float, said: str) -> list[str]:
    return [box(INNER + 24, y, 560, 24), text(INNER + 34, y + 16, said, size=12)]


def _story(y: float) -> list[str]:
    drawn = []
    for place, (label, says) in enumerate(STORY):
        colour = LATE if label == "WRONG" else INK
        drawn += [
            text(INNER + 24, y + place * 20, label, colour=LATE if label == "WRONG" else SOFT),
            text(INNER + 110, y + place * 20, says, colour=colour),
        ]
    return drawn


def _state(y: float) -> list[str]:
    columns = (INNER + 24, INNER + 110, INNER + 230, INNER + 370)
    drawn = [
        text(columns[2], y + 16, "at the crash", colour=SOFT, size=12),
        text(columns[3], y + 16, "after it", colour=SOFT, size=12),
    ]
    for place, row in enumerate(STATE):
        below = y + 36 + place * 18
        if row[0] == "changed":
            drawn += [box(column - 6, below - 13, 34, 17, fill="#f7e3b5") for column in columns[2:]]
        drawn += [
            text(column, below, said, size=12, colour=SOFT if said == "not there" else INK)
            for column, said in zip(columns, row, strict=True)
        ]
    drawn += [box(INNER + 500, y + 22, 270, 44, fill=BAND)]
    drawn += [text(INNER + 512, y + 40, "the same as without a fault after batch 2:", size=12)]
    drawn += [text(INNER + 512, y + 57, "what is wrong is not in this state", size=12)]
    return drawn
