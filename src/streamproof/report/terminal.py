"""The summary in the terminal: PASS, FAIL or UNKNOWN, why, and what to do next; no more than a screen, unless a cause takes more.

Plain lines without a terminal; colour repeats what the words say. A replay line is never folded, so that it can be copied.
"""

from textwrap import wrap

from rich.console import Console
from rich.text import Text

from streamproof.core.verdict import Verdict
from streamproof.report import explain, pages, words
from streamproof.report.shape import RemarkEntry, Report, ScenarioEntry

SCREEN_COLUMNS = 100
STYLES = {Verdict.PASS: "bold green", Verdict.FAIL: "bold red", Verdict.UNKNOWN: "bold yellow"}
_LABEL = 12
# How many lines a part may take, so that the sum stays below a screen of 24; what is longer is whole in the page.
_LINES = {"no fault": 1, "not checked": 4, "read on": 1, "report": 1, "unexercised": 3, "not read": 4}
_WHOLE = ("first", "found", "how")
"""What is never cut, like the headline: a cause, and what to do about it, stand on the screen to their last word."""
_UNEXERCISED = 3


def print_summary(report: Report, console: Console, *, where: str | None = None) -> None:
    """Print what the report says: at most 24 lines at 100 columns, where its cause fits two lines.

    Parameters
    ----------
    report
        A whole report, or that of a proof that was cut short.
    console
        Where to print. Without a terminal, lines are laid out for 100 columns and carry no colour.
    where
        The path of report.html, if it was written.
    """
    verdict = Verdict(report["verdict"])
    page = Lines(console)
    page.headline(verdict, explain.sentence(report), _aside(report, verdict))
    if verdict is Verdict.PASS:
        _passed(report, page)
    else:
        _not_passed(report, verdict, page)
    if where:
        page.line("report", where, width=page.label_width)
    page.print()


def _aside(report: Report, verdict: Verdict) -> str:
    if verdict is not Verdict.FAIL:
        return ""
    plan = f" of the {words.plan_name(report)}" if report["plan"] in ("quick", "brief") else ""
    return f"({words.number(report['counts']['fail'])} of {words.counted(len(report['scenarios']), 'scenario')}{plan})"


def _passed(report: Report, page: "Lines") -> None:
    label = f"account of {words.counted(words.of_first_query(report), words.noun(report))}"
    page.label_width = len(label) + 3
    if report["conservation"]["fault_free"]["input"]:
        page.parts(label, words.account(report["conservation"]["fault_free"]))
        if overlap := words.in_windows(report):
            page.line("", overlap, width=page.label_width)
    _judged_by(report, page)
    page.line("what this means", words.WHAT_A_PASS_MEANS, width=page.label_width)
    page.whole("read on", pages.path_of(words.READ_WHAT_A_PASS_MEANS), width=page.label_width)
    for note in report["notes"][:2]:
        page.line("note", note, width=page.label_width)


def _judged_by(report: Report, page: "Lines") -> None:
    """Of a job that was not written for us: what it was held against, and what nobody looked at, by name."""
    if report.get("judged_by"):
        page.line("judged by", ", ".join(report["judged_by"]), width=page.label_width)
        page.label_width = max(page.label_width, _LABEL)
        unchecked = report.get("not_checked", [])
        page.line("not checked", "; ".join(f"{one['name']} ({one['says']})" for one in unchecked), width=page.label_width)


def _not_passed(report: Report, verdict: Verdict, page: "Lines") -> None:
    scenarios = explain.with_verdict(report, verdict)
    missing = explain.to_give(report)
    if missing and verdict is Verdict.UNKNOWN:
        _missing(missing, page)
    elif scenarios:
        told = explain.explain(report, scenarios[0])
        if verdict is Verdict.UNKNOWN:
            page.line("first", told.headline)
        for label, text in told.lines:
            shown = pages.path_of(text) if label == "read on" else text
            if label in ("replay", "trace") or shown != text:
                page.whole(label, shown)
            else:
                page.line(label, text)
        _others(scenarios[1:], verdict, page)
        if missing:
            page.line("not read", f"{words.few(one['name'] for one in missing)}: add {' '.join(one['add'] for one in missing)}")
    _not_exercised(report, page, told=bool(scenarios) or bool(missing))
    if verdict is Verdict.UNKNOWN:
        for note in report["notes"][:3]:
            page.line("note", note)
        page.whole("again", explain.again(report))


def _missing(missing: list[RemarkEntry], page: "Lines") -> None:
    """What the user has to give, with the first lines of it; one sketch is enough where several are alike."""
    for one in missing[:_UNEXERCISED]:
        page.line("not read", one["says"])
    for number, line in enumerate(missing[0].get("sketch", [])):
        page.whole("sketch" if number == 0 else "", line)


def _not_exercised(report: Report, page: "Lines", *, told: bool) -> None:
    """What the job never did, with what to write where that alone is the reason; in one line where a scenario is `told` already."""
    vacuous = [one for one in explain.not_exercised(report) if one not in explain.to_give(report)]
    shown = [] if told else vacuous[:_UNEXERCISED]
    for one in shown:
        page.line("unexercised", one["says"])
    if len(vacuous) > len(shown):
        page.line("unexercised", words.few(one["name"] for one in vacuous[len(shown) :]))


def _others(others: list[ScenarioEntry], verdict: Verdict, page: "Lines") -> None:
    if others:
        label = "also fail" if verdict is Verdict.FAIL else "undecided"
        page.line(label, f"{words.number(len(others))} more: {words.few(scenario['id'] for scenario in others)}")


class Lines:
    """Lines with a column of labels, folded under their own text."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._columns = max(40, min(console.width, SCREEN_COLUMNS)) if console.is_terminal else SCREEN_COLUMNS
        self._lines: list[Text] = []
        self.label_width = _LABEL

    def headline(self, verdict: Verdict, text: str, aside: str = "") -> None:
        """The verdict and its sentence; the aside at the right edge where it fits, else beneath."""
        indent = len(verdict) + 2
        folded = _folded(words.printable(text), self._columns - indent, None)
        lines = [Text(" " * indent) + Text(line, style="bold") for line in folded]
        lines[0] = Text(f"{verdict.upper()}  ", style=STYLES[verdict]) + Text(folded[0], style="bold")
        if aside and len(lines) == 1 and lines[0].cell_len + len(aside) + 3 <= self._columns:
            lines[0] += Text(aside.rjust(self._columns - lines[0].cell_len), style="dim")
        elif aside:
            lines.append(Text(" " * indent) + Text(aside, style="dim"))
        self._lines += lines

    def line(self, label: str, text: str, *, width: int = _LABEL) -> None:
        """A labelled text, folded; what is no cause is shortened to its share of the screen."""
        limit = None if label in _WHOLE else _LINES.get(label, 2)
        self._add(label, _folded(words.printable(text), self._columns - width - 2, limit), width)

    def parts(self, label: str, parts: list[str]) -> None:
        """Parts joined by a middle dot, folded between parts only."""
        folded = [parts[0]]
        for part in parts[1:]:
            joined = f"{folded[-1]} · {part}"
            if len(joined) + self.label_width + 2 > self._columns:
                folded.append(part)
            else:
                folded[-1] = joined
        self._add(label, folded, self.label_width)

    def whole(self, label: str, text: str, *, width: int = _LABEL) -> None:
        """A line to be copied: never folded, however long."""
        self._add(label, [words.printable(text).replace("\n", " ")], width)

    def _add(self, label: str, folded: list[str], width: int) -> None:
        for index, text in enumerate(folded):
            self._lines.append(Text("  ") + Text((label if index == 0 else "").ljust(width), style="dim") + Text(text))

    def print(self) -> None:
        for line in self._lines:
            self._console.print(line, soft_wrap=True, highlight=False)


def _folded(text: str, room: int, limit: int | None) -> list[str]:
    lines = wrap(text, room, break_on_hyphens=False) or [""]
    if limit is not None and len(lines) > limit:
        lines = [*lines[: limit - 1], f"{lines[limit - 1][: room - 2].rstrip()} …"]
    return lines
