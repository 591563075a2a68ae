"""What docs/incidents/timer-in-the-past.md says of timers of declared state, by the plain model: no Spark is needed."""

import streamproof as sp


def silence_by(timer):
    def silence(readings):
        return readings.keyed(
            "sensor",
            state={"last": "CAST(NULL AS DOUBLE)"},
            on_row=sp.step(set={"last": "value", "silence": timer}),
            on_timer={"silence": sp.step(emit=sp.emit("sensor", "timer AS silent_since"))},
            ttl="2 hours",
        )

    return sp.OperatorTest(silence, event_time="ts", lag="30 minutes")


def reading(at):
    return {"sensor": "s1", "ts": f"2026-01-05T{at}:00Z", "value": 1.0}


def silent_before_ten(test):
    """The rows until a quarter past ten: the newest reading is of ten, and one of twenty to ten comes after it."""
    test.push(reading("10:00"))
    late = test.push(reading("09:40"))
    return [row["silent_since"].strftime("%H:%M") for row in (*late.rows, *test.advance_to("2026-01-05T10:15:00Z").rows)]


def test_a_reading_that_comes_late_moves_a_timer_back_where_the_job_lets_it():
    assert silent_before_ten(silence_by("ts + INTERVAL 30 MINUTES")) == ["10:10"]
    assert silent_before_ten(silence_by("greatest(silence, ts + INTERVAL 30 MINUTES)")) == []


def test_a_timer_that_is_due_fires_before_a_row_of_a_later_time_and_the_timer_that_this_sets_is_not_in_the_past():
    test = silence_by("ts + INTERVAL 30 MINUTES")
    test.push(reading("10:00"))
    test.push({**reading("12:00"), "sensor": "s2"})

    fired = test.push(reading("11:45"))

    assert [(row["sensor"], row["silent_since"].strftime("%H:%M")) for row in fired.rows] == [("s1", "10:30")]
    assert test.state["s1",]["silence"].strftime("%H:%M") == "12:15"
