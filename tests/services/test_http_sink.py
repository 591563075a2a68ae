"""Calls to an API have one effect each, and what became of each is known."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from full_tables import full
from spark.small_job import KEPT, Binding, SmallJob, dies, event
from streamproof.connectors.http.calls import Calls
from streamproof.errors import (
    ConfigurationError,
    NondeterministicReplay,
    OutputInUse,
    SinkError,
    SinkUnavailable,
    TwoDrivers,
)
from streamproof.lab import PaymentsApi
from streamproof.lab.api import tries_at
from streamproof.runtime import run

pytestmark = pytest.mark.service


@pytest.fixture
def api(tmp_path: Path) -> Iterator[PaymentsApi]:
    with PaymentsApi(tmp_path / "api") as running:
        yield running


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_PATIENCE_SECONDS", 0)


@pytest.fixture
def job(small_job: Callable[..., SmallJob], api: PaymentsApi) -> Callable[..., SmallJob]:
    def job(path: str = "/payments", folder: str = "job", **sink: Any) -> SmallJob:
        table = {"connector": "http", "url": f"{api.url}{path}", "key": ["id"], "idempotent": True, "timeout": "1 second", **sink}
        return small_job(KEPT, Binding(sinks={"rejected": "json"}, tables={"sink.kept": table}), folder=folder)

    return job


def keys(api: PaymentsApi, path: str = "/payments") -> list[str]:
    return sorted(effect["key"] for effect in api.effects(path))


def known(small: SmallJob, batch: int = 0) -> dict[str, list[tuple[str, int | None]]]:
    """By key what became of its calls, try by try."""
    from streamproof import _jvm

    calls = Calls(small.spark, _jvm.Storage(small.spark), str(small.out("kept"))).known(batch)
    found: dict[str, list[tuple[str, int | None]]] = {}
    for row in calls.collect() if calls is not None else ():
        found.setdefault(row["key"], []).append((row["status"], row["http_status"]))
    return found


def test_each_row_is_one_call_with_its_key_and_its_columns(job, api):
    small = job(headers={"Authorization": "Bearer t"})
    small.feed([event("a", 0, 1.5), event("b", 1), event("bad", 2, -1.0)])
    result = small.run()

    assert keys(api) == ["a", "b"]
    assert next(effect["body"] for effect in api.effects("/payments") if effect["key"] == "a") == {
        "id": "a",
        "client": "a",
        "v": 1.5,
        "ts": "2026-01-05T09:00:00.000000Z",
    }
    assert known(small) == {"a": [("confirmed", 201)], "b": [("confirmed", 201)]}
    assert "Idempotency-Key" in next(output for output in result.outputs if output.name == "kept").guarantee


@pytest.mark.full
def test_a_crash_after_the_calls_has_no_second_effect(job, api):
    small = job()
    small.feed([event("a", 0), event("b", 1)])
    dies(small, "rename", "checkpoint/kept/commits/0")
    small.run()

    assert tries_at(f"{api.url}/payments") == {"/payments a": 1, "/payments b": 1}, (
        "what is known to be done is not asked for again"
    )


@pytest.mark.parametrize("step", ["_calls/batch=000000/try-1.json", *full("_calls/batch=000000/_ledger.json")])
def test_a_crash_before_it_was_kept_what_the_calls_did_has_no_second_effect(job, api, step):
    """The sink's folder lies beside the checkpoint, under the recording file system too."""
    small = job()
    small.feed([event("a", 0), event("b", 1)])
    dies(small, "rename", f"checkpoint-kept/{step}$")
    assert keys(api) == ["a", "b"], "they were made"
    small.run()

    assert keys(api) == ["a", "b"]
    assert {status for calls in known(small).values() for status, _ in calls} == {"confirmed"}


@pytest.mark.full
def test_r4_calls_that_were_made_count_as_begun_when_a_replay_differs(job, api):
    small = job()
    small.feed([event("a", 0), event("b", 1)])
    dies(small, "rename", "checkpoint-kept/_calls/batch=000000/_ledger.json$")
    assert keys(api) == ["a", "b"]
    small.change_manifest(0, lambda found: found["sections"][0]["digest"].update(hash=1))

    assert "--accept-replay 0" in small.stopped(NondeterministicReplay).remedy
    small.run(accept_replay=0)

    assert keys(api) == ["a", "b"]


@pytest.mark.full
def test_c4_carried_columns_are_request_headers_and_not_in_the_body(job, api):
    text = """
@sp.job
def small(events: sp.Stream) -> sp.Outputs:
    def traced(rows):
        return rows.withColumn("carried_Streamproof-traceparent", F.concat(F.lit("00-"), F.col("id")))
    return sp.Outputs(kept=events.transform(traced))
"""
    small = job()
    small.text = text
    small.binding = Binding(sinks={}, tables=small.binding.tables)
    small.write()
    small.feed([event("a", 0)])
    small.run()

    (effect,) = api.effects("/payments")
    assert effect["headers"]["Streamproof-traceparent"] == "00-a"
    assert effect["body"].keys() == {"id", "client", "v", "ts"}


def test_rows_that_share_an_idempotency_key_are_refused_before_a_call_is_made(job, api):
    small = job(key=["client"])
    small.feed([event("a", 0), event("b", 1), event("c", 2, client="x")])

    problem = small.stopped(SinkError)

    assert "2 rows that share 1 idempotency keys" in problem.message
    assert keys(api) == []


@pytest.mark.full
def test_r1_a_new_checkpoint_is_refused_at_the_calls_of_another_and_else_calls_under_the_same_keys(job, api, tmp_path):
    first = job(ledger=str(tmp_path / "calls"))
    first.feed([event("a", 0)])
    first.run()
    second = job(folder="other", ledger=str(tmp_path / "calls"))
    second.feed([event("a", 0)])
    assert "belongs to another run of this job" in second.stopped(OutputInUse).message

    third = job(folder="third")
    third.feed([event("a", 0)])
    third.run()
    assert keys(api) == ["a"], "the key is that of the row, and the API knows it"


@pytest.mark.parametrize("key", ["", *full(".", "..", None)])
def test_a_key_that_names_nothing_is_refused_before_a_call_is_made(job, api, key):
    small = job(idempotent=False, lookup=f"{api.url}/payments/{{key}}")
    small.feed([event("a", 0), event("b", 1) | {"id": key}])

    problem = small.stopped(SinkError)

    assert "idempotency key that is empty" in problem.message
    assert keys(api) == []


@pytest.mark.full
def test_a_call_that_cannot_be_sent_as_it_is_does_not_wait_for_ever(job):
    small = job(headers={"X-Api": "a\nb"})
    small.feed([event("a", 0)])

    assert "cannot be sent: it is no request that HTTP allows" in small.stopped(SinkError).message


@pytest.mark.full
def test_without_idempotency_the_api_is_asked_before_a_call_is_made_again(job, api):
    small = job("/careless", idempotent=False, lookup=f"{api.url}/careless/{{key}}")
    small.feed([event("a", 0), event("b", 1)])
    dies(small, "rename", "checkpoint-kept/_calls/batch=000000/try-1.json$")
    small.run()

    assert keys(api, "/careless") == ["a", "b"]


@pytest.mark.parametrize("asked", [{}, {"lookup": "http://127.0.0.1:1/{key}"}])
def test_without_idempotency_a_claim_is_refused_since_two_tasks_may_call_at_a_time(job, asked):
    claims = job("/careless", idempotent=False, guarantee="exactly-once", **asked)
    claims.feed([event("a", 0)])
    assert "cannot be kept by http" in claims.stopped(ConfigurationError).message


@pytest.mark.full
def test_without_either_the_repetition_is_seen(job, api):
    small = job("/careless", folder="other", idempotent=False)
    small.feed([event("a", 0)])
    dies(small, "rename", "checkpoint-kept/_calls/batch=000000/try-1.json$")
    small.run()
    assert keys(api, "/careless") == ["a", "a"], "that is what at least once means"


@pytest.mark.parametrize("mode", ["429", *full("500", "hangs-before-work", "hangs-after-work")])
def test_what_passes_is_tried_again_under_the_same_key(job, api, mode):
    small = job(attempts=3, concurrency=1)
    small.feed([event("a", 0), event("b", 1)])
    api.behave(mode, 2)
    small.run()

    assert keys(api) == ["a", "b"]


@pytest.mark.full
def test_calls_that_stay_pending_wait_and_only_they_are_made_again(job, api):
    small = job(attempts=1, concurrency=1)
    small.feed([event("a", 0), event("b", 1), event("c", 2)])
    api.behave("500", 100, key="b")
    problem = small.stopped(SinkUnavailable)
    assert "1 calls of batch 0 are pending: it answers 500" in problem.message
    assert {key: {status for status, _ in calls} for key, calls in known(small).items()} == {
        "a": {"confirmed"},
        "b": {"pending"},
        "c": {"confirmed"},
    }
    api.behave("well", 0)
    small.run()

    assert keys(api) == ["a", "b", "c"]
    assert [len(known(small)[key]) for key in ("a", "c")] == [1, 1]
    assert known(small)["b"][-1] == ("confirmed", 201)


def test_a_call_that_is_refused_is_known_as_failed_and_does_not_stop_the_others(job, api):
    small = job(concurrency=1)
    small.feed([event("a", 0), event("b", 1)])
    api.behave("403", 1)
    small.run()

    assert len(keys(api)) == 1
    assert sorted(calls[0] for calls in known(small).values()) == [("confirmed", 201), ("failed", 403)]


@pytest.mark.full
def test_a_call_whose_look_up_is_not_answered_is_not_made_again(job, api):
    small = job("/careless", idempotent=False, lookup="http://127.0.0.1:1/{key}", attempts=2)
    small.feed([event("a", 0)])
    api.behave("hangs-after-work", 100)
    small.stopped(SinkUnavailable)

    assert keys(api, "/careless") == ["a"], "it was done, and nobody could tell"


@pytest.mark.full
def test_a_driver_that_finds_another_at_the_same_try_makes_no_call(job, api, monkeypatch):
    small = job()
    small.feed([event("a", 0)])
    begin = Calls.begin

    def another_was_first(self: Calls, batch: int, number: int) -> bool:
        begin(self, batch, number)
        return begin(self, batch, number)

    with monkeypatch.context() as racing:
        racing.setattr(Calls, "begin", another_was_first)
        assert "Another driver makes the calls of batch 0" in small.stopped(TwoDrivers).message
    assert api.effects("/payments") == []


@pytest.mark.full
def test_a_configuration_that_is_wrong_decides_nothing(job, api):
    small = job(attempts=1)
    small.feed([event("a", 0)])
    api.behave("401", 100)
    assert "it answers 401" in small.stopped(SinkUnavailable).message
    api.behave("well", 0)
    small.run()

    assert keys(api) == ["a"]


def test_an_api_that_is_down_is_caught_up_with(job, api):
    small = job(attempts=1)
    small.feed([event("a", 0), event("bad", 0, -1.0)])
    api.kill()
    assert "no connection" in small.stopped(SinkUnavailable).message
    assert small.ids("rejected") == ["bad"]
    api.restart()
    small.run()

    assert keys(api) == ["a"]
