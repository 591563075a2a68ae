"""The page: what is in it, that nothing from data becomes markup, and that it needs nothing from outside."""

import base64
import builtins
import hashlib
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from streamproof.report import picture
from streamproof.report.html import differing, render

ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text of the page without style and script."""

    def __init__(self, page):
        super().__init__()
        self.tags, self._open, self._text = [], [], []
        self.feed(page)
        self.text = " ".join(" ".join(self._text).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_data(self, data):
        if self._open[-1:] not in (["style"], ["script"]):
            self._text.append(data)

    def handle_endtag(self, tag):
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def with_class(self, name):
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]


def attacked(value):
    """The same report with the attack in every text that is not a name the shape fixes."""
    fixed = {"verdict", "plan", "mode", "fate", "phase", "watermark"}
    if isinstance(value, dict):
        return {key: member if key in fixed else attacked(member) for key, member in value.items()}
    if isinstance(value, list):
        return [attacked(member) for member in value]
    return f"{value}{ATTACK}" if isinstance(value, str) else value


def without_pictures(monkeypatch):
    monkeypatch.setattr(picture, "find_spec", lambda name: None)


def test_it_says_the_verdict_the_account_and_what_a_pass_means(green):
    page = Elements(render(green))

    assert "PASS Standard plan: 265 scenarios, every fault fired, 3 min 41 s" in page.text
    assert "fault-free 47,912 1,020 318 201 549 0 50,000 50,000 worst 47,912" in page.text
    assert "What a pass means, and what it does not" in page.text
    assert "the JVM or C libraries open by themselves" in page.text
    assert len(page.with_class("part")) == 6
    assert {attrs["style"] for attrs in page.with_class("part")} >= {"flex-grow:47912", "flex-grow:0"}


def test_a_failure_is_told_in_full_before_anything_else(red):
    page = Elements(render(red))
    before_account = page.text[: page.text.index("Account")]

    assert "FAIL Exactly-once: trade t-014014 is counted twice" in before_account
    assert "streamproof prove my_job --only publish/exposure@3:after --seed 7" in before_account
    assert "arrived as row 1,515 of batch 3" in before_account
    assert "The worst scenario does not balance: 4,166 too many" in page.text
    assert len(page.with_class("wrong")) == 1


def test_each_crash_point_is_a_cell_with_a_name_a_state_and_a_place_to_go(red):
    page = Elements(render(red))
    cells = [attrs for tag, attrs in page.tags if tag == "a" and "c" in (attrs.get("class") or "").split()]
    ids = {attrs.get("id") for _, attrs in page.tags}

    assert len(cells) == len(red["steps"])
    assert sum(attrs["class"] == "c fail" for attrs in cells) == 14
    assert {attrs["aria-label"] for attrs in cells} >= {"publish/exposure@3:after, fail", "commit/commits@11:after, pass"}
    assert all(attrs["href"][1:] in ids for attrs in cells)


def test_every_scenario_is_there_worst_first_with_its_replay_line(red):
    html = render(red)
    rows = [attrs for tag, attrs in Elements(html).tags if tag == "details" and "s" in attrs.get("class", "").split()]

    assert [attrs["data-v"] for attrs in rows] == ["fail"] * 7 + ["pass"] * 258
    for entry in red["scenarios"]:
        assert entry["replay"] in html


def test_what_is_told_in_full_is_not_listed_again(red):
    page = Elements(render(red))
    scenario = page.text[page.text.index("7 of 265 scenarios fail") :]
    scenario = scenario[scenario.index("image · process-death") : scenario.index("fail account")]

    assert "exactly-once as told above" in scenario
    assert "t-014014" not in scenario
    assert "t-020000 is counted twice, batch 3" in scenario
    assert "and 2 more in report.json" in scenario


def test_two_thousand_scenarios_are_folded_and_the_page_stays_small(red):
    red["scenarios"] = [entry | {"id": f"{entry['id']}+{copy}"} for copy in range(8) for entry in red["scenarios"]]
    html = render(red)
    worst = html.index("36 more did not pass"), html.index("2,064 scenarios passed")

    assert html.count('<details class="s fail"') == 56
    assert html[: worst[0]].count('<details class="s fail"') == 20
    assert html[worst[0] : worst[1]].count('<details class="s fail"') == 36
    assert len(html.encode()) < 2_500_000


@pytest.mark.parametrize("kind", ["red", "followed", "shrunk"])
def test_every_link_inside_the_page_has_an_end(kind, request):
    tags = Elements(render(request.getfixturevalue(kind))).tags
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]

    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for tag, attrs in tags if tag == "a"} <= set(ids)


@pytest.mark.parametrize("kind", ["green", "red", "followed", "shrunk", "unknown", "empty"])
def test_it_asks_nothing_of_the_network_and_is_small(kind, request):
    html = render(request.getfixturevalue(kind))

    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//""", html)
    assert "@import" not in html
    assert "url(" not in html
    assert len(html.encode()) < 1_000_000


def test_the_policy_allows_the_pages_own_script_and_no_other(green):
    html = render(green)
    policy = next(attrs["content"] for tag, attrs in Elements(html).tags if attrs.get("http-equiv") == "Content-Security-Policy")
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)

    assert len(script) == 1
    assert f"'sha256-{base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("kind", ["red", "shrunk"])
def test_text_from_data_never_becomes_markup(kind, request):
    red = request.getfixturevalue(kind)
    plain, hostile = Elements(render(red)), Elements(render(attacked(red)))

    assert [tag for tag, _ in hostile.tags if tag in ("script", "img")] == ["script"]
    assert not [attrs for _, attrs in hostile.tags if any(name.startswith("on") for name in attrs)]
    assert f"trade t-014014 is counted twice{ATTACK}" in hostile.text
    assert abs(len(hostile.tags) - len(plain.tags)) < 20  # grid rows of queries named by the attack, marks of a mismatch


def test_passwords_and_unknown_parts_of_the_environment_are_not_shown(green):
    green["outputs"][0]["where"] = "jdbc:postgresql://app:hunter2@db/x"
    green["environment"] |= {"AWS_SECRET": "hunter2"}

    html = render(green)

    assert "hunter2" not in html
    assert "app:***@db" in html


def test_a_proof_that_was_interrupted_says_what_is_not_there_yet(empty):
    page = Elements(render(empty))

    assert "UNKNOWN No scenario was finished" in page.text
    for said in ("No account yet", "No crash points yet", "No events yet"):
        assert said in page.text


def test_undecided_and_untried_crash_points_are_told_apart(unknown):
    page = Elements(render(unknown))

    assert "not tried (175)" in page.text
    assert len([attrs for attrs in page.with_class("untried") if "data-step" in attrs]) == 175
    assert "the checker crashed: KeyError('window_start')" in page.text[: page.text.index("Account")]


def test_histories_that_scenarios_share_stand_once(green):
    page = Elements(render(green))

    assert len(page.with_class("history")) == 13  # one for each batch that ran twice, and the fault-free one
    assert len([attrs for attrs in page.with_class("names") if "id" in attrs]) == 1


def test_events_of_the_picture_whose_stories_are_told_lead_to_them_within_the_page(followed):
    html = render(followed)
    svg = ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    links = [element for element in svg.iter() if element.tag.endswith("}a")]

    assert len(links) == 42
    assert {link.get("href") for link in links} <= {f"#e{number}" for number in range(42)}
    assert all(set(link.keys()) == {"href", "tabindex"} for link in links)
    assert "vega.github.io" not in html


def test_the_picture_is_inside_with_the_pages_colours_and_the_lost_trade_named(red):
    html = render(red)
    svg = ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    titles = [element.text for element in svg.iter() if element.tag.endswith("title")]

    assert svg.get("role") == "img"
    assert "318 late" in svg.get("aria-label")
    assert "#a100" not in ET.tostring(svg, encoding="unicode")
    assert {"var(--late)", "var(--stairs)", "var(--band)"} <= {
        element.get("fill") or element.get("stroke") for element in svg.iter()
    }
    assert sum(": late, " in title for title in titles) == 318
    assert "t-014014" in [element.text for element in svg.iter() if element.tag.endswith("text")]


def test_the_watermark_goes_across_before_it_goes_up(green):
    html = render(green)
    stairs = re.search(r'd="M([^"]*)"[^>]*stroke="var\(--stairs\)"|stroke="var\(--stairs\)"[^>]* d="M([^"]*)"', html)
    points = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[-\d.]+,[-\d.]+", stairs[0])]

    assert points[0][1] == points[1][1]  # the first move is across: the batch keeps the watermark it began with
    assert points[1][0] == points[2][0]
    assert points[2][1] < points[1][1]  # then up


def test_events_far_off_are_counted_instead_of_flattening_the_picture(green):
    drawn = picture.draw(green, [], {})

    assert drawn.outside == sum(point["time_us"] == 0 or point["time_us"] > 4e15 for point in green["event_time"]["points"])
    assert f"{drawn.outside} lie outside the picture" in render(green)


def test_without_the_extra_it_says_what_to_install_and_shows_a_table(green, monkeypatch):
    def refused(name, *arguments, **keywords):
        assert name not in ("altair", "vl_convert")
        return real(name, *arguments, **keywords)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", refused)
    without_pictures(monkeypatch)

    page = Elements(render(green))

    assert "pip install 'streamproof[report]'" in page.text
    assert not [tag for tag, _ in page.tags if tag == "svg"]
    assert "open" in page.with_class("table")[0]
    assert "11 45,833 09:08:00" in page.text


def test_one_event_and_no_watermark_make_a_picture(green):
    facts = green["event_time"]
    facts |= {"points": facts["points"][:1], "watermark": [], "windows": [], "batches": facts["batches"][:1]}

    assert "<svg" in render(green)


def test_what_differs_between_expected_and_found_is_marked_and_escaped():
    expected, found = differing("client <c17>  trades 31", "client <c17>  trades 32")

    assert expected == "client &lt;c17&gt;  trades <mark>31</mark>"
    assert found == "client &lt;c17&gt;  trades <mark>32</mark>"
    assert differing("a row", "nothing of the kind") == ("a row", "nothing of the kind")


def test_what_was_never_exercised_stands_above_the_account(green):
    green |= {"verdict": "unknown"}
    green["not_exercised"] = [{"code": "late-not-exercised", "name": "late", "says": "No record came <late>."}]
    page = render(green)

    assert page.index("<strong>late</strong> No record came &lt;late&gt;.") < page.index('id="account"')
    assert "Never exercised: late" in page
