"""SARIF: what version 2.1.0 requires of a log, and the lines at which code scanning shows findings."""

from pathlib import Path

from streamproof.doctor.examine import examine
from streamproof.doctor.findings import MISTAKES
from streamproof.doctor.sarif import sarif_of
from unit.doctor.patients import keeping, ours, plain

TEXT = """
def job(clicks):
    return clicks.groupBy(F.window("at", "1 minute")).count()
"""
LEVELS = {"none", "note", "warning", "error"}


def test_what_the_standard_requires(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    log = sarif_of(examine(plain(tmp_path, TEXT, "job")))

    assert log["version"] == "2.1.0"  # section 3.13.2
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]  # 3.13.4
    driver = run["tool"]["driver"]  # 3.14.6, 3.18.2
    assert driver["name"] == "streamproof doctor"  # 3.19.8
    assert all(rule["id"] and rule["shortDescription"]["text"] and rule["fullDescription"]["text"] for rule in driver["rules"])
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    (one,) = [one for one in run["results"] if one["ruleId"] == "no-watermark"]
    assert driver["rules"][one["ruleIndex"]]["id"] == "no-watermark"  # 3.27.6
    assert all(result["level"] in LEVELS and result["message"]["text"] for result in run["results"])  # 3.27.10, 3.27.11
    (place,) = one["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "plain.py"
    assert place["physicalLocation"]["region"]["startLine"] == 6


def test_a_key_of_a_configuration_is_a_logical_location(tmp_path):
    patient = ours(tmp_path, source="", keeping=[keeping("deduplicate()")])

    (one,) = [one for one in sarif_of(examine(patient))["runs"][0]["results"] if one["level"] == "error"]

    (place,) = one["locations"]
    assert place["logicalLocations"] == [{"fullyQualifiedName": "[source.clicks]"}]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == (tmp_path / "streamproof.toml").as_uri()  # elsewhere than here


def test_a_log_without_findings_has_a_run_all_the_same(tmp_path):
    (run,) = sarif_of(examine(ours(tmp_path)))["runs"]

    assert run["results"] == []
    assert len(run["tool"]["driver"]["rules"]) <= len(MISTAKES)
    assert Path(tmp_path, "streamproof.toml").is_file()


def test_a_path_with_spaces_and_letters_of_other_alphabets_is_a_uri(tmp_path, monkeypatch):
    folder = tmp_path / "my jöb #1"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)

    run = sarif_of(examine(plain(folder, TEXT, "job")))["runs"][0]

    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "my%20j%C3%B6b%20%231/plain.py"  # RFC 3986, section 2.1
