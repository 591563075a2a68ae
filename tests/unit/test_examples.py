"""What the worked examples promise beyond their rows, on the plain model and without Spark; their pages and proofs have the rest."""

import random
import runpy
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import streamproof as sp

EXAMPLES = Path(__file__).parents[2] / "examples"
NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


def job_of(example: str) -> Any:
    return runpy.run_path(str(EXAMPLES / example / "job.py"))[example]


def requests(seed: int) -> list[dict[str, Any]]:
    """Three hours of two articles, in the order in which they arrive: up to four minutes late, some twice, most about what was asked before."""
    rng, made, arriving = random.Random(seed), [], []
    for number in range(400):
        at = NINE + timedelta(seconds=27 * number + rng.randrange(27))
        kind = rng.choice(("deliver", "reserve", "reserve", "reserve", "confirm", "confirm", "cancel"))
        before = rng.choice(made[-12:]) if made and kind in ("confirm", "cancel") else None
        request = {
            "id": before["id"] if before else f"r-{number}",
            "kind": kind,
            "sku": before["sku"] if before else rng.choice(("tent", "stove")),
            "quantity": None if before else rng.randint(1, 4),
            "at": at,
        }
        made.append(request)
        copies = 2 if rng.random() < 0.1 else 1
        arriving += [(at + timedelta(seconds=rng.randrange(240)), number, request) for _ in range(copies)]
    return [request for *_, request in sorted(arriving, key=lambda one: one[:2])]


@pytest.mark.parametrize("seed", range(5))
def test_no_article_is_ever_promised_twice(seed):
    """What was delivered is free, held or sold, and each once: after each batch, for each article, whatever comes late, twice or never."""
    test = sp.OperatorTest(job_of("inventory"), event_time="at", lag="2 minutes")
    arriving = requests(seed)
    asked = {one["id"]: one["quantity"] for one in arriving if one["kind"] in ("deliver", "reserve")}
    on_hand, answers, ended, expired = Counter[str](), Counter[str](), set[tuple[str, str]](), 0
    for begin in range(0, len(arriving), 15):
        given = test.push(*arriving[begin : begin + 15])
        for row in given.rows:
            assert row["free"] >= 0, row
            answers[row["answer"]] += 1
            assert (row["id"], row["answer"]) not in ended, row
            ended |= {(row["id"], row["answer"])} if row["answer"] in ("delivered", "sold", "cancelled") else set()
            on_hand[row["sku"]] += {"delivered": 1, "sold": -1}.get(row["answer"], 0) * (asked.get(row["id"]) or 0)
        expired += len(given.sides.get("tag:expired", ()))
        for (sku,), state in test.state.items():
            held = sum(one["quantity"] for one in state["entries"].values() if one["state"] == "held")
            assert state["free"] + held == on_hand[sku], (sku, state)

    assert set(answers) == {"delivered", "held", "refused", "sold", "cancelled", "ignored"}
    assert expired > 10


def test_weights_are_those_of_the_definition_in_whatever_order_actions_come():
    """Of each action its points, halved for each six hours that it is old."""
    rng = random.Random(3)
    points, categories = {"view": 1.0, "cart": 3.0, "buy": 5.0}, {"tent": "outdoor", "novel": "books", "lamp": "home"}
    actions = [
        {
            "user": "u1",
            "kind": rng.choice([*points]),
            "item": rng.choice([*categories]),
            "at": NINE + timedelta(minutes=17 * number + rng.randrange(17)),
        }
        for number in range(60)
    ]
    newest = max(action["at"] for action in actions)
    wanted = Counter[str]()
    for action in actions:
        wanted[categories[action["item"]]] += points[action["kind"]] * 0.5 ** ((newest - action["at"]) / timedelta(hours=6))

    for size in (60, 7):
        rng.shuffle(actions)
        test = sp.OperatorTest(job_of("recommendations"), event_time="at", lag="2 days")
        test.table("items", [{"item": item, "category": category} for item, category in categories.items()])
        rows = [row for begin in range(0, 60, size) for row in test.push(*actions[begin : begin + size]).rows]

        assert len(rows) == rows[-1]["actions"] == 60
        assert rows[-1]["at"] == newest
        assert rows[-1]["weights"] == pytest.approx(wanted)
