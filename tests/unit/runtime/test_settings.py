"""A job's own [spark] may choose what its rows mean, and may not take a guarantee away (R27); the page of the reference has the list."""

from pathlib import Path

import pytest

from streamproof.errors import ConfigurationError
from streamproof.prove.process.spark_settings import PLAIN, changed_for_a_plain_job, left_out_of, settings_of_proof
from streamproof.runtime.spark.session import STREAMING
from streamproof.runtime.spark.settings import SETTINGS, Where, refuse_settings

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for setting in SETTINGS if not setting.choice for name in setting.names])
def test_r27_a_job_does_not_take_a_guarantee_away(name):
    (setting,) = (each for each in SETTINGS if name in each.names)

    with pytest.raises(ConfigurationError) as refused:
        refuse_settings({name: "other"}, "my_job/streamproof.toml")

    assert refused.value.message == f'my_job/streamproof.toml: [spark] sets "{name}" to other.'
    assert setting.reason in refused.value.required
    refuse_settings({name: setting.value.upper()}, "my_job/streamproof.toml")


def test_a_job_may_choose_what_its_rows_mean():
    refuse_settings({setting.key: "other" for setting in SETTINGS if setting.choice}, "my_job/streamproof.toml")


@pytest.mark.parametrize("of", ["aggregation", "flatMapGroupsWithState"])
def test_r27_state_has_the_shape_that_its_reader_takes(of):
    """Other operators of ours have one format only."""
    setting = next(each for each in SETTINGS if each.key == f"spark.sql.streaming.{of}.stateFormatVersion")

    assert (setting.value, setting.choice) == ("2", False)


def test_no_setting_is_listed_twice():
    assert len({setting.key for setting in SETTINGS}) == len(SETTINGS)


def test_a_proof_has_the_values_of_the_list_and_what_its_job_has_chosen():
    proof = settings_of_proof({"spark.sql.ansi.enabled": "false"})

    assert proof["spark.sql.ansi.enabled"] == "false"
    assert proof["spark.sql.files.ignoreCorruptFiles"] == "false"
    assert {name for setting in SETTINGS for name in setting.names[-1:]} <= proof.keys()


def test_a_plain_job_has_its_own_settings_and_sparks_defaults_and_nothing_that_our_jobs_stand_on():
    proof = settings_of_proof({"spark.sql.ansi.enabled": "false", "spark.sql.shuffle.partitions": "200"}, PLAIN)

    assert not ({*STREAMING, *(setting.names[-1] for setting in SETTINGS)} - {"spark.sql.ansi.enabled"}) & proof.keys()
    assert proof["spark.sql.ansi.enabled"] == "false"
    assert proof["spark.sql.shuffle.partitions"] == "4"


def test_what_a_proof_changes_of_a_plain_jobs_settings_is_said():
    given = {"spark.sql.shuffle.partitions": "200", "spark.master": "yarn", "spark.sql.ansi.enabled": "false"}

    assert left_out_of(given) == [
        "spark.sql.shuffle.partitions = 200: a proof needs 4, so it ran with that.",
        "spark.master = yarn: a proof needs local[2], so it ran with that.",
    ]
    assert "sql.shuffle.partitions 4" in changed_for_a_plain_job(given)


def test_on_an_older_spark_a_proof_leaves_what_rows_mean_to_that_spark(monkeypatch):
    monkeypatch.setattr("streamproof.prove.process.spark_settings.installed_spark", lambda: "3.5.9")

    proof = settings_of_proof({})

    assert not ({setting.names[-1] for setting in SETTINGS} - STREAMING.keys()) & proof.keys()
    assert proof["spark.sql.streaming.stateStore.checkpointFormatVersion"] == "1"


def test_the_page_of_the_reference_has_the_list():
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| `")]

    assert rows == [
        [
            f"`{setting.key}`",
            f"`{setting.value}`",
            "set, and noted" if setting.where in (Where.SESSION, Where.HADOOP) else "refused",
            "the job's choice" if setting.choice else "refused",
            setting.reason,
        ]
        for setting in SETTINGS
    ]
