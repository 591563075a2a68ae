"""A word in braces and the service that it names go together; whatever does not is said with what to write, before Spark starts."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.errors import ScenarioError
from streamproof.proof import prove
from streamproof.prove.process.task import ChildTask
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.services import Services
from streamproof.prove.services.own_places import OwnPlaces
from streamproof.prove.subjects.named import words_of
from streamproof.prove.subjects.pyspark import child
from streamproof.prove.subjects.pyspark.asked_services import required, topics_in
from streamproof.prove.subjects.pyspark.preparation import PysparkPreparation, Wanted
from streamproof.prove.subjects.pyspark.readback import ReadBack
from streamproof.prove.subjects.pyspark.told import Told

SERVERS = {
    "postgres": "postgresql://streamproof@127.0.0.1:5433/streamproof",
    "redis": "redis://127.0.0.1:6380/0",
    "kafka": "127.0.0.1:9093",
}


@pytest.mark.parametrize(
    ("services", "texts", "said", "remedy"),
    [
        ((), ["{postgres}"], "{postgres} names a service that the proof does not start", "--service postgres"),
        ((), ["redis at {redis.port}"], "{redis.port} names a service that the proof does not start", "--service redis"),
        (
            ("postgres",),
            ["{folder}/x"],
            "--service postgres is asked for, and the job is not told where it is",
            "--env DSN={postgres}",
        ),
        (("postgres",), ["{postgres.password}"], "{postgres.password} means nothing here", "Write one of them"),
        (("mysql",), [], '"mysql" is no service', "--service postgres"),
        (("kafka",), ["{kafka}"], "no topic is named", "{kafka.topic:totals}"),
        (("kafka",), ["{kafka}", "{kafka.topic:}"], "{kafka.topic:} names no topic", "{kafka.topic:totals}"),
        (("kafka",), ["{kafka}", "{kafka.topic:a b}"], "{kafka.topic:a b} names no topic", "{kafka.topic:totals}"),
    ],
)
def test_what_does_not_go_together_is_refused_with_what_to_write(services: Any, texts: list[str], said: str, remedy: str) -> None:
    with pytest.raises(ScenarioError) as problem:
        required(services, texts, {})

    assert said in problem.value.message
    assert remedy in problem.value.remedy


def test_a_place_of_a_scenario_is_no_setting_of_spark() -> None:
    with pytest.raises(ScenarioError, match="Settings of Spark are the same for every scenario"):
        required(("postgres",), ["{postgres}"], {"spark.sql.catalog.db.url": "{postgres}"})


def test_what_goes_together_is_taken_and_other_braces_are_the_jobs_own() -> None:
    required(("postgres", "kafka"), ["{postgres}", "{kafka} {kafka.topic:totals}", "{user} {mysql} {folder}"], {})

    assert topics_in(["{kafka.topic:totals}", "{kafka.topic:totals} {kafka.topic:a.b-c}"]) == ("totals", "a.b-c")


def test_each_scenario_has_places_of_its_own_and_the_same_at_each_start() -> None:
    services = Services(Path("/s"), tuple(SERVERS))
    services.running = {name: SimpleNamespace(url=url) for name, url in SERVERS.items()}  # type: ignore[misc]
    places = OwnPlaces(services, ("totals",))

    one, other = places.values("s00001"), places.values("recording-default")

    assert one == places.values("s00001")
    assert one["postgres"] == "postgresql://streamproof@127.0.0.1:5433/scenario_s00001"
    assert (one["postgres.host"], one["postgres.port"], one["postgres.user"]) == ("127.0.0.1", "5433", "streamproof")
    assert (one["redis"], other["redis"], other["redis.database"]) == ("redis://127.0.0.1:6380/1", "redis://127.0.0.1:6380/2", "2")
    assert (one["kafka"], one["kafka.topic:totals"]) == ("127.0.0.1:9093", "s00001.totals")
    differ = ("postgres", "redis", "kafka.topic:totals")
    assert all(one[word] != other[word] for word in differ)


def test_the_job_and_what_reads_it_back_find_the_scenarios_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.py").write_text(
        "import os, sys\ndef job(broker):\n    return (broker, os.environ['DSN'])\ndef rows():\n    return [(os.environ['DSN'],)]\n"
    )
    told = Told(
        str(tmp_path / "job.py"), "job", (), {"broker": "{kafka}"}, (), {"DSN": "{postgres}"}, services=("postgres", "kafka")
    )
    words = {"postgres": "postgresql://here/s1", "kafka": "here:1"}
    task = ChildTask("a", told.as_dict(), ScenarioBinding("", tmp_path, {}, None, urls=words), "")
    monkeypatch.setenv("DSN", words["postgres"])  # as the child has it by then

    assert child._called(None, told, task, None) == ("here:1", "postgresql://here/s1")  # type: ignore[arg-type]
    rows = ReadBack.parse("out=job:rows", tmp_path).rows(told.arguments, told.environment, tmp_path, words)
    assert rows == [{"column 1": "postgresql://here/s1"}]
    assert told.keeps_elsewhere, "what it keeps is on no recorded disk: it is crashed while it runs"


def test_a_replay_says_which_services_there_were(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("def job(clicks):\n    return clicks\n")
    (tmp_path / "clicks.jsonl").write_text("".join(json.dumps({"id": n}) + "\n" for n in range(30)))
    inputs = {"clicks": str(tmp_path / "clicks.jsonl")}
    wanted = Wanted(f"{tmp_path}/job.py:job", inputs, environment={"DSN": "{postgres}"}, services=("postgres",))

    assert " ".join(words_of(wanted)).endswith("--env DSN={postgres} --service postgres")
    preparation = PysparkPreparation(wanted)
    assert (preparation.services, preparation.struck) == (("postgres",), False)
    with pytest.raises(ScenarioError, match="runs already cannot be given to a plain PySpark job"):
        prove(wanted.target, job=wanted, services={"postgres": "postgresql://production/x"})
    with pytest.raises(ScenarioError, match="is no plain PySpark job, and postgres is asked for without a URL"):
        prove(tmp_path, services=["postgres"])
