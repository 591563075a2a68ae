"""JUnit XML for continuous integration: a test case for each scenario, failures with the line that replays them."""

from xml.etree import ElementTree as ET

from streamproof.core.verdict import Verdict, worst
from streamproof.report import explain, words
from streamproof.report.shape import Report, ScenarioEntry


def junit_xml(report: Report) -> str:
    """The report as JUnit XML.

    A failing scenario is a <failure>, an undecided one an <error>. What was never exercised is an <error> of a test case of its own. Where
    the proof as a whole is worse than all of these (it was cut short, or nothing was tried), a last test case named "plan" carries the
    error: a server must not show it green.
    """
    cases = [_case(report, scenario) for scenario in explain.worst_first(report)]
    verdicts = [Verdict(scenario["verdict"]) for scenario in report["scenarios"]]
    if explain.not_exercised(report):
        cases.append(_exercised(report))
        verdicts.append(Verdict.UNKNOWN)
    if worst(verdicts) is not Verdict(report["verdict"]) or not report["scenarios"]:
        cases.append(_plan(report))
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "time": f"{report['seconds']:.3f}",
    }
    suites = ET.Element("testsuites", {"name": "streamproof", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": _clean(report["job"]), **counts})
    properties = ET.SubElement(suite, "properties")
    for name in ("verdict", "plan", "seed", "events", "command"):
        ET.SubElement(properties, "property", {"name": name, "value": _clean(str(report[name]))})
    suite.extend(cases)
    ET.indent(suites, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _case(report: Report, scenario: ScenarioEntry) -> ET.Element:
    case = ET.Element(
        "testcase",
        {
            "classname": _clean(f"{report['job']}.{scenario['phase'] or scenario['mode']}"),
            "name": _clean(scenario["id"]),
            "time": f"{scenario['seconds']:.3f}",
        },
    )
    if scenario["verdict"] != "pass":
        told = explain.explain(report, scenario)
        text = "\n".join(f"{label:<12}{text}" for label, text in told.lines)
        _outcome(case, Verdict(scenario["verdict"]), f"{told.headline} | replay: {scenario['replay']}", f"{told.headline}\n{text}")
    return case


def _exercised(report: Report) -> ET.Element:
    case = ET.Element("testcase", {"classname": _clean(report["job"]), "name": "exercised", "time": "0.000"})
    vacuous = explain.not_exercised(report)
    message = f"never exercised: {', '.join(one['name'] for one in vacuous)}"
    text = [f"{one['code']}: {one['says']}" for one in vacuous] + [line for one in vacuous for line in one.get("sketch", [])]
    _outcome(case, Verdict.UNKNOWN, message, "\n".join([*text, *([explain.again(report)] if explain.to_give(report) else [])]))
    return case


def _plan(report: Report) -> ET.Element:
    case = ET.Element("testcase", {"classname": _clean(report["job"]), "name": "plan", "time": "0.000"})
    text = "\n".join([explain.sentence(report), *report["notes"]])
    _outcome(case, Verdict(report["verdict"]), explain.sentence(report), text)
    return case


def _outcome(case: ET.Element, verdict: Verdict, message: str, text: str) -> None:
    if verdict is Verdict.PASS:
        return
    tag = "failure" if verdict is Verdict.FAIL else "error"
    outcome = ET.SubElement(case, tag, {"message": _clean(message), "type": verdict.value})
    outcome.text = _clean(text)


def _clean(text: str) -> str:
    return words.printable(text)
