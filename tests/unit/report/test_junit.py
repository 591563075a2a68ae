"""JUnit: valid XML, a case for each scenario, and never greener than the proof."""

from xml.etree import ElementTree as ET

from streamproof.report.junit import junit_xml


def suite_of(report):
    return ET.fromstring(junit_xml(report)).find("testsuite")


def test_each_scenario_is_a_case(green):
    suite = suite_of(green)

    assert len(suite.findall("testcase")) == 265 == int(suite.get("tests"))
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert {case.get("name") for case in suite.findall("testcase")} == {entry["id"] for entry in green["scenarios"]}


def test_a_failure_carries_what_happened_and_the_replay_line(red):
    suite = suite_of(red)
    failures = suite.findall("testcase/failure")

    assert len(failures) == 7 == int(suite.get("failures"))
    assert failures[0].get("message") == (
        "exactly-once: trade t-014014 is counted twice | replay: streamproof prove my_job --only publish/exposure@3:after --seed 7"
    )
    assert "exposure 49,905.50" in failures[0].text
    assert "before Spark committed the batch" in failures[0].text
    assert "code        exactly-once/counted-again" in failures[0].text


def test_an_undecided_scenario_is_an_error(unknown):
    errors = [case.get("name") for case in suite_of(unknown).findall("testcase") if case.find("error") is not None]

    assert errors == ["work/state.0.1@3:after", "commit/metrics@5:after"]


def test_a_proof_that_was_cut_short_is_not_green(green, empty):
    green["verdict"] = "unknown"

    for report in (green, empty):
        plan = suite_of(report).findall("testcase")[-1]
        assert plan.get("name") == "plan"
        assert plan.find("error") is not None


def test_what_was_never_exercised_is_an_error_and_adds_no_failure(green, red):
    vacuous = [{"code": "late-not-exercised", "name": "late", "says": "No record came late."}]
    green |= {"verdict": "unknown", "not_exercised": vacuous}
    red["not_exercised"] = vacuous

    for report, failures in ((green, 0), (red, 7)):
        suite = suite_of(report)
        (error,) = suite.findall("testcase/error")
        assert suite.findall("testcase")[-1].get("name") == "exercised"
        assert error.get("message") == "never exercised: late"
        assert error.text == "late-not-exercised: No record came late."
        assert int(suite.get("failures")) == failures


def test_control_characters_and_markup_stay_text(red):
    entry = next(entry for entry in red["scenarios"] if entry["verdict"] == "fail")
    entry["checks"][1]["findings"][0] |= {"what": "trade a\x00b\x1b<c>&\ud800\ufffe is counted twice", "found": ']]> "quoted"'}

    failure = suite_of(red).find("testcase/failure")

    assert "trade a\\x00b\\x1b<c>&\\ud800\\ufffe is counted twice" in failure.get("message")
    assert ']]> "quoted"' in failure.text
