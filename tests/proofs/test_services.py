"""Jobs on real services are proved at the steps inside them too; a sink that keeps less than it should is caught (K8, P11, P14)."""

import shutil
from pathlib import Path

import psycopg
import pytest
from confluent_kafka.admin import AdminClient

from services.conftest import needs
from streamproof.config import load
from streamproof.errors import ConfigurationError
from streamproof.lab import KafkaCluster, Postgres
from streamproof.proof import Proof, prove

pytestmark = pytest.mark.service
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder for a copy of an example."""
    return tmp_path / "job"


def copied(example: str, job: Path, *, replace: tuple[str, str] = ("", "")) -> Path:
    shutil.copytree(EXAMPLES / example, job, ignore=shutil.ignore_patterns(".streamproof", "checkpoints", "out"))
    file = job / "streamproof.toml"
    assert replace[0] in file.read_text()
    file.write_text(file.read_text().replace(*replace))
    scenario = job / "scenario.toml"
    if example == "risk_exposure":  # of the few events and batches that the tests take, hardly one is late
        scenario.write_text(scenario.read_text().replace("[expect]\n", '[expect]\nmay_be_unexercised = ["late"]\n'))
    return job


def rejecting(job: Path, condition: str, rule: str) -> None:
    """Has the job of risk_exposure, and its model, reject more."""
    for name, text, more in (
        ("job.py", 'notional="notional > 0"', f', more="{condition}"'),
        ("model.py", 'trade["notional"] > 0', f" and {rule}"),
    ):
        written = (job / name).read_text()
        assert written.count(text) == 1
        (job / name).write_text(written.replace(text, text + more))


def findings(proof: Proof, checker: str) -> list[str]:
    return [
        finding["what"]
        for scenario in proof.report["scenarios"]
        for check in scenario["checks"]
        if check["name"] == checker
        for finding in check["findings"]
    ]


AROUND_COMMITS = ("publish/exposure@1:before+live", "publish/exposure@1:after+live", "publish/rejected@1:before+live")
AROUND_ALL = ("publish/*@1:before+live", "publish/*@1:after+live")


@pytest.mark.full
@pytest.mark.parametrize("around", [AROUND_COMMITS, AROUND_ALL], ids=["commits", "all"])
def test_risk_exposure_loses_and_doubles_nothing_around_the_commits_of_its_services(job, around):
    copied("risk_exposure", job)

    proof = prove(job, profile="services", events=1_000, batches=3, only=",".join(around))

    assert proof.verdict == "pass", proof.report
    steps = {f"{scenario['step']}+live" for scenario in proof.report["scenarios"] if scenario["step"]}
    assert set(AROUND_COMMITS) <= steps
    assert all(scenario["fired"] for scenario in proof.report["scenarios"])
    outputs = {output["name"]: output for output in proof.report["outputs"]}
    assert outputs["exposure"]["format"] == "postgres"
    assert outputs["exposure"]["where"] == "postgresql://localhost:5432/streamproof/exposure"


@pytest.mark.full
@pytest.mark.parametrize("form", ["json_schema", "protobuf"])
def test_a_job_whose_records_are_in_another_of_the_registrys_formats_is_proved_alike(job, form):
    """The example itself is proved with Avro, above."""
    copied("risk_exposure", job)
    file = job / "streamproof.toml"
    file.write_text(file.read_text().replace('"avro"', f'"{form}"'))

    proof = prove(job, profile="services", events=600, batches=2, only="publish/rejected@1:before+live")

    assert proof.verdict == "pass", proof.report
    assert proof.report["conservation"]["fault_free"]["rejected"] > 0


ALWAYS = ("publish/*+kafka-answer-lost+live",)
FURTHER = (
    "publish/*+broker-killed+live",
    "publish/*+postgres-outage+live",
    "stage/*+two-drivers+live",
    "publish/*+connection-lost+live",
    "publish/*+postgres-answer-lost+live",
    "publish/*+database-restarted+live",
    "plan/*+kafka-partition+live",
    "plan/*+registry-partition+live",
    "plan/*+registry-killed+live",
    "publish/*+executor-killed+live",
)


@pytest.mark.parametrize(
    ("faults", "brokers"), [(ALWAYS, 1), pytest.param(FURTHER, 3, marks=pytest.mark.full)], ids=["always", "further"]
)
def test_risk_exposure_loses_and_doubles_nothing_whatever_befalls_its_services(job, faults, brokers):
    """P4, P5: some of the faults; `make demo-services` has all of them."""
    needs("toxiproxy")
    copied("risk_exposure", job)

    proof = prove(job, profile="services", events=1_000, batches=3, brokers=brokers, only=",".join(faults))

    assert proof.verdict == "pass", proof
    assert {scenario["fault"] for scenario in proof.report["scenarios"]} == {
        "none",
        *(name.split("+")[1] for name in faults),
    }
    assert all(scenario["fired"] for scenario in proof.report["scenarios"])


@pytest.mark.full
@pytest.mark.parametrize("faults", [("answer-lost",), ("emptied", "restarted", "partition")], ids=["answer-lost", "further"])
def test_windows_in_redis_are_there_once_whatever_befalls_it(job, faults):
    needs("toxiproxy")
    copied("risk_exposure", job)
    file = job / "streamproof.toml"
    head, table, rest = file.read_text().partition("[profile.services.sink.exposure]\n")
    redis = 'connector = "redis"\nurl = "redis://localhost:6379"\nkey = ["client", "window_start"]\nprefix = "exposure:"\n'
    file.write_text(f"{head}{table}{redis}{rest[rest.index('[') :]}")
    rejecting(job, "client is not null", 'trade["client"] is not None')  # a key of Redis is never null

    proof = prove(
        job, profile="services", events=600, batches=3, only=",".join(f"publish/*+redis-{fault}+live" for fault in faults)
    )

    assert proof.verdict == "pass", proof
    assert {scenario["fault"] for scenario in proof.report["scenarios"]} == {"none", *(f"redis-{fault}" for fault in faults)}
    assert all(scenario["fired"] for scenario in proof.report["scenarios"])


@pytest.mark.full
def test_weights_of_users_in_redis_are_the_newest_wherever_their_writing_is_cut_off(job):
    """A lookup and declared state, from a topic to Redis: of the rows of a user in a batch the last one counts."""
    copied("recommendations", job)

    proof = prove(
        job,
        profile="services",
        only="publish/features.begun@1:after+live,publish/features@1:before+live,publish/features@1:after+live",
    )

    assert proof.verdict == "pass", proof
    assert len(proof.report["scenarios"]) == 4
    outputs = {output["name"]: output["format"] for output in proof.report["outputs"]}
    assert outputs["features"] == "redis"


@pytest.mark.full
def test_a_proof_on_services_that_run_already_leaves_them_as_they_were(job, tmp_path):
    needs("toxiproxy")
    copied("risk_exposure", job)
    with Postgres(tmp_path / "postgres") as postgres, KafkaCluster(tmp_path / "kafka") as kafka:
        topics, schemas = sorted(topics_of(kafka.url)), schemas_of(postgres)
        only = "publish/exposure@1:after+live,publish/exposure@*:before+postgres-answer-lost+live"

        proof = prove(
            job, profile="services", events=600, batches=2, only=only, services={"postgres": postgres.url, "kafka": kafka.url}
        )

        assert (sorted(topics_of(kafka.url)), schemas_of(postgres)) == (topics, schemas)
    assert proof.verdict == "pass", proof
    assert len(proof.report["scenarios"]) == 3
    assert any(
        "connection-lost, database-restarted, which take a postgres that is started" in note for note in proof.report["notes"]
    )
    assert f"--service postgres={postgres.url}" in proof.report["scenarios"][1]["replay"]


def topics_of(servers: str) -> list[str]:
    """Those of users."""
    return [
        name for name in AdminClient({"bootstrap.servers": servers}).list_topics(timeout=20).topics if not name.startswith("__")
    ]


def schemas_of(postgres: Postgres) -> list[str]:
    with psycopg.connect(postgres.url) as connection:
        return [name for (name,) in connection.execute("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1")]


@pytest.mark.full
@pytest.mark.parametrize(
    "only",
    ["publish/calls.call*@1:after+live", pytest.param("publish/calls*@1:*+live", marks=pytest.mark.full)],
    ids=["always", "all"],
)
def test_payments_have_one_effect_each_wherever_their_calls_are_cut_off(job, only):
    copied("payments", job)

    proof = prove(job, events=200, batches=2, only=only)

    assert proof.verdict == "pass", proof.report
    assert any("calls.call" in scenario["step"] for scenario in proof.report["scenarios"])


@pytest.mark.full
def test_calls_without_idempotency_are_seen_to_have_two_effects(job):
    copied("payments", job, replace=("idempotent = true              #", "idempotent = false\n#"))
    text = (job / "streamproof.toml").read_text()
    with pytest.raises(ConfigurationError, match='guarantee = "exactly-once" cannot be kept by http'):
        prove(job, events=200, batches=2)
    (job / "streamproof.toml").write_text(text.replace('guarantee = "exactly-once"', ""))

    proof = prove(job, events=200, batches=2, only="publish/calls.call.0@1:after+live")

    assert proof.verdict == "fail"
    assert any("twice" in what for what in findings(proof, "exactly-once"))


@pytest.mark.full
def test_a_topic_that_is_written_at_least_once_is_seen_to_hold_rows_twice(job):
    """Exactly-once over a plain sink: the claim is refused, and without the claim the proof shows what the sink keeps."""
    text = 'table = "exposure"\n'
    plain = 'connector = "kafka"\nservers = "localhost:9092"\ntopic = "exposure"\nguarantee = "at-least-once"\n'
    copied("risk_exposure", job)
    file = job / "streamproof.toml"
    head, _, rest = file.read_text().partition("[profile.services.sink.exposure]\n")
    file.write_text(f"{head}[profile.services.sink.exposure]\n{plain}{rest.partition(text)[2]}")
    assert load(job, profile="services").sink["exposure"].guarantee == "at-least-once"

    proof = prove(job, profile="services", events=1_000, batches=3, only="publish/exposure@1:after+live")

    assert proof.verdict == "fail"
    assert any("is counted twice" in what for what in findings(proof, "exactly-once"))
