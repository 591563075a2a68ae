"""report.json: what is written is read again, and what is no report is refused with the place."""

import json

import pytest

from streamproof.errors import ConfigurationError
from streamproof.report.json_file import read_json, without_secrets, write_json
from streamproof.report.shape import problems


@pytest.mark.parametrize("kind", ["green", "red", "unknown", "empty"])
def test_what_is_written_is_read_again(kind, request, tmp_path):
    report = request.getfixturevalue(kind)

    write_json(report, tmp_path / "report.json")

    assert read_json(tmp_path / "report.json") == report
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"fired": "many"}, "fired: required int, found str"),
        ({"verdict": "green"}, "verdict: required one of pass, unknown, fail, found 'green'"),
        ({"conservation": {"worst": {}}}, "conservation.fault_free: missing"),
        ({"scenarios": [{"id": 3}]}, "scenarios[0].id: required str, found int"),
        ({"notes": None}, "notes: required list, found NoneType"),
        ({"seed": True}, "seed: required int, found bool"),
        ({"steps": [7]}, "steps[0]: required an object, found int"),
    ],
)
def test_the_shape_is_checked_to_the_place(green, broken, said):
    assert said in problems(green | broken)


def test_keys_of_a_later_version_are_no_problem(green):
    assert problems(green | {"of_a_later_version": {"events": 2}}) == []
    assert problems({key: value for key, value in green.items() if key != "noun"}) == []


def test_a_missing_file_a_torn_one_and_another_kind_are_refused_with_the_path(green, tmp_path):
    torn, other = tmp_path / "torn.json", tmp_path / "other.json"
    torn.write_text(json.dumps(green)[:1000])
    other.write_text(json.dumps({"verdict": "pass"}))

    for path, said in ((tmp_path / "none.json", "There is no report"), (torn, "cannot be read as JSON"), (other, "plan: missing")):
        with pytest.raises(ConfigurationError) as caught:
            read_json(path)
        assert str(path) in caught.value.message
        assert said in caught.value.message


def test_passwords_are_masked_wherever_they_stand(red):
    red["outputs"][0]["where"] = "jdbc:postgresql://app:hunter2@db:5432/x?sslmode=on&password=hunter2"
    red["command"] = "streamproof prove j --set DB_PASSWORD=hunter2 --set api_key=hunter2"
    red["notes"] = ["kafka://u:hunter2@k:9092 and token: hunter2"]

    text = json.dumps(without_secrets(red))

    assert "hunter2" not in text
    assert "jdbc:postgresql://app:***@db:5432/x?sslmode=on&password=***" in text
    assert json.dumps(without_secrets(without_secrets(red))) == text


@pytest.mark.parametrize(
    "written",
    [
        "--env AWS_SECRET_ACCESS_KEY=hunter2",
        "--conf spark.hadoop.fs.s3a.secret.key=hunter2",
        "--conf spark.hadoop.fs.azure.account.key.x.net=hunter2",
        "AccountName=a;AccountKey=hunter2;EndpointSuffix=x",
        'sasl.jaas.config=... username="u" password="hunter2 and more";',
        "{'password': 'hunter2'}",
        "Authorization: Bearer hunter2hunter2.hunter2",
        "https://a.blob.core.windows.net/c?sv=1&sig=hunter2",
        "postgres://u:hun/ter2hunter2@db/x",
        "postgresql://me:p@hunter2@host/db",
        "postgresql://me:p@hun@ter2hunter2@host",
        "Authorization: Basic hunter2hunter2==",
        "{'Authorization': 'Basic hunter2hunter2=='}",
        "Proxy-Authorization: Token hunter2",
        "sent with Basic aHVhunter2Rlcg==",
        "passphrase=hunter2",
        r'{"password": "ab\"hunter2"}',
        "--env DB_PWD=hunter2",
        "--env API_KEY=hunter2",
    ],
)
def test_secrets_of_every_shape_are_masked(red, written):
    red["command"] = f"streamproof prove j {written}"

    text = json.dumps(without_secrets(red))

    assert "hunter2" not in text
    assert "hun/ter2" not in text
    assert json.dumps(without_secrets(without_secrets(red))) == text


@pytest.mark.parametrize(
    "text",
    [
        "Basic authentication is off",
        "Basic Authentication is off",
        "Authorization: Bearer TOKEN",
        "jdbc:postgresql://db:5432/x",
        "ann@example.org",
        "kafka://a:9092,b:9092/t",
    ],
)
def test_what_only_looks_like_a_secret_stays(red, text):
    red["command"] = text

    assert without_secrets(red)["command"] == text


@pytest.mark.parametrize("name", ["postgresql://u:p@", "Authorization: ", "Basic "])
def test_a_long_secret_is_looked_through_once(red, name):
    red["command"] = f"{name}{'a@' * 100_000}"

    without_secrets(red)


def test_a_long_text_is_looked_through_once(red):
    red["command"] = "x" * 300_000  # from each of its places on it would take hours

    assert without_secrets(red)["command"] == red["command"]


def test_nothing_but_secrets_is_masked(green, red):
    assert without_secrets(green) == green
    assert without_secrets(red) == red
