"""The unit of systemd and the manifest of Kubernetes on the page are what systemd and Kubernetes take, and ask for what a run serves."""

import configparser
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import typer

from streamproof.cli.main import app
from streamproof.observe.endpoint import Endpoint
from streamproof.observe.health import AT_MOST_SECONDS, Health
from streamproof.observe.service_manager import SOCKET, WATCHDOG
from streamproof.observe.values import Values
from streamproof.runtime import ending

yaml = pytest.importorskip("yaml")
kubernetes = pytest.importorskip("kubernetes_validate")

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "deploying.md").read_text(encoding="utf-8")
(UNIT,) = re.findall(r"^```ini[^\n]*\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
(MANIFEST,) = re.findall(r"^```yaml[^\n]*\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
OBJECTS: dict[str, dict[str, Any]] = {each["kind"]: each for each in yaml.safe_load_all(MANIFEST)}
POD = OBJECTS["Deployment"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
PROBES = {name: CONTAINER[name] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
LAST_WORDS_SECONDS = 30
"""What a stop takes beside its patience: the account, and a backup."""


@pytest.fixture
def unit() -> configparser.SectionProxy:
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(UNIT)
    return parser["Service"]


def options_of(arguments: list[str]) -> dict[str, Any]:
    """The parameters that the command line makes of the words after `streamproof`; an option that it does not know is an error."""
    group: Any = typer.main.get_command(app)
    name, *words = arguments
    command = group.commands[name]
    found: dict[str, Any] = command.make_context(name, words).params
    return found


@pytest.mark.parametrize("kind", OBJECTS)
def test_kubernetes_takes_the_manifest(kind):
    kubernetes.validate(OBJECTS[kind], kubernetes.latest_version(), strict=True)


def test_a_key_that_kubernetes_does_not_know_is_seen():
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(OBJECTS["Deployment"] | {"spec": OBJECTS["Deployment"]["spec"] | {"replica": 1}}, "1.37", strict=True)


def test_the_probes_ask_for_pages_that_a_run_serves_at_the_port_that_it_listens_on():
    command = CONTAINER["command"]
    assert command[:3] == ["python", "-m", "streamproof"]
    host, port = options_of(command[3:])["metrics"].rsplit(":", 1)
    assert host == "0.0.0.0"
    assert CONTAINER["ports"] == [{"name": "metrics", "containerPort": int(port)}]
    with Endpoint("my_job", "0", Values(), checked=Health()) as endpoint:
        for probe in PROBES.values():
            assert probe["httpGet"]["port"] == "metrics"
            assert status(endpoint.url.replace("/metrics", probe["httpGet"]["path"])) in (200, 503)
        assert status(endpoint.url.replace("/metrics", "/healthz")) == 404
    assert {name: probe["httpGet"]["path"] for name, probe in PROBES.items()} == {
        "startupProbe": "/ready",
        "livenessProbe": "/health",
        "readinessProbe": "/ready",
    }


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as problem:
        return problem.code


def test_there_is_one_driver_and_a_new_one_waits_until_the_old_one_is_gone():
    spec = OBJECTS["Deployment"]["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert OBJECTS["PersistentVolumeClaim"]["spec"]["accessModes"] == ["ReadWriteOncePod"]
    (volume,) = POD["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == OBJECTS["PersistentVolumeClaim"]["metadata"]["name"]
    assert [mount["name"] for mount in CONTAINER["volumeMounts"]] == [volume["name"]]


def test_a_stop_and_a_start_have_the_time_that_they_take(unit):
    stop = ending.PATIENCE_SECONDS + LAST_WORDS_SECONDS
    assert POD["terminationGracePeriodSeconds"] >= stop
    assert int(unit["TimeoutStopSec"]) >= stop
    start = PROBES["startupProbe"]
    assert start["periodSeconds"] * start["failureThreshold"] >= AT_MOST_SECONDS


def test_the_unit_starts_a_command_that_there_is_and_hears_its_watchdog(unit):
    _, module, name, *arguments = unit["ExecStart"].split()
    assert (module, name) == ("-m", "streamproof")
    assert options_of(arguments)["metrics"] == "9464"
    assert (unit["Type"], unit["KillMode"]) == ("notify", "mixed")
    assert int(unit["WatchdogSec"]) >= 3 * 5, "the run says at least every five seconds that it lives"
    assert (SOCKET, WATCHDOG) == ("NOTIFY_SOCKET", "WATCHDOG_USEC")
    assert "75" not in unit["RestartPreventExitStatus"].split(), "a restart mends it"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not there")
@pytest.mark.parametrize(("wrong", "said"), [("", ""), ("WatchdogSeconds=60\n", "WatchdogSeconds")])
def test_systemd_takes_the_unit(wrong, said, tmp_path):
    place = tmp_path / "my_job.service"
    place.write_text(UNIT.replace("/srv/my_job/.venv/bin/python", sys.executable).replace("[Install]", f"{wrong}[Install]"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(place)], capture_output=True, text=True, check=False, timeout=60
    )
    told = [line for line in done.stderr.splitlines() if "my_job" in line]
    assert done.returncode == 0 or not told, done.stderr
    assert [line for line in told if said in line] == told
    assert bool(told) == bool(said), done.stderr
