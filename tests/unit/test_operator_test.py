"""`sp.OperatorTest`: rows and watermarks pushed into operators, without Spark."""

import runpy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import streamproof as sp
from streamproof.errors import DataError, JobDefinitionError, ScenarioError, StreamproofError

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


def payment(minute, second=0, amount=5.0, card="a"):
    return {"card": card, "ts": f"2026-01-05T09:{minute:02d}:{second:02d}Z", "amount": amount}


def silent(payments):
    checked = payments.require(amount="amount > 0").filter("coalesce(card, '') <> 'test'", name="tests")
    return checked.keyed(
        "card",
        state={"n": "0L"},
        on_row=sp.step(
            set={"n": "n + 1", "silence": "greatest(silence, ts + INTERVAL 10 MINUTES)"},
            emit=sp.emit("card", "ts", "n", when="n > 1"),
        ),
        on_timer={"silence": sp.step(set={"n": "0L"}, emit=sp.emit("card", "timer AS ts", "0L AS n"))},
        ttl="1 hour",
    )


def test_rows_side_rows_timers_and_state_of_declared_state():
    test = sp.OperatorTest(silent, event_time="ts", lag="1 minute")

    first = test.push(payment(1), payment(0), payment(2, amount=-1.0), payment(3, card="test"), payment(4, card=None))
    assert first.rows == [{"card": "a", "ts": NINE.replace(minute=1), "n": 2}]
    assert {side: len(rows) for side, rows in first.sides.items()} == {"rejected": 2, "filtered": 1, "absorbed": 1}
    assert [row["reason"] for row in first.sides["rejected"]] == ["amount > 0", "key card (is null)"]
    assert test.state == {("a",): {"n": 2, "silence": NINE.replace(minute=11)}}

    assert test.advance_to("2026-01-05T09:10:59Z").rows == []
    assert test.advance_to("2026-01-05T09:11:00Z").rows == [{"card": "a", "ts": NINE.replace(minute=11), "n": 0}]
    assert test.state == {("a",): {"n": 0, "silence": None}}
    assert test.push(payment(10)).sides == {"late": [payment(10)]}
    assert test.watermark == NINE.replace(minute=11)


def test_the_watermark_follows_the_rows_of_earlier_batches():
    test = sp.OperatorTest(silent, event_time="ts", lag="1 minute")

    test.push(payment(30))
    assert test.watermark == datetime(1970, 1, 1, tzinfo=UTC)
    test.push()
    assert test.watermark == NINE.replace(minute=29)


def test_a_window_shows_what_is_in_it():
    test = sp.OperatorTest(lambda rows: rows.window(sp.tumbling("5 minutes"), by="card").aggregate(n=1), event_time="ts")

    assert test.push(payment(1), payment(2, card="b"), payment(6)).rows == []
    assert len(test.state) == 3
    rows = test.advance_to(NINE.replace(minute=5)).rows
    assert [(row["card"], row["window_end"].minute, row["rows"]) for row in rows] == [
        ("a", 5, [payment(1)]),
        ("b", 5, [payment(2, card="b")]),
    ]


def test_a_window_of_windows_shows_the_records_in_it():
    def steps(rows):
        return rows.window(sp.tumbling("5 minutes"), by="card").aggregate(n=1).window(sp.tumbling("10 minutes")).aggregate(n=1)

    test = sp.OperatorTest(steps, event_time="ts")

    test.push(payment(1), payment(2), payment(6), payment(7, card="b"))
    (row,) = test.advance_to(NINE.replace(minute=10)).rows
    assert sorted(row["rows"], key=lambda one: one["ts"]) == [payment(1), payment(2), payment(6), payment(7, card="b")]


def test_copies_leave_as_duplicates():
    test = sp.OperatorTest(lambda rows: rows.deduplicate("card", within="5 minutes"), event_time="ts")

    found = test.push(payment(1), payment(2))
    assert (found.rows, found.sides) == ([payment(1)], {"duplicate": [payment(2)]})
    assert set(test.state) == {("a",)}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (lambda rows: rows.transform(lambda frame: frame), "cannot work out transform()"),
        (lambda rows: rows.filter(object(), name="x"), "a PySpark column"),
        (lambda rows: rows.filter("levenshtein(card, 'a') > 1", name="x"), "levenshtein"),
        (lambda rows: rows.deduplicate("id"), 'have no column "id"'),
        (lambda rows: None, "steps that return a NoneType"),
    ],
)
def test_what_needs_spark_and_what_is_not_there_is_said(steps, said):
    with pytest.raises(JobDefinitionError) as refused:
        sp.OperatorTest(steps, event_time="ts").push(payment(1))

    assert said in refused.value.message


def order(second, key, name="o"):
    return {"id": name, "key": key, "ts": f"2026-01-05T09:00:{second:02d}Z"}


def test_two_streams_meet_and_who_meets_nobody_leaves():
    test = sp.OperatorTest(
        lambda orders, payments: orders.join(payments, on="key", between=("0 seconds", "10 seconds")),
        event_time="ts",
        lag="5 seconds",
    )

    met = test.push(orders=[order(0, 1), order(1, 2)], payments=[order(4, 1, "p"), order(30, 1, "late for it")])
    assert met.rows == [{**order(0, 1), "id_right": "p", "ts_right": "2026-01-05T09:00:04Z"}]
    assert test.push(orders=[order(40, 3)]).sides == {}
    assert len(test.state) == 5
    over = test.advance_to("2026-01-05T09:00:12Z")
    assert over.sides == {"unmatched:left": [order(1, 2)]}
    assert test.push(payments=[order(11, 3, "x")]).sides == {"late:right": [order(11, 3, "x")]}


def test_a_row_alone_has_nulls_for_the_other_stream():
    test = sp.OperatorTest(
        lambda orders, payments: orders.join(payments, on="key", between=("0 seconds", "1 second"), how="right"), event_time="ts"
    )

    test.push(orders=[order(0, 1)], payments=[order(30, 2, "p")])
    alone = test.advance_to("2026-01-05T09:01:00Z")
    assert alone.rows == [{"id": None, "key": 2, "ts": None, "id_right": "p", "ts_right": "2026-01-05T09:00:30Z"}]
    assert alone.sides == {"unmatched:left": [order(0, 1)]}


def test_columns_of_a_table_and_rules_are_those_of_the_moment():
    def steps(rows):
        return (
            rows.lookup("rates", on="card", as_of="ts")
            .rules("limits", rule="name", when="condition")
            .deduplicate("card", within="1 minute")
        )

    test = sp.OperatorTest(steps, event_time="ts")
    test.table("rates", [{"card": card, "rate": 2.0, "since": "2026-01-05T09:00:00Z"} for card in "ab"], valid_from="since")
    test.table("limits", [{"name": "high", "condition": "amount * rate > 5"}, {"name": "low", "condition": "amount < 1"}])

    found = test.push(payment(1), {**payment(2), "ts": "2026-01-05T08:00:00Z"})
    assert found.rows == [{**payment(1), "rate": 2.0, "rules": ["high"], "rules_failed": []}]
    assert [row["reason"] for row in found.sides["unmatched"]] == ["no row in rates"]
    test.table("limits", [])
    assert test.push(payment(9, card="b")).rows[0]["rules"] == []


def test_a_rule_that_fails_on_a_row_is_named_there():
    test = sp.OperatorTest(
        lambda rows: rows.rules("limits", rule="name", when="condition").deduplicate("card", within="1 minute"), event_time="ts"
    )
    conditions = {
        "or": "amount / fee > 400 or card = 'a'",
        "cast": "cast(card as int) > 1",
        "null": "amount / fee is null",
        "all": "true",
    }
    test.table("limits", [{"name": name, "condition": text} for name, text in conditions.items()])

    (row,) = test.push({**payment(1), "fee": 0}).rows

    assert (row["rules"], row["rules_failed"]) == (["all"], ["cast", "null", "or"])
    (row,) = test.push({**payment(2, card="7"), "fee": None}).rows
    assert (row["rules"], row["rules_failed"]) == (["all", "cast", "null"], [])


def test_a_condition_that_fails_on_a_row_is_said():
    test = sp.OperatorTest(
        lambda rows: rows.filter("amount / fee > 1", name="dear").deduplicate("card", within="1 minute"), event_time="ts"
    )

    with pytest.raises(DataError, match='"amount / fee > 1" fails on a row of the test: a division by zero') as raised:
        test.push({**payment(1), "fee": 0})
    assert "try_divide" in raised.value.remedy


def test_rows_that_are_no_rules_are_left_out():
    test = sp.OperatorTest(
        lambda rows: rows.rules("limits", rule="name", when="condition").deduplicate("card", within="1 minute"), event_time="ts"
    )
    test.table(
        "limits", [{"name": None, "condition": "true"}, {"name": "none", "condition": None}, {"name": "all", "condition": "true"}]
    )

    assert test.push(payment(1)).rows[0]["rules"] == ["all"]


@pytest.mark.parametrize(
    ("as_of", "valid", "said"),
    [
        (None, {}, 'The table "rates" of the test has two rows for one card.'),
        ("ts", {"valid_from": "since"}, 'The table "rates" of the test has two rows for one card that hold at one instant.'),
    ],
)
def test_two_rows_of_a_table_for_one_key_are_refused(as_of, valid, said):
    test = sp.OperatorTest(
        lambda rows: rows.lookup("rates", on="card", as_of=as_of).deduplicate("card", within="1 minute"), event_time="ts"
    )
    test.table("rates", [{"card": "a", "rate": rate, "since": "2026-01-05T09:00:00Z"} for rate in (1, 2)], **valid)

    with pytest.raises(DataError) as raised:
        test.push(payment(1))
    assert raised.value.message == said


def test_rows_of_a_stream_that_the_steps_do_not_take():
    test = sp.OperatorTest(
        lambda orders, payments: orders.join(payments, on="key", between=("0 seconds", "1 second")), event_time="ts"
    )

    with pytest.raises(JobDefinitionError, match="got rows of refunds"):
        test.push(refunds=[order(0, 1)])
    with pytest.raises(JobDefinitionError, match="say of no stream"):
        test.push(order(0, 1))


def test_a_table_that_nobody_has_given():
    test = sp.OperatorTest(lambda rows: rows.lookup("rates", on="card").deduplicate("card", within="1 minute"), event_time="ts")

    with pytest.raises(JobDefinitionError, match='knows no table "rates"'):
        test.push(payment(1))


def test_windows_after_a_join_hold_its_rows():
    test = sp.OperatorTest(
        lambda orders, payments: (
            orders.join(payments, on="key", between=("0 seconds", "10 seconds"), how="left")
            .window(sp.tumbling("1 minute"), by="shop_right")
            .aggregate(n="n")
        ),
        event_time="ts",
    )
    test.push(
        orders=[{"key": 1, "shop": "x", "ts": "2026-01-05T09:00:00"}, {"key": 2, "shop": "x", "ts": "2026-01-05T09:00:59"}],
        payments=[{"key": 1, "shop": "y", "ts": "2026-01-05T09:00:01"}],
    )

    assert test.advance_to("2026-01-05T09:01:10").rows == [], (
        "the watermark that leaves the join is ten seconds behind, and a millisecond"
    )
    (met, alone) = sorted(test.advance_to("2026-01-05T09:01:10.001").rows, key=lambda row: str(row["shop_right"]), reverse=True)
    assert (met["shop_right"], [(row["shop"], row["shop_right"]) for row in met["rows"]]) == ("y", [("x", "y")])
    assert (alone["shop_right"], [(row["key"], row["shop_right"]) for row in alone["rows"]]) == (None, [(2, None)])


def test_a_window_of_windows_after_a_join_shows_all_rows_of_the_join():
    test = sp.OperatorTest(
        lambda orders, payments: (
            orders.join(payments, on="key", between=("0 seconds", "10 seconds"))
            .window(sp.tumbling("1 minute"), by=("key", "shop"))
            .aggregate(n="n")
            .window(sp.tumbling("1 minute"), by="shop")
            .aggregate(n="n")
        ),
        event_time="ts",
    )
    test.push(
        orders=[{"key": key, "shop": "x", "ts": "2026-01-05T09:00:00"} for key in (1, 2)],
        payments=[{"key": key, "amount": amount, "ts": "2026-01-05T09:00:01"} for key, amount in ((1, 5), (1, 7), (2, 9))],
    )

    (found,) = test.advance_to("2026-01-05T09:02:00").rows
    assert sorted((row["key"], row["amount"]) for row in found["rows"]) == [(1, 5), (1, 7), (2, 9)]


ROOT = Path(__file__).parents[2]


def card_fraud():
    steps = runpy.run_path(str(ROOT / "examples/card_fraud/job.py"))["card_fraud"].function
    test = sp.OperatorTest(lambda payments: steps(payments).asked_for["suspicious"], event_time="at", lag="1 minute")
    test.table("cards", [{"card": "a", "home": "DE", "usual": 20}])
    test.table("fraud_rules", [])
    return test, lambda time: {"payment": time, "card": "a", "euros": 20, "at": f"2026-01-05T{time}Z"}


def velocity():
    text = (ROOT / "docs/guides/keyed-state.md").read_text().split('```python file="velocity.py"')[1].split("```")[0]
    made: dict[str, Any] = {}
    exec(text, made)
    steps = made["velocity"].function
    test = sp.OperatorTest(lambda payments: steps(payments).asked_for["suspicious"], event_time="ts", lag="1 minute")
    return test, lambda time: {"payment_id": time, "card": "a", "amount": 20.0, "ts": f"2026-01-05T{time}Z"}


@pytest.mark.parametrize("example", [card_fraud, velocity])
@pytest.mark.parametrize("order", [("09:10:05", "09:10:30"), ("09:10:30", "09:10:05")])
def test_the_examples_of_fraud_find_a_payment_that_comes_within_the_lag(example, order):
    test, payment = example()
    test.push(payment("09:00:10"), payment("09:00:20"))

    found = [row for time in order for row in test.push(payment(time)).rows]

    assert [(row.get("payment", row.get("payment_id")), row["payments"]) for row in found] == [("09:10:05", 3)]


def remembered(columns, sets, **of_row):
    def steps(rows):
        return rows.keyed("k", state=columns, on_row=sp.step(set=sets, emit=sp.emit("k", *columns)), ttl="never")

    return sp.OperatorTest(steps, event_time="ts").push({"k": 1, "ts": NINE, **of_row}).rows


def test_only_instants_are_shown_as_such():
    columns = {
        "card": "0L",
        "number": "0L",
        "at": "CAST(NULL AS TIMESTAMP)",
        "seen": "CAST(array() AS array<struct<at: timestamp, n: bigint>>)",
    }
    sets = {
        "card": "card_number",
        "number": "booking",
        "at": "paid + INTERVAL 1 SECOND",
        "seen": "array(struct(paid AS at, card_number AS n))",
    }
    found = remembered(columns, sets, card_number=4111111111111111, booking=1876543210987654321, paid=NINE)

    assert found == [
        {
            "k": 1,
            "card": 4111111111111111,
            "number": 1876543210987654321,
            "at": NINE.replace(second=1),
            "seen": [{"at": NINE, "n": 4111111111111111}],
        }
    ]


@pytest.mark.parametrize(
    ("starts", "text", "given", "said"),
    [
        ("0L", "CAST(v AS BIGINT)", "DE89 3704 0044", 'Spark would stop the job at on_row: f, "CAST(v AS BIGINT)"'),
        ("CAST(0 AS INT)", "v", 2**40, "Spark would stop the job at the field f, which starts as"),
        ("0L", "IF(v > TIMESTAMP '2026-01-01 00:00:00', 1, 0)", "2026-01-05T09:00:00Z", 'on_row: f, "IF(v > TIMESTAMP'),
        ("0L", "unix_seconds(v + INTERVAL 1 HOUR)", "2026-01-05T09:00:00Z", "an instant is a datetime, and not a text"),
        ("0L", "CAST(v AS BIGINT)", NINE, "a cast of an instant to a number"),
    ],
)
def test_what_cannot_be_worked_out_of_a_row_names_the_expression_and_not_the_value(starts, text, given, said):
    with pytest.raises(ScenarioError) as found:
        remembered({"f": starts}, {"f": text}, v=given)
    assert said in str(found.value)
    assert str(given) not in str(found.value)


def test_sums_and_numbers_of_patterns_may_be_large():
    rows = [{"k": 1, "ts": NINE, "n": 2 * 10**14}, {"k": 1, "ts": NINE.replace(minute=1), "n": 1}]
    running = sp.OperatorTest(lambda rows: sp.patterns.running(rows, "k", ttl="never", b=("0L", "n")), event_time="ts")
    assert [row["b"] for row in running.push(*rows).rows] == [2 * 10**14, 2 * 10**14 + 1]

    def ordered(rows):
        return sp.patterns.reorder(rows, "k", time="ts", columns={}, number="n", ttl="never", at_most=9)

    reorder = sp.OperatorTest(ordered, event_time="ts")
    reorder.push(*rows)
    assert [row["n"] for row in reorder.advance_to(NINE.replace(minute=1)).rows] == [2 * 10**14, 1]


def counted(ttl="never", at=None, timer=None):
    def steps(rows):
        return rows.keyed(
            "k",
            state={"n": "0L", "by": sp.map_of("string", "bigint", at_most=2)},
            on_row=sp.step(
                set={"n": "n + 1", "by[v]": "n", "late": "ts + INTERVAL 1 MINUTE"}, emit=sp.emit("k", "n", "before.by AS by")
            ),
            on_timer={"late": sp.step(emit=sp.emit("k", "n", "by"))},
            ttl=ttl,
            initial=sp.initial("counts", at=at),
        )

    return sp.OperatorTest(steps, event_time="ts")


def test_state_begins_with_a_table():
    test = counted()
    test.table(
        "counts", [{"k": 1, "n": 40, "by": {"x": 1}, "further": 0}, {"k": 2, "n": 7, "by": {}}, {"k": None, "n": 1, "by": {}}]
    )

    pushed = test.push({"k": 1, "ts": NINE, "v": "y"}, {"k": 3, "ts": NINE, "v": "y"})
    assert pushed.rows == [{"k": 1, "n": 41, "by": {"x": 1}}, {"k": 3, "n": 1, "by": {}}]
    assert test.state[2,] == {"n": 7, "by": {}, "late": None}
    test.table("counts", [{"k": 2, "n": 1000, "by": {}}])
    assert test.push({"k": 2, "ts": NINE, "v": "y"}).rows == [{"k": 2, "n": 8, "by": {}}]
    assert {row["k"] for row in test.advance_to(NINE.replace(minute=1)).rows} == {1, 2, 3}


def test_keys_of_the_table_are_forgotten_by_the_time_of_their_latest_row():
    test = counted(ttl="10 minutes", at="latest")
    test.table("counts", [{"k": key, "n": 40, "by": {}, "latest": NINE} for key in (1, 2, 3)])

    assert [row["n"] for row in test.push({"k": 1, "ts": NINE.replace(minute=9), "v": "y"}).rows] == [41]
    assert [row["n"] for row in test.push({"k": 2, "ts": NINE.replace(minute=10), "v": "y"}).rows if row["k"] == 2] == [1]
    test.advance_to(NINE.replace(minute=10))
    assert sorted(test.state) == [(1,), (2,)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, 'knows no table "counts"'),
        ([{"k": 1, "n": 1, "latest": NINE}], "the table counts has no column by"),
        ([{"k": 1, "n": 1, "by": {}, "latest": None}], "has a row without latest, from which ttl counts"),
        ([{"k": 1, "n": 1.5, "by": {}, "latest": NINE}], "a fraction does not fit a field of whole numbers"),
    ],
)
def test_a_table_that_state_cannot_begin_with_is_said(rows, said):
    test = counted(ttl="10 minutes", at="latest")
    if rows is not None:
        test.table("counts", rows)
    with pytest.raises(StreamproofError, match=said):
        test.push({"k": 1, "ts": NINE, "v": "y"})


def test_a_whole_job_is_taken_where_it_has_one_main_output():
    @sp.job
    def sensors(readings: sp.Stream) -> sp.Outputs:
        counted = counting(readings)
        return sp.Outputs(counted=counted, late=counted.late)

    test = sp.OperatorTest(sensors, event_time="ts")

    assert [row["n"] for row in test.push({"sensor": "s", "ts": "2026-01-05T09:00:00Z"}).rows] == [1]


def test_a_job_with_two_main_outputs_is_refused():
    @sp.job
    def sensors(readings: sp.Stream) -> sp.Outputs:
        return sp.Outputs(one=counting(readings), other=counting(readings))

    with pytest.raises(JobDefinitionError, match="a job with 2 main outputs: one, other"):
        sp.OperatorTest(sensors, event_time="ts")


def counting(readings: sp.Stream) -> sp.Stream:
    return readings.keyed("sensor", state={"n": "0L"}, on_row=sp.step(set={"n": "n + 1"}, emit=sp.emit("sensor", "n")), ttl="1 day")
