"""One scenario that did not pass, as the incident it would be: what went wrong, after which crash, both sides, the line that replays it."""

from streamproof.report import explain, pages, words
from streamproof.report.shape import Report, ScenarioEntry

_LABEL = 10


def incident(report: Report, scenario: ScenarioEntry, replay: str, *, page: str | None = None) -> str:
    """The scenario in lines: the headline, what belongs to it, and the line that runs it again.

    Parameters
    ----------
    replay
        The command, which takes the place of the scenario's own.
    page
        The path of report.html, if it was written.
    """
    told = explain.explain(report, scenario)
    headline = told.headline if scenario["verdict"] == "fail" else f"undecided: {told.headline}"
    lines = [(label, pages.path_of(text) if label == "read on" else text) for label, text in told.lines if label != "replay"]
    return _written(headline, [*lines, *([("report", page)] if page else [])], replay)


def unproved(report: Report, reasons: list[str], replay: str, *, page: str | None = None) -> str:
    """Why a proof as a whole is no pass although each of its scenarios that were looked at is one."""
    headline, *others = reasons
    lines = [("also", other) for other in others]
    lines += [("exercised", one["says"]) for one in explain.not_exercised(report)]
    lines += [("add", one["add"]) for one in explain.to_give(report)]
    lines += [("sketch", line) for one in explain.to_give(report)[:1] for line in one.get("sketch", [])]
    return _written(f"undecided: {headline}", [*lines, *([("report", page)] if page else [])], replay)


def _written(headline: str, lines: list[tuple[str, str]], replay: str) -> str:
    shown = [f"  {label:<{_LABEL}}{words.printable(text)}" for label, text in lines]
    return "\n".join([words.printable(headline), *shown, f"replay: {replay}"])
