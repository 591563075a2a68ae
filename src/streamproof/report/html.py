"""report.html: one file that needs no network, drawn from a report alone."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from streamproof.core.account import PLACES, shown
from streamproof.core.verdict import Verdict
from streamproof.report import explain, grid, picture, words
from streamproof.report.json_file import without_secrets
from streamproof.report.shape import AccountCounts, FindingEntry, Report, ScenarioEntry
from streamproof.report.state_sides import states
from streamproof.report.stories import Stories, cause

ENVIRONMENT = ("streamproof", "spark", "java", "python", "master", "os")
_NOT_SAID: dict[str, Any] = {"judged_by": [], "not_checked": [], "followed": None, "smallest": None, "state": None}
"""What a template looks at, where a report does not have it."""
_SHOWN_FINDINGS = 5
_OPEN_SCENARIOS = 20


@dataclass(frozen=True)
class Part:
    """One place of the account in the bar and the table."""

    key: str
    label: str
    meaning: str
    fault_free: int
    worst: int


@dataclass(frozen=True)
class Failed:
    """A check that did not pass: the findings to list, how many more there are, and whether the first is told in full above."""

    name: str
    verdict: str
    told: bool
    findings: tuple[FindingEntry, ...]
    more: int


@dataclass(frozen=True)
class Told:
    """One scenario as the page shows it; `history` and `passed` are numbers of blocks that many scenarios share."""

    place: int
    entry: ScenarioEntry
    explanation: explain.Explanation
    expected: Markup
    found: Markup
    failed: tuple[Failed, ...]
    passed: int | None
    history: int | None

    @property
    def event(self) -> str | None:
        """The event that its most telling finding names."""
        found = explain.telling(self.entry)
        return found[1]["event"] if found is not None and found[1] is not None else None


def render(report: Report) -> str:
    """The page as one string: styles, script and pictures inside, everything from data escaped.

    Needs jinja2. With the extra `report` (altair, vl-convert) it holds the event-time picture, without it a table and a notice.
    """
    report = without_secrets(report)
    report = cast("Report", {**_NOT_SAID, **report})
    scenarios = explain.worst_first(report)
    shared = _Shared()
    told = [_tell(report, index, scenario, shared) for index, scenario in enumerate(scenarios)]
    first = told[0] if told and report["verdict"] != "pass" and told[0].entry["verdict"] == report["verdict"] else None
    stories = Stories(report)
    script = _asset("page.js")
    drawn = picture.draw(report, _marked(scenarios), stories.places)
    page = _templates().get_template("page.html")
    return page.render(
        report=report,
        verdict=Verdict(report["verdict"]).value,
        sentence=explain.sentence(report),
        subject=words.subject(report),
        first=first,
        cause=cause(report, first.entry, stories) if first is not None else None,
        stories=stories,
        states=states(report.get("state")),
        not_exercised=explain.not_exercised(report),
        again=explain.again(report),
        told=told,
        groups=_groups(told),
        grid=grid.build(report, scenarios),
        picture=drawn,
        picture_svg=Markup(drawn.svg),  # noqa: S704 - an XML serialiser wrote it
        parts=_parts(report),
        account=_account_facts(report),
        facts=_facts(report),
        environment=[(name, report["environment"].get(name, "")) for name in ENVIRONMENT],
        histories=shared.histories,
        checks=shared.checks,
        style=Markup(_asset("page.css")),  # noqa: S704 - a file of this package
        script=Markup(script),  # noqa: S704 - a file of this package
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        words=words,
    )


def page_of(template: str, **known: Any) -> str:
    """A page without a script, with the styles of all pages; everything from data is escaped."""
    style = Markup(_asset("page.css"))  # noqa: S704 - a file of this package
    return _templates().get_template(template).render(style=style, **known)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("streamproof.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters.update(number=words.number, span=words.span, watermark=words.watermark, capitalize_first=_capitalized)
    environment.finalize = lambda value: words.printable(value) if type(value) is str else value
    return environment


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _asset(name: str) -> str:
    return (files("streamproof.report") / "templates" / name).read_text(encoding="utf-8")


def _groups(told: list[Told]) -> list[tuple[str, list[Told], bool]]:
    """The list of scenarios as (summary, scenarios, folded): the worst in the open, hundreds of others behind a line each."""
    worse = [one for one in told if one.entry["verdict"] != "pass"]
    passing = [one for one in told if one.entry["verdict"] == "pass"]
    few = len(told) <= _OPEN_SCENARIOS
    return [
        ("", worse[:_OPEN_SCENARIOS], False),
        (f"{words.number(len(worse) - _OPEN_SCENARIOS)} more did not pass", worse[_OPEN_SCENARIOS:], True),
        (f"{words.counted(len(passing), 'scenario')} passed", passing, not few),
    ]


class _Shared:
    """Blocks that scenarios have in common: hundreds of crash points leave a handful of different histories."""

    def __init__(self) -> None:
        self.histories: list[Any] = []
        self.checks: list[tuple[str, ...]] = []

    def history(self, scenario: ScenarioEntry) -> int | None:
        return _place(self.histories, scenario["batches"]) if scenario["batches"] else None

    def passed(self, scenario: ScenarioEntry) -> int | None:
        names = tuple(check["name"] for check in scenario["checks"] if check["verdict"] == "pass")
        return _place(self.checks, names) if names else None


def _place(blocks: list[Any], block: Any) -> int:
    if block not in blocks:
        blocks.append(block)
    return blocks.index(block)


def _tell(report: Report, place: int, scenario: ScenarioEntry, shared: _Shared) -> Told:
    explanation = explain.explain(report, scenario)
    expected, found = differing(explanation.text("expected"), explanation.text("found"))
    return Told(
        place=place,
        entry=scenario,
        explanation=explanation,
        expected=expected,
        found=found,
        failed=tuple(_failed(scenario)),
        passed=shared.passed(scenario),
        history=shared.history(scenario),
    )


def _failed(scenario: ScenarioEntry) -> Iterator[Failed]:
    telling = explain.telling(scenario)
    told = telling[1] if telling else None
    for check in scenario["checks"]:
        if check["verdict"] != "pass":
            rest = [finding for finding in check["findings"] if finding is not told]
            yield Failed(
                name=check["name"],
                verdict=check["verdict"],
                told=len(rest) < len(check["findings"]),
                findings=tuple(rest[:_SHOWN_FINDINGS]),
                more=len(rest[_SHOWN_FINDINGS:]),
            )


def differing(expected: str, found: str) -> tuple[Markup, Markup]:
    """Both sides of a mismatch, escaped, with the words that differ in <mark>; without marks if hardly anything agrees."""
    left, right = (re.split(r"(\s+)", words.printable(text)) for text in (expected, found))
    matcher = SequenceMatcher(a=left, b=right, autojunk=False)
    if not expected or not found or matcher.ratio() < 0.4:
        return Markup.escape("".join(left)), Markup.escape("".join(right))
    sides: tuple[list[Markup], list[Markup]] = ([], [])
    for kind, a, b, c, d in matcher.get_opcodes():
        for side, text in ((sides[0], "".join(left[a:b])), (sides[1], "".join(right[c:d]))):
            if text:
                side.append(Markup.escape(text) if kind == "equal" else Markup("<mark>{}</mark>").format(text))
    return Markup("").join(sides[0]), Markup("").join(sides[1])


def _marked(scenarios: list[ScenarioEntry]) -> list[str]:
    """The events that the worst scenarios' findings name, each once."""
    failing = [scenario for scenario in scenarios if scenario["verdict"] == "fail"][:3]
    pairs = [explain.telling(scenario) for scenario in failing]
    return list(dict.fromkeys(pair[1]["event"] for pair in pairs if pair and pair[1] and pair[1]["event"]))


def _parts(report: Report) -> list[Part]:
    fault_free, worst = map(words.dict_of, _accounts(report))
    places = [(key, PLACES[key]) for key in shown(fault_free, worst)]
    return [Part(key, place.word, place.meaning, fault_free[key], worst[key]) for key, place in places]


def _accounts(report: Report) -> tuple[AccountCounts, AccountCounts]:
    """The account without a fault, and the worst to set beside it.

    In a pass there is none: every recovery balances, and how much of it is late or still open is a matter of the batches it had.
    """
    fault_free, worst = report["conservation"]["fault_free"], report["conservation"]["worst"]
    return (fault_free, fault_free) if report["verdict"] == "pass" else (fault_free, worst)


def _account_facts(report: Report) -> dict[str, Any]:
    fault_free, worst = _accounts(report)
    return {
        "there": bool(fault_free["input"]),
        "same": fault_free == worst,
        "overlap": bool(fault_free.get("expanded")),
        "inputs": (fault_free["input"], worst["input"]),
        "over": (words.imbalance(fault_free), words.imbalance(worst)),
        "in_words": _balance(fault_free, worst),
    }


def _balance(fault_free: AccountCounts, worst: AccountCounts) -> str:
    if wrong := words.imbalance_in_words(fault_free):
        return f"Even without a fault the account does not balance: {wrong}."
    if wrong := words.imbalance_in_words(worst):
        return f"The worst scenario does not balance: {wrong}."
    return ""


def _fired(report: Report) -> str:
    tried = [scenario for scenario in report["scenarios"] if scenario["mode"] != "fault-free"]
    if not tried:
        return "none tried"
    return "all fired" if not explain.not_fired(report) else f"{words.number(sum(scenario['fired'] for scenario in tried))} fired"


def _facts(report: Report) -> list[tuple[str, str]]:
    """The figures beside the verdict, as (label, value)."""
    return [
        ("scenarios", words.number(len(report["scenarios"]))),
        ("crash points", words.number(report["enumerated"])),
        ("distinct disks", words.number(report["distinct"])),
        ("faults", _fired(report)),
        ("plan", report["plan"]),
        ("took", words.span(report["seconds"])),
    ]
