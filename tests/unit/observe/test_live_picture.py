"""The picture of a run, folded from its events: no server, no Spark, and clocks that the tests move."""

import json
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from streamproof.config import secret
from streamproof.core.account import Account
from streamproof.errors import SinkUnavailable
from streamproof.observe.live import histories, picture, troubles
from streamproof.observe.live.board import RunBoard
from streamproof.observe.live.picture import Picture, after
from streamproof.observe.live.shown import SHOWN_PARTITIONS
from streamproof.observe.live.standing import STUCK_SECONDS
from streamproof.observe.moment import Moment
from streamproof.runtime.watching.events import (
    BatchPublished,
    HotKey,
    Note,
    PublicationWaiting,
    QueryFinishing,
    RuleRejected,
    RunEnded,
    RunFailed,
    TableStays,
    WatermarkLeapt,
)
from streamproof.runtime.watching.watched_events import WatchedEnded, WatchedStarted
from unit.observe.live_samples import NINE, Clock, Story, batch, committed, counts, ended, planned, started


@pytest.fixture
def told():
    """A run that is told by the test: `.story`, and `.now()`, what its page shows."""
    clock = Clock()
    board = RunBoard("small", clock)
    return SimpleNamespace(story=Story(clock, [board]), clock=clock, board=board, now=lambda: dict(board.now()))


def query(shown):
    (found,) = shown["queries"]
    return found


def places(shown):
    return {place["name"]: place["count"] for place in query(shown)["account"]["places"]}


def test_folding_changes_no_picture_that_there_was():
    clock = Clock()
    first = Picture("small", clock())
    seen = [first]
    for event in [*started(), *batch(0), *batch(1)]:
        clock.pass_(1)
        seen.append(after(seen[-1], event, clock()))

    assert first == Picture("small", Moment(NINE, 1_000.0))
    assert seen[2].queries["sums"].counts["input"] == 0
    assert seen[-1].queries["sums"].counts["input"] == 2_000


def test_before_the_queries_run_it_says_what_is_done(told):
    assert (told.now()["word"], told.now()["why"]) == ("starting", "The job starts.")

    told.story.run(batches=0)

    assert told.now()["word"] == "healthy"


def test_the_account_adds_up_at_every_moment_and_what_is_left_over_is_open(told):
    told.story.tell(*started(), *batch(0), *batch(1))

    shown = query(told.now())["account"]

    assert places(told.now()) == {"emitted": 1_760, "open_state": 160, "late": 40, "rejected": 8, "duplicate": 32, "filtered": 0}
    assert (shown["input"], shown["off"], shown["checked"]) == (2_000, 0, False)


def test_a_run_that_goes_on_begins_with_the_account_of_the_checkpoint(told):
    told.story.tell(*started(batch=7, before=counts(5_000, emitted=4_900, late=30)), *batch(7))

    assert query(told.now())["account"]["input"] == 6_000
    assert places(told.now())["emitted"] == 5_780
    assert places(told.now())["open_state"] == 70 + 80


@pytest.mark.parametrize(("off", "word"), [(0, "ended"), (3, "stopped"), (-2, "stopped")])
def test_at_the_end_the_account_is_the_one_that_was_held_against_the_state(told, off, word):
    told.story.tell(*started(), *batch(0), ended(off=off), RunEnded(SimpleNamespace(ended_early=False)))

    shown = query(told.now())["account"]

    assert (shown["off"], shown["checked"], places(told.now())["open_state"]) == (off, True, 80 - off)
    assert told.now()["word"] == word
    assert told.now()["ended"] is not None


def test_an_account_that_is_unknown_is_no_failure(told):
    unknown = ended(off=5)
    unknown = replace(unknown, account=replace(unknown.account, unknown_since=4))

    told.story.tell(*started(), *batch(0), unknown, RunEnded(SimpleNamespace(ended_early=True)))

    assert (told.now()["word"], told.now()["why"]) == ("ended", "The run was asked to end.")
    assert query(told.now())["account"]["unknown_since"] == 4


def test_the_last_batches_have_their_phases_and_the_longest_is_named(told):
    told.story.run(batches=20)

    shown = query(told.now())

    assert [each["number"] for each in shown["batches"]] == list(range(20 - picture.MOST_BATCHES, 20))
    assert shown["batches"][0]["phases_ms"] == [90, 900, 130, 170, 60]
    assert shown["batches"][0]["longest"] == "work"
    assert shown["committed"] == 20
    assert shown["under_way"] == {"number": 20, "phase": "work", "seconds": 0.0, "phase_seconds": 0.0}


def test_a_batch_that_spark_has_not_measured_is_shown_without_figures(told):
    bare = replace(committed(0), phases_ms={}, total_ms=None, lag=(), state=(), newest_event=None)

    told.story.tell(*started(), planned(0), bare)

    shown = query(told.now())
    assert shown["batches"][0]["phases_ms"] == [None] * 5
    assert shown["batches"][0]["longest"] is None
    assert (shown["topics"], shown["state"], shown["usual_seconds"]) == ([], [], None)


def test_the_watermark_stands_beside_the_newest_event_and_neither_goes_back(told):
    told.story.tell(*started(), *batch(0), *batch(1), *batch(2))
    told.story.tell(planned(3), replace(committed(3), newest_event=NINE, watermark=None))

    times = query(told.now())["times"]

    assert (times["newest"], times["watermark"]) == ("2026-01-05T09:01:00+00:00", "2026-01-05T09:00:20+00:00")
    assert times["gap_seconds"] == 40
    assert len(times["points"]) == 4


def test_what_is_kept_of_the_last_hour_is_bounded_and_has_its_ends():
    points = ()
    for number in range(5_000):
        points = histories.thinned((*points, histories.Sum(number * 10.0, number)))
        assert len(points) <= histories.MOST_POINTS

    assert points[-1].lag == 4_999
    assert points[-1].at - histories.HOUR <= points[0].at <= points[-1].at - histories.HOUR / 2
    assert histories.thinned(()) == ()


def test_lag_is_told_by_partition_with_its_direction_and_when_it_will_be_caught_up(told):
    told.story.run(batches=5)

    (topic,) = query(told.now())["topics"]

    assert topic["partitions"] == [{"partition": 0, "lag": 540, "change": -90}, {"partition": 1, "lag": 677, "change": -90}]
    assert (topic["lag"], topic["more"], topic["more_lag"]) == (1_217, 0, 0)
    assert topic["catches_up_seconds"] == pytest.approx(1_217 / (4 * 180 / (4 * 29)), rel=0.01)


def test_of_a_thousand_partitions_a_few_are_shown_and_the_others_are_summed_up(told):
    told.story.run(batches=2, partitions=1_500)

    (topic,) = query(told.now())["topics"]

    assert len(topic["partitions"]) == SHOWN_PARTITIONS
    assert topic["lag"] == sum(lag.lag for lag in committed(1, partitions=1_500).lag)
    assert topic["more"] == 1_500 - SHOWN_PARTITIONS
    assert topic["not_kept"] == 500
    assert topic["more_lag"] + sum(one["lag"] for one in topic["partitions"]) == topic["lag"]
    assert len(json.dumps(told.now())) < 20_000


def test_queries_that_have_ended_make_room_for_one_that_runs(told):
    for number in range(picture.MOST_QUERIES):
        told.story.tell(WatchedStarted(f"q{number}", f"r{number}", f"i{number}"), seconds=0)
        told.story.tell(WatchedEnded(f"q{number}", f"r{number}", None if number else "ZeroDivisionError"), seconds=0)

    told.story.tell(WatchedStarted("important", "run", "id"), seconds=0)

    names = [query["name"] for query in told.now()["queries"]]
    assert (len(names), told.now()["more_queries"]) == (picture.MOST_QUERIES, 1)
    assert "important" in names
    assert "q0" in names, "it has died"
    assert "q1" not in names


def test_a_thousand_queries_and_outputs_are_bounded_and_it_says_so(told):
    for number in range(1_000):
        told.story.tell(*started(f"q{number}"), seconds=0)
    for number in range(1_000):
        told.story.tell(BatchPublished("q1", 0, f"output-{number}", 1, 0.1), seconds=0)
        told.story.tell(PublicationWaiting("q2", f"output-{number}", 1, 1.0, "down"), seconds=0)
        told.story.tell(Note("q1", f"note {number}", "hot-key-2"), seconds=0)

    shown = told.now()

    assert (len(shown["queries"]), shown["more_queries"]) == (picture.MOST_QUERIES, 1_000 - picture.MOST_QUERIES)
    assert len(shown["queries"][1]["outputs"]) == picture.MOST_OUTPUTS
    assert len(shown["queries"][2]["waiting"]) == picture.MOST_OUTPUTS
    assert len(shown["troubles"]) == troubles.MOST


def test_how_old_records_were_when_readers_got_them_stays_until_another_batch_says_it(told):
    told.story.tell(*started(), *batch(0), planned(1), replace(committed(1), latency=()))

    assert query(told.now())["latency"] == [
        {"source": "trades", "since": "event", "p50_ms": 4_200, "p95_ms": 9_800, "p99_ms": 15_300}
    ]


def test_the_size_of_a_state_and_its_growth_are_told_by_operator(told):
    told.story.run(batches=6)

    save, dedupe = query(told.now())["state"]

    assert (save["operator"], save["rows"], save["bytes"]) == ("0 stateStoreSave", 1_095, 227_000)
    assert dedupe["rows"] is None
    assert save["bytes_per_hour"] == pytest.approx(15_000 / (5 * 29) * 3_600, rel=0.01)


def test_what_waits_for_an_output_is_behind_and_is_gone_when_it_is_published(told):
    told.story.tell(*started(), *batch(0))
    down = PublicationWaiting("sums", "sums.postgres", 2, 8.0, "connection refused")
    told.story.tell(down)
    told.clock.pass_(5)
    told.story.tell(replace(down, batches=3))

    (waits,) = query(told.now())["waiting"]

    assert (waits["output"], waits["batches"], waits["why"]) == ("sums.postgres", 3, "connection refused")
    assert (waits["seconds"], waits["again_seconds"]) == (5.2, 8)
    assert (told.now()["word"], told.now()["why"]) == (
        "behind",
        "3 batches wait for sums.postgres, whose store does not answer; nothing is lost.",
    )
    told.story.tell(BatchPublished("sums", 1, "sums.postgres", 10, 0.1, waiting=1))
    assert query(told.now())["waiting"][0]["batches"] == 1
    told.story.tell(BatchPublished("sums", 2, "sums.postgres", 10, 0.1, waiting=0))
    assert (query(told.now())["waiting"], told.now()["word"]) == ([], "healthy")


def test_what_fails_again_and_again_is_one_trouble_that_is_counted(told):
    told.story.tell(*started(), Note("", "first", "hot-key-2"))
    for _ in range(4):
        told.story.tell(PublicationWaiting("sums", "sums.postgres", 1, 8.0, "connection refused"))

    first, second = told.now()["troubles"]

    assert (first["times"], first["code"], first["query"]) == (4, "publication-waiting", "sums")
    assert first["todo"].startswith("Start the store")
    assert second["what"] == "first"


@pytest.mark.parametrize(
    "event",
    [
        TableStays("sums", "prices", "v1", "no such file", 3),
        RuleRejected("sums", "rules", "large", "no condition", stays=True, batch=3),
        WatermarkLeapt("sums", 3, None, NINE),
        HotKey("sums", 3, "window", ["client"], "77", 0.9, 900),
        PublicationWaiting("sums", "sums", 1, 8.0, "refused"),
    ],
    ids=lambda event: event.kind,
)
def test_every_trouble_says_what_to_do_next(told, event):
    told.story.tell(*started(), event)

    (trouble,) = told.now()["troubles"]

    assert trouble["what"]
    assert trouble["todo"]
    assert trouble["code"] == event.kind


def test_what_an_event_has_said_no_note_says_again(told):
    told.story.tell(
        *started(), TableStays("sums", "prices", "v1", "no such file", 3), Note("sums", "The table stays.", "table-stays")
    )

    assert len(told.now()["troubles"]) == 1


def test_a_text_of_any_length_is_cut(told):
    told.story.tell(*started(), PublicationWaiting("sums", "sums", 1, 8.0, "x" * 100_000))

    assert len(json.dumps(told.now())) < 10_000


def test_an_error_that_ends_the_run_is_told_with_what_to_do(told):
    told.story.tell(*started(), *batch(0), RunFailed("SinkUnavailable", "postgres does not answer", "sink-unavailable"))
    told.board.close(SinkUnavailable("postgres does not answer", remedy="Start the database."))

    shown = told.now()

    assert (shown["word"], shown["why"]) == ("stopped", "An error has stopped the run: postgres does not answer")
    assert [(each["code"], each["todo"]) for each in shown["troubles"]] == [("sink-unavailable", "Start the database.")]
    assert shown["ended"] is not None


@pytest.mark.parametrize(
    ("problem", "word", "why"),
    [
        (None, "ended", "The run was asked to end."),
        (KeyboardInterrupt(), "ended", "The run was asked to end."),
        (ValueError("no such thing"), "stopped", "An error has stopped the run: no such thing"),
    ],
)
def test_a_run_that_ends_without_a_word_has_ended_too(told, problem, word, why):
    told.story.tell(*started())
    told.board.close(problem)

    assert (told.now()["word"], told.now()["why"]) == (word, why)


def test_a_batch_is_stuck_by_what_batches_took_before(told):
    told.story.run(batches=3)
    told.clock.pass_(STUCK_SECONDS - 1)
    assert told.now()["word"] == "healthy"

    told.clock.pass_(2)

    assert told.now()["word"] == "stuck"
    assert told.now()["why"] == "Batch 3 of sums is in the phase work for 121 s, and the last ones took 1.4 s."


def test_a_batch_may_take_as_long_as_batches_of_this_query_take(told):
    told.story.tell(*started(), planned(0), replace(committed(0), total_ms=2_400_000), planned(1))
    told.clock.pass_(23_000)
    assert told.now()["word"] == "healthy"

    told.clock.pass_(2_000)

    assert told.now()["word"] == "stuck"


def test_spark_may_be_silent_for_the_interval_of_a_trigger(told):
    told.story.tell(WatchedStarted("sums", "run-1", "a1b2", trigger_seconds=3_600.0))
    told.clock.pass_(7_000)
    assert told.now()["word"] == "healthy"

    told.clock.pass_(300)

    assert told.now()["word"] == "stuck"


def test_a_first_batch_may_take_long(told):
    told.story.tell(*started(), planned(0))
    told.clock.pass_(1_700)
    assert told.now()["word"] == "healthy"

    told.clock.pass_(200)

    assert told.now()["word"] == "stuck"


def test_a_query_that_falls_back_on_its_topic_is_behind(told):
    told.story.tell(*started())
    for number in range(5):
        told.clock.pass_(29)
        more = [replace(lag, lag=20_000 * (number + 1)) for lag in committed(number).lag]
        told.story.tell(replace(committed(number), lag=more))

    assert told.now()["word"] == "behind"
    assert told.now()["why"] == "sums falls back on trades: 200,000 records are left to read, and they become more."


def test_the_word_says_since_when_it_holds(told):
    told.story.run(batches=2)
    told.story.tell(PublicationWaiting("sums", "sums", 1, 8.0, "refused"))
    told.clock.pass_(50)

    assert (told.now()["word"], told.now()["for_seconds"]) == ("behind", 50), "although nobody has looked meanwhile"


def test_a_clock_that_jumps_is_said_and_moves_no_age(told):
    told.story.run(batches=3)
    told.clock.pass_(10)
    told.clock.jump(timedelta(hours=-2))
    told.story.tell(QueryFinishing("sums", asked_to_end=False))

    shown = told.now()

    assert shown["jump"] == {"at": "2026-01-05T07:01:38+00:00", "seconds": -7200}
    assert query(shown)["last_commit_seconds"] == pytest.approx(10.4)
    assert shown["began_seconds"] < 200


def test_time_that_passes_is_no_jump(told):
    told.story.run(batches=3)
    told.clock.pass_(100_000)
    told.story.tell(QueryFinishing("sums", asked_to_end=False))

    assert told.now()["jump"] is None


def test_no_secret_is_on_the_page(told, monkeypatch):
    monkeypatch.setattr(secret, "_known", {'hunter"2222': "${env:PASSWORD}"})

    told.story.tell(*started(), PublicationWaiting("sums", "sums", 1, 8.0, 'password hunter"2222 was refused'))

    assert "hunter" not in json.dumps(told.now())
    assert "${env:PASSWORD}" in json.dumps(told.now())


def test_events_that_it_does_not_know_and_queries_that_have_not_begun_harm_nothing(told):
    told.story.tell(committed(0, "unknown"), BatchPublished("unknown", 0, "out", 1, 0.1))

    assert told.now()["queries"] == []


def test_an_account_of_hopping_windows_counts_pairs(told):
    told.story.tell(*started(), replace(committed(0), counts=counts(100, expanded=300, emitted=150, late=50)))

    assert query(told.now())["account"]["expanded"] == 300
    assert places(told.now())["open_state"] == 200
    assert Account.of(places(told.now())).total == 400
