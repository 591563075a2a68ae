"""What is wrong with the alerts of a scenario: of one that its fault must raise, of one that nobody expects, of a rule whose metric is never set."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.observe.metrics import ALERTS
from streamproof.observe.rehearsal.samples import FOLDER, lives_in
from streamproof.prove.process.task import ChildTask
from streamproof.prove.record.binding import ScenarioBinding
from streamproof.prove.scenario.scenario import Scenario, load_scenario
from streamproof.prove.subjects.job.alerts import AlertsSeen, Code, require_alerts, seconds_between_samples
from streamproof.prove.subjects.job.being_scraped import SCRAPED, scraping
from streamproof.runtime.watching.events import QueryStarted

MINUTE = 'minute = "20 milliseconds"\n'
WAITS = 'under = { "postgres-*" = ["StreamproofOutputWaits"], "process-death" = [] }'


def scenario(folder: Path, alerts: str | None) -> Scenario:
    text = 'events = 100\n[source.a.columns]\nid = { kind = "id" }\n'
    (folder / "scenario.toml").write_text(text if alerts is None else f"{text}[alerts]\n{MINUTE}{alerts}\n")
    return load_scenario(folder)


def scraped(folder: Path, *, waits: bool) -> Path:
    """A scenario's folder with the samples of a run, five in a second; a store may be down in it, for longer than two minutes of the rules."""
    (folder / FOLDER).mkdir(exist_ok=True)
    labels = {"job_name": "clicks", "query": "sums"}
    lines = []
    for number in range(10):
        samples = [["streamproof_query_up", labels, 1.0]]
        if waits and number:
            samples.append(["streamproof_waiting_batches", {**labels, "output": "sums.postgres"}, 3.0])
        lines.append(json.dumps({"at": 1_000 + number / 5, "samples": samples}))
    (folder / FOLDER / "run.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def looked(folder: Path, alerts: str, fault: str, *, waits: bool) -> Any:
    found = AlertsSeen(scenario(folder, alerts)).look(scraped(folder, waits=waits), fault)
    assert found is not None
    return found


def test_an_alert_that_its_fault_must_raise_is_raised(tmp_path):
    assert looked(tmp_path, WAITS, "postgres-outage", waits=True).verdict is Verdict.PASS


def test_an_alert_that_is_not_raised_is_a_finding_with_what_was_seen(tmp_path):
    found = looked(tmp_path, WAITS, "postgres-outage", waits=False)

    (finding,) = found.findings
    assert (found.verdict, finding.code) == (Verdict.FAIL, Code.NOT_RAISED)
    assert finding.what == "StreamproofOutputWaits was not raised under postgres-outage"
    assert finding.expected == "streamproof_waiting_batches > 0 for 0.04 s"
    assert finding.found == "streamproof_waiting_batches has no sample; the condition never held"
    assert finding.how == "streamproof_waiting_batches is never set: nothing in the run told of it"


def test_a_rule_whose_metric_is_never_set_is_found(tmp_path):
    """The broken twin: the store is down, and nothing sets the metric of the alert."""
    ((metric, alert),) = [pair for pair in ALERTS if pair[1].name == "StreamproofOutputWaits"]
    broken = replace(metric, name="waiting_batches_of_nobody")
    rules = [(broken, replace(alert, when="streamproof_waiting_batches_of_nobody > 0"))]

    found = AlertsSeen(scenario(tmp_path, WAITS), rules).look(scraped(tmp_path, waits=True), "postgres-outage")

    assert found is not None
    assert [finding.code for finding in found.findings] == [Code.NOT_RAISED]
    assert "streamproof_waiting_batches_of_nobody is never set" in str(found.findings[0].how)


def test_an_alert_without_a_fault_is_a_finding_unless_the_events_raise_it(tmp_path):
    (finding,) = looked(tmp_path, "", "none", waits=True).findings

    assert finding.code == Code.WITHOUT_FAULT
    assert finding.what.startswith("StreamproofOutputWaits was raised without any fault, 0.4 s after the first sample")
    assert 'streamproof_waiting_batches{output="sums.postgres", query="sums"} was 3 at 0.2 s' in finding.found
    assert "Start the store" in finding.how
    allowed = scenario(tmp_path, 'without_fault = ["StreamproofOutputWaits"]')
    assert AlertsSeen(allowed).look(tmp_path, "none").verdict is Verdict.PASS
    assert AlertsSeen(allowed).look(tmp_path, "process-death").verdict is Verdict.PASS, "nothing is asked of it"


def test_an_alert_beside_those_of_a_fault_is_a_finding(tmp_path):
    (finding,) = looked(tmp_path, WAITS, "process-death", waits=True).findings

    assert finding.code == Code.OTHER
    assert "under process-death, which must not raise it" in finding.what


def test_nothing_is_asked_without_alerts_and_without_samples_nothing_is_known(tmp_path):
    assert AlertsSeen(scenario(tmp_path, None)).look(tmp_path, "none") is None
    unknown = AlertsSeen(scenario(tmp_path, WAITS)).look(tmp_path, "none")
    assert unknown is not None
    assert unknown.verdict is Verdict.UNKNOWN


def test_the_report_says_what_was_raised(tmp_path):
    seen = AlertsSeen(scenario(tmp_path, WAITS))
    assert [*seen.note()] == []
    seen.look(scraped(tmp_path, waits=True), "postgres-outage")
    seen.look(tmp_path, "none")

    (note,) = seen.note()
    assert note.code == "alerts-raised"
    assert str(note).startswith(
        "Alerts raised, with 20 milliseconds for a minute of their rules: under postgres-outage StreamproofOutputWaits in 1 of 1"
    )


@pytest.mark.parametrize(
    ("alerts", "said"),
    [
        (
            'without_fault = ["StreamproofOutputWait"]',
            r'line 6: \[alerts\] without_fault names "StreamproofOutputWait", which is no alert \(did you mean "StreamproofOutputWaits"\?\)',
        ),
        ('under = { "process-death" = ["Nothing"] }', r'\[alerts.under.process-death\] names "Nothing", which is no alert\.'),
        ('without_fault = "StreamproofStuck"', "It must be a list of alerts"),
        ("underr = {}", r'\[alerts\] has no key "underr". Did you mean "under"\?'),
    ],
)
def test_an_alert_that_there_is_not_is_refused(tmp_path, alerts, said):
    with pytest.raises(ScenarioError, match=said):
        scenario(tmp_path, alerts)


def test_a_minute_that_is_longer_than_a_minute_is_refused(tmp_path):
    (tmp_path / "scenario.toml").write_text(
        'events = 100\n[source.a.columns]\nid = { kind = "id" }\n[alerts]\nminute = "2 minutes"\n'
    )
    with pytest.raises(ScenarioError, match='minute = "2 minutes"'):
        load_scenario(tmp_path)


def test_a_fault_that_there_is_not_is_refused(tmp_path):
    require_alerts(scenario(tmp_path, 'under = { "machine-*" = [], "input-vanished" = [] }'))
    with pytest.raises(ScenarioError, match=r'names "postgres-outag", and no fault is called so. Did you mean "postgres-outage"\?'):
        require_alerts(scenario(tmp_path, 'under = { "postgres-outag" = [] }'))


def child(folder: Path, told: Mapping[str, Any]) -> ChildTask:
    return ChildTask("one", told, ScenarioBinding(str(folder), folder, {}, None), str(folder / "result"))


def test_a_run_is_scraped_where_the_scenario_asks_for_alerts(tmp_path):
    asked = scenario(tmp_path, WAITS)
    assert seconds_between_samples(asked) == 0.05

    with scraping(child(tmp_path, {}), "clicks") as emitter:
        assert not emitter.heard
    assert lives_in(tmp_path / FOLDER) == []
    with scraping(child(tmp_path, {SCRAPED: 0.01}), "clicks") as emitter:
        emitter.emit(QueryStarted("sums", "run-1", "checkpoint", {}, 0))
    (life,) = lives_in(tmp_path / FOLDER)
    assert life[-1].values["streamproof_query_up", (("job_name", "clicks"), ("query", "sums"))] == 1


def test_a_line_that_a_death_has_cut_short_is_left_out(tmp_path):
    scraped(tmp_path, waits=False)
    (file,) = (tmp_path / FOLDER).iterdir()
    whole = lives_in(tmp_path / FOLDER)
    with file.open("a") as end:
        end.write('{"at": 1, "samp')

    assert lives_in(tmp_path / FOLDER) == whole
