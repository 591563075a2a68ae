"""The state of a failing scenario in the page: both sides beside each other, what differs marked, no more rows than are bounded, all of them counted."""

import re

import pytest

from streamproof.report.html import render
from streamproof.report.shape import problems
from streamproof.report.state_sides import states
from unit.report.conftest import state
from unit.report.test_html import Elements, without_pictures


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    without_pictures(monkeypatch)


def section(report):
    html = render(report)
    return html[html.index('<section class="later" aria-labelledby="state">') : html.index('aria-labelledby="followed"')]


def test_both_sides_stand_beside_each_other_and_what_differs_is_marked(shrunk):
    html = section(shrunk)
    text = Elements(html).text

    assert problems(shrunk) == []
    assert "operator 0: aggregate at the crash 300 open groups, after batch 2 after it 310 open groups, after batch 3" in text
    assert "changed not as without a fault 2026-03-02 09:01:17.5 c17 17 12.5 18 12.5" in text
    assert "<td><mark>17</mark></td><td>12.5</td><td><mark>18</mark></td><td>12.5</td>" in html
    assert html.count("not as without a fault</span>") == 1


def test_against_the_run_without_a_fault_it_is_said_of_each_state(shrunk):
    text = Elements(section(shrunk)).text

    assert "compared 1 open group not as without a fault after batch 3" in text
    assert "compared the same as without a fault after batch 3: what is wrong is not in this state" in text


def test_it_says_how_many_rows_there_are_and_how_many_are_shown(shrunk):
    text = Elements(section(shrunk)).text

    assert "300 changed, 0 gone, 10 new, 0 same; shown are 60 of 310: 60 changed" in text
    assert "0 changed, 1 gone, 1 new, 0 same Search" in text  # all of them are shown


def test_a_state_of_keys_alone_says_on_which_side_a_key_is(shrunk):
    found = re.findall(r'<tr class="(gone|new)".*?</tr>', section(shrunk))
    text = Elements(section(shrunk)).text

    assert found == ["gone", "new"]
    assert "gone t-000001 yes not there" in text
    assert "new t-000002 not there yes" in text


def test_the_way_to_the_cause_leads_there(shrunk):
    assert '<a href="#state">operator 0: aggregate, operator 1: deduplicate</a>' in render(shrunk)


def test_a_job_that_did_not_come_back_has_no_right_side(shrunk):
    shrunk["state"]["recovered"] = False
    text = Elements(section(shrunk)).text

    assert "The job did not come back" in text
    assert "after it" not in text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"operators": []}, "keeps no state in its checkpoint"),
        (
            {"operators": [], "problem": "OSError: No space left on device"},
            "could not be looked at: OSError: No space left on device",
        ),
        ({"masked": True}, "--show-values shows them"),
    ],
)
def test_why_there_is_nothing_to_see_is_said(shrunk, changed, said):
    shrunk["state"] |= changed

    assert said in Elements(section(shrunk)).text


def test_a_side_that_cannot_be_read_says_why_and_one_before_the_first_commit_is_nothing(shrunk):
    one, other = shrunk["state"]["operators"]
    one["after"]["unread"] = "a partition of it is not there"
    other["crash"] = {"batch": None, "rows": 0, "unread": ""}
    text = Elements(section(shrunk)).text

    assert "after it a partition of it is not there" in text
    assert "at the crash nothing: no batch was committed" in text


def test_operators_of_several_queries_are_told_apart():
    found = state()
    found["operators"][1]["query"] = "late"

    assert [one.name for one in states(found).operators] == [
        "exposure, operator 0: aggregate",
        "late, operator 1: deduplicate",
    ]


def test_without_it_the_page_has_no_such_section(red):
    assert 'id="state"' not in render(red)
