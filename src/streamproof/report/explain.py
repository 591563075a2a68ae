"""What a report says about its scenarios: which is worst, what happened in it, and the one sentence of the whole."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from streamproof.core.phases import Phase
from streamproof.core.verdict import Verdict
from streamproof.report import without_fault, words
from streamproof.report.shape import CheckEntry, FindingEntry, RemarkEntry, Report, ScenarioEntry

OF_TWO_RUNS = ("agreement",)
"""Checkers that compare two scenarios of a plan: one alone has no such finding, and cannot be shrunk."""
SHARES = ("too-many-late", "too-many-rejected", "too-many-open")
"""Codes of findings about a share of all events: a few of them have none."""
_PHASES = [phase.value for phase in Phase]


@dataclass(frozen=True)
class Explanation:
    """One scenario in words: a headline, and lines of (label, text) in reading order; empty ones are left out."""

    headline: str
    lines: tuple[tuple[str, str], ...]

    def text(self, label: str) -> str:
        return next((text for name, text in self.lines if name == label), "")


def worst_first(report: Report) -> list[ScenarioEntry]:
    """The scenarios by verdict, worst first; among equals by batch and phase, so that the earliest harm is read first."""
    return sorted(report["scenarios"], key=_rank)


def _rank(scenario: ScenarioEntry) -> tuple[int, int, int]:
    phase = _PHASES.index(scenario["phase"]) if scenario["phase"] in _PHASES else -1
    return -Verdict(scenario["verdict"]).badness, -1 if scenario["batch"] is None else scenario["batch"], phase


def with_verdict(report: Report, verdict: Verdict) -> list[ScenarioEntry]:
    """The scenarios with this verdict, worst first."""
    return [scenario for scenario in worst_first(report) if scenario["verdict"] == verdict]


def telling(scenario: ScenarioEntry) -> tuple[CheckEntry, FindingEntry | None] | None:
    """The check that decided the scenario and its most telling finding: one that names an event before one that does not."""
    deciding = [check for check in scenario["checks"] if check["verdict"] == scenario["verdict"]]
    if scenario["verdict"] == "pass" or not deciding:
        return None
    pairs = [(check, finding) for check in deciding for finding in check["findings"]]
    named = [pair for pair in pairs if pair[1]["event"]]
    if named or pairs:
        return (named or pairs)[0]
    return deciding[0], None


def explain(report: Report, scenario: ScenarioEntry) -> Explanation:
    """The scenario in words.

    The lines are, where there is something to say: crash, no fault, expected, found, how, the event, in all, code, account, replay, trace,
    read on.
    """
    found = telling(scenario)
    finding = found[1] if found else None
    lines = [("crash", _crash(scenario))]
    if finding:
        if found and scenario["verdict"] == "fail":
            lines.append(("no fault", without_fault.words_for(report, scenario, found[0]["name"], finding)))
        lines += [(label, finding[label] or "") for label in ("expected", "found", "how")]
        lines.append(("the event", _event(report, scenario, finding)))
        lines.append(("in all", _in_all(found[0]) if found else ""))
        lines.append(("code", f"{found[0]['name']}/{finding['code']}" if found and "code" in finding else ""))
    if scenario["account"] and scenario["verdict"] != "pass":
        lines.append(("account", words.imbalance_in_words(scenario["account"])))
    lines += [
        ("replay", scenario["replay"]),
        ("trace", _trace(report, scenario, finding) if finding else ""),
        ("read on", scenario["read_on"] or ""),
    ]
    return Explanation(_headline(scenario, found), tuple((label, text) for label, text in lines if text))


def _headline(scenario: ScenarioEntry, found: tuple[CheckEntry, FindingEntry | None] | None) -> str:
    if found is not None:
        check, finding = found
        return f"{check['name']}: {finding['what'] if finding else 'no finding was kept'}"
    if scenario["verdict"] == "pass":
        return "every check passed"
    return "the fault did not fire" if not scenario["fired"] else "no check says why"


def _crash(scenario: ScenarioEntry) -> str:
    if scenario["mode"] == "fault-free":
        return scenario["crash"] or "none: a run without a fault"
    return f"{scenario['crash']}   {scenario['id']}"


def _event(report: Report, scenario: ScenarioEntry, finding: FindingEntry) -> str:
    if not finding["event"]:
        return ""
    base = finding["event"].split("+")[0]
    starts = {start["batch"]: start["first_arrival"] for start in report["event_time"]["batches"]}
    parts = [finding["event"]]
    point = next((point for point in report["event_time"]["points"] if point["event"] in (finding["event"], base)), None)
    if point is not None:
        row = point["arrival"] - starts.get(point["batch"], 0) + 1
        parts.append(f"event time {words.instant(point['time_us'])}")
        place = words.PLACES[point["fate"]]
        parts.append(f"without a fault it arrived as row {words.number(row)} of batch {point['batch']} and is {place}")
    elif finding["batch"] is not None:
        parts.append(f"in batch {finding['batch']}")
    batch = finding["batch"]  # of this scenario: after a crash the batches are others
    attempts = next((entry["attempts"] for entry in scenario["batches"] if entry["batch"] == batch), 1)
    if attempts > 1:
        parts.append(f"batch {batch} took {attempts} attempts")
    return "; ".join(parts)


def _trace(report: Report, scenario: ScenarioEntry, finding: FindingEntry) -> str:
    """The command that follows the event; of a row of several records, or a further one of a record, the first of them."""
    target = named_run(report)
    if not finding["event"] or not target:
        return ""
    event = re.split(r"[|#!]", finding["event"])[0]
    return shlex.join(["streamproof", "trace", target, event, "--scenario", scenario["id"]])


def named_run(report: Report) -> str:
    """The run as `report`, `trace` and `shrink` take it: by its job, whose newest one is meant. Empty where the proof is none of the command line."""
    try:
        command = shlex.split(report["command"])
    except ValueError:  # an odd quote: no proof writes such a command
        command = report["command"].split()
    return command[2] if command[:2] == ["streamproof", "prove"] and len(command) > len(("streamproof", "prove")) else ""


def can_shrink(report: Report, scenario: ScenarioEntry) -> bool:
    """Whether `streamproof shrink` takes a scenario that failed."""
    return scenario["verdict"] == "fail" and not why_not_shrunk(report, scenario)


def why_not_shrunk(report: Report, scenario: ScenarioEntry) -> str:
    """Why a scenario that failed cannot be made smaller; empty where it can."""
    found = telling(scenario)
    services = report.get("request", {}).get("services", [])
    if report.get("judged_by"):
        return "events are left out one by one of jobs that were written with Streamproof alone"
    if services:
        return f"the job stands on {words.few(services)}, and scenarios on services are not made smaller yet"
    if found is None or found[1] is None or not found[1].get("code") or not named_run(report):
        return "no finding of it is kept that a smaller one could have"
    if found[0]["name"] in OF_TWO_RUNS:
        return "it fails since two scenarios disagree, which one alone cannot"
    if found[1].get("code") in SHARES:
        return "a share of all events says nothing of a few of them"
    return ""


def shrinking(report: Report, scenario: ScenarioEntry) -> str:
    """The command that makes a scenario small."""
    return shlex.join(["streamproof", "shrink", named_run(report), scenario["id"]])


def _in_all(check: CheckEntry) -> str:
    """How many findings there are where this is one of many: a headline names one window, the account has them all."""
    total = check.get("total", len(check["findings"]))
    return f"{words.number(total)} findings of {check['name']}; this is one of them" if total > 1 else ""


def sentence(report: Report) -> str:
    """The verdict's reason in one sentence, without the verdict's word."""
    verdict = Verdict(report["verdict"])
    if verdict is Verdict.FAIL:
        failing = with_verdict(report, Verdict.FAIL)
        return explain(report, failing[0]).headline if failing else "the proof failed before a scenario could be kept"
    if verdict is Verdict.UNKNOWN:
        return "; ".join(_undecided(report)) or "the proof says nothing yet"
    total = words.counted(len(report["scenarios"]), "scenario")
    return f"{words.plan_name(report)}: {total}, {fired(report)}, {words.span(report['seconds'])}"


def _undecided(report: Report) -> Iterator[str]:
    total, silent = len(report["scenarios"]), not_fired(report)
    if not_read := to_give(report):
        yield f"nobody has looked at {words.few(dict.fromkeys(one['name'] for one in not_read))}"
    if vacuous := [one for one in not_exercised(report) if one not in not_read]:
        yield f"never exercised: {words.few(dict.fromkeys(one['name'] for one in vacuous))}"
    if not total:
        yield "no scenario was finished"
    if report["counts"]["unknown"]:
        yield f"{words.number(report['counts']['unknown'])} of {words.counted(total, 'scenario')} could not be decided"
    if silent:
        yield f"{words.counted(len(silent), 'fault')} did not fire"
    if total and (missing := len(unproved(report))):
        yield f"{words.number(missing)} of {words.counted(report['enumerated'], 'crash point')} were not tried"


def not_exercised(report: Report) -> list[RemarkEntry]:
    """What the job can do and never did."""
    return report.get("not_exercised", [])


def to_give(report: Report) -> list[RemarkEntry]:
    """What the user has to give so that the proof can look at everything."""
    return [one for one in not_exercised(report) if one.get("add")]


def again(report: Report) -> str:
    """The command that makes this proof again, with what it was not given."""
    return " ".join([report["command"], *(one["add"] for one in to_give(report))])


def fired(report: Report) -> str:
    """ "every fault fired", or how many did not, or that there was none."""
    silent = not_fired(report)
    if all(scenario["mode"] == "fault-free" for scenario in report["scenarios"]):
        return "without a fault"
    return "every fault fired" if not silent else f"{words.counted(len(silent), 'fault')} did not fire"


def not_fired(report: Report) -> list[ScenarioEntry]:
    return [scenario for scenario in report["scenarios"] if scenario["mode"] != "fault-free" and not scenario["fired"]]


def unproved(report: Report) -> list[str]:
    """The crash points that no scenario of this report proves."""
    known = {scenario["id"] for scenario in report["scenarios"]}
    return [step["id"] for step in report["steps"] if step["scenario"] not in known]
