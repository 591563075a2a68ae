"""The workflow that the guide gives to copy: it is YAML, its commands are those of this version, and the report is kept in any case."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from streamproof.cli.main import app

yaml = pytest.importorskip("yaml")

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")
REPORT = "reports/prove"


def workflow() -> dict[Any, Any]:
    (text,) = re.findall(r"^```yaml[^\n]*\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    found: dict[Any, Any] = yaml.safe_load(text)
    return found


def steps() -> list[dict[str, Any]]:
    (job,) = workflow()["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


def arguments(command: str) -> list[str]:
    """The words of a command after `streamproof`, as the shell of the workflow gives them."""
    target = str(workflow()["env"]["TARGET"])
    return shlex.split(re.sub(r'"\$\(date [^)]*\)"', "045", command).replace("$TARGET", target))[1:]


def parsed(command: str) -> dict[str, Any]:
    """The parameters that the command line makes of it; an option that it does not know is an error."""
    group: Any = typer.main.get_command(app)
    words = arguments(command)
    while hasattr(group, "commands"):
        group = group.commands[words.pop(0)]
    found: dict[str, Any] = group.make_context("streamproof", words).params
    return found


def test_pull_requests_take_the_quick_plan_and_nights_the_standard_one_with_other_events():
    proofs = {step["if"]: parsed(step["run"]) for step in steps() if step.get("run", "").startswith("streamproof prove")}

    assert {when: (found["quick"], found["seed"], str(found["report"])) for when, found in proofs.items()} == {
        "github.event_name != 'schedule'": (True, None, REPORT),
        "github.event_name == 'schedule'": (False, 45, REPORT),
    }
    assert set(workflow()[True]) == {"pull_request", "schedule", "workflow_dispatch"}, "`on` is a truth in YAML"


def test_the_report_is_kept_whatever_the_verdict_is():
    (upload,) = [step for step in steps() if step.get("uses", "").startswith("actions/upload-artifact@")]
    (summary,) = [step for step in steps() if "GITHUB_STEP_SUMMARY" in step.get("run", "")]

    assert (upload["if"], upload["with"]["path"]) == ("always()", REPORT)
    assert summary["if"] == "always()"
    (shown,) = re.findall(r"streamproof report .*?(?= \|\|)", summary["run"])
    assert parsed(shown)["run"] == REPORT


def test_java_and_python_are_those_that_spark_needs():
    given = {step["uses"].partition("@")[0]: step["with"] for step in steps() if "with" in step}

    assert given["actions/setup-java"]["java-version"] == "17"
    assert given["actions/setup-python"]["python-version"] == "3.11"


@pytest.mark.parametrize("step", steps(), ids=lambda step: step.get("name") or step["uses"])
def test_a_step_runs_one_thing_and_actions_have_a_version(step):
    assert ("uses" in step) != ("run" in step)
    assert re.search(r"@v\d+$", step.get("uses", "@v0"))
