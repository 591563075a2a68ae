"""From the first failure to its cause: the smallest scenario, or the command that makes it, and the story of its event."""

import copy

import pytest

from streamproof.report import explain
from streamproof.report.html import render
from streamproof.report.stories import Stories, cause
from unit.report.conftest import SMALLEST
from unit.report.test_html import Elements, without_pictures


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    without_pictures(monkeypatch)


def way(report):
    """The text of the section, and what comes after it left out."""
    text = Elements(render(report)).text
    return text[text.index("The way to the cause") : text.index("Account of 50,000")]


def test_before_it_was_shrunk_one_command_does_it_and_the_story_of_the_event_stands_there(followed):
    text = way(followed)

    assert "shrink streamproof shrink my_job publish/exposure@3:after" in text
    assert "trade t-014014 scenario publish/exposure@3:after" in text
    assert "WRONG its row is in exposure 2 times, by batch 3; the model has 1" in text


def test_after_it_was_shrunk_its_events_its_fault_its_command_and_its_test_stand_there(shrunk):
    text = way(shrunk)

    assert "2 events, 1 batch, 1 fault, of 50,000 events, 12 batches, 1 fault" in text
    assert "fault the process dies after output exposure of batch 0 was published" in text
    assert '0 trades {"trade_id": "t-014901", "client": "c02", "notional": 7.25}' in text
    assert SMALLEST["use"]["replay"] in text
    assert "Where its event went in it arrived row 1 of part-0-0.json, read by batch 0 WRONG its row is in exposure 2 times" in text
    assert "def test_risk_exposure():" in text
    assert "streamproof shrink" not in text
    assert "fewer may be enough" not in text


def test_what_is_not_sure_of_the_smallest_is_said(shrunk):
    shrunk["smallest"]["search"] |= {"to_the_end": False, "again": False}
    shrunk["smallest"]["size"]["events"] = 300
    text = way(shrunk)

    assert "fewer may be enough" in text
    assert "it hangs on chance" in text
    assert "The first 2 of 300; all are in my_job/.streamproof/runs/0007/smallest.json" in text


def test_a_report_that_follows_no_event_has_the_command_that_does(red):
    assert "trace streamproof trace my_job t-014014 --scenario publish/exposure@3:after" in way(red)


def test_a_pass_has_no_such_way(green):
    assert "The way to the cause" not in render(green)


def judged_by(report, entry):
    report["judged_by"] = ["itself"]


def on_services(report, entry):
    report["request"] = {"services": ["kafka", "redis"]}


def a_share(report, entry):
    entry["checks"][1]["findings"] = [{**entry["checks"][1]["findings"][0], "code": "too-many-late"}]


def disagrees(report, entry):
    entry["checks"][1]["name"] = "agreement"


def without_a_code(report, entry):
    entry["checks"][1]["findings"] = [{**entry["checks"][1]["findings"][0], "code": ""}]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (judged_by, "written with Streamproof alone"),
        (on_services, "stands on kafka, redis"),
        (a_share, "a share of all events"),
        (disagrees, "two scenarios disagree"),
        (without_a_code, "no finding of it is kept"),
    ],
)
def test_what_shrink_would_refuse_is_not_offered(followed, changed, said):
    entry = next(one for one in followed["scenarios"] if one["id"] == "publish/exposure@3:after")
    changed(followed, entry)
    found = cause(followed, entry, Stories(followed))

    assert not explain.can_shrink(followed, entry)
    assert found.shrinking == ""
    assert said in found.no_shrinking


def test_the_page_says_how_many_of_how_many_it_tells_and_how_to_ask_for_the_others(followed):
    text = Elements(render(followed)).text

    assert "Events and rows 42 of 50,000 events, 1 of 4,310 rows" in text
    assert "streamproof trace my_job EVENT" in text
    assert "Its events: t-014014" in text
    assert "t-000001" not in text  # it is not told: nothing leads there


def test_each_finding_leads_to_the_story_of_its_event_in_its_own_scenario_before_another(followed):
    other = copy.deepcopy(followed["followed"]["events"][0]) | {"scenario": "publish/exposure@4:after"}
    followed["followed"]["events"].insert(0, other)
    stories = Stories(followed)

    assert stories.place("t-014014", "publish/exposure@3:after") == "e1"
    assert stories.place("t-014014", "publish/exposure@4:after") == "e0"
    assert stories.place("t-014014+1", "publish/exposure@5:after") == "e0"  # of a copy that is not told the event
    assert stories.place("nobody|t-014014#1", "publish/exposure@3:after") == "e1"
    assert stories.place(None) == stories.place("nobody") == ""
    assert '<a class="story-of" href="#e1">where it went</a>' in render(followed)


def test_a_story_of_another_scenario_says_so(followed):
    followed["followed"]["events"][0]["scenario"] = "publish/exposure@8:after"

    assert '<a class="story-of" href="#e0">where it went in publish/exposure@8:after</a>' in render(followed)


def test_rows_whose_values_may_not_be_shown_are_not(followed):
    followed["followed"] |= {"rows": [], "of_rows": 0, "masked": True}
    text = Elements(render(followed)).text

    assert "their values come from a sample of yours" in text
    assert "--row" not in text


def test_why_no_event_is_followed_is_said(followed):
    followed["followed"] |= {"events": [], "rows": [], "problem": "the run has no lineage"}

    assert "No event is told one by one: the run has no lineage" in Elements(render(followed)).text
