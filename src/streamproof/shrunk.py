"""Shrinking a scenario of a stored proof: finds out what was asked for then, shrinks it, and writes the events, the command and the test beside the report."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import cast

from streamproof.config.entry import is_plain_pyspark
from streamproof.core.paths import display
from streamproof.core.users_code import said
from streamproof.core.verdict import Verdict
from streamproof.errors import ConfigurationError, ScenarioError
from streamproof.followed import story_of
from streamproof.prove import assembling
from streamproof.prove.events import Event
from streamproof.prove.options import Amount, Options, Selection, Surroundings
from streamproof.prove.process import apart, served
from streamproof.prove.scenario.exactly import Exactly, exactly_of
from streamproof.prove.shrink.pasting import pasted
from streamproof.prove.shrink.shrinking import Asked, Shrunk, Size, shrunk
from streamproof.prove.shrink.tries import SameFinding
from streamproof.prove.subjects.named import named
from streamproof.report import explain, store
from streamproof.report.json_file import write_whole
from streamproof.report.shape import Report, RequestEntry, ScenarioEntry
from streamproof.report.shape_of_causes import SizeEntry, SmallestEntry

EVENTS, TEST, MEANWHILE = "smallest.json", "test_smallest.py", "shrinking"
"""In the folder of a run: the events of the smallest scenario, the test, and what the tries write meanwhile."""
MOST_SHOWN = 100
"""How many events of the smallest scenario a report has one by one."""


@dataclass(frozen=True)
class Smallest:
    """What is said of a scenario that was shrunk: the result, what was wrong in the whole, and where the three are that can be used.

    `replay`, `test` and `events` are empty where the scenario did not fail again; `not_written` says why the reports of the run could not be
    written once more.
    """

    scenario: str
    result: Shrunk
    finding: SameFinding
    replay: str = ""
    test: str = ""
    test_file: str = ""
    events_file: str = ""
    not_written: str = ""


def shrink(
    run: Path,
    scenario: str | None = None,
    *,
    budget: timedelta,
    listener: Callable[[Event], None] | None = None,
    end: threading.Event | None = None,
) -> Smallest:
    """Shrinks a failing scenario of a stored proof to the fewest events, batches and faults that fail with the same finding.

    Parameters
    ----------
    run
        The folder of the proof, with its report.json.
    scenario
        The id of the scenario; None takes the first that failed, as the report shows it.
    budget
        How long the reducing may take. Spark's start and the first run of the whole scenario come before.
    end
        Is set by whoever wants it to end: what is smallest by then is the result.

    Raises
    ------
    ConfigurationError
        If nothing failed there, or the report does not say how the proof was asked for.
    ScenarioError
        If the events of such a job, or the finding, cannot be made fewer.
    StreamproofError
        If the job cannot be run any more.
    """
    report = store.load(run)
    if apart.state() is None:
        arguments = {"run": run.resolve(), "scenario": scenario, "budget": budget}
        return cast(
            "Smallest", served.call(shrink, arguments, listener, end, network=not report.get("request", {}).get("allow_hosts"))
        )
    entry = _failing(report, scenario, run)
    finding = _finding(entry)
    request = _request(report, run)
    target = _target(request, run)
    made = exactly_of(request["exactly"]) if request["exactly"] else None
    amount = Amount(request["seed"], request["events"], request["batches"], made)
    subject = named(target, None, amount, profile=request["profile"])
    if subject.preparation.services:
        raise ScenarioError(
            f"{report['job']} writes to or reads from {', '.join(subject.preparation.services)}: its scenarios are not shrunk yet.",
            required="A job whose sources and outputs are files.",
            remedy="Prove it with a profile that has them on files, and shrink that proof.",
        )
    around = Surroundings(tuple(request["allow_hosts"]))
    options = Options(target, request["profile"], amount, Selection(full=request["full"]), surroundings=around)
    apart.writable(run)
    asked = Asked(entry["id"], finding, budget.total_seconds())
    result = shrunk(subject.preparation, options, run / MEANWHILE, asked, listener or _silent, end or threading.Event())
    if result.exactly is None or result.failed is None:
        return Smallest(entry["id"], result, finding)
    return _kept(report, entry["id"], options, result, finding, run)


def _silent(_: Event) -> None:
    """A listener that does nothing."""


def _kept(report: Report, scenario: str, options: Options, result: Shrunk, finding: SameFinding, run: Path) -> Smallest:
    """Writes the events and the test, and the reports once more, which lead there; says the command."""
    assert result.exactly is not None, "it was shrunk"
    assert result.failed is not None, "it failed"
    file = run / EVENTS
    write_whole(file, json.dumps(result.exactly.as_value(), indent=1) + "\n")
    events = display(file)
    smaller = Options(
        options.target,
        options.profile,
        Amount(exactly=Exactly(result.exactly.of_source, events)),
        Selection(full=options.selection.full),
    )
    replay = assembling.Request(smaller, report["seed"], "part").replay(result.failed.scenario)
    given = [f", profile={options.profile!r}"] if options.profile is not None else []
    given += [", full=True"] if options.selection.full else []
    test = pasted(report["job"], options.target, result.failed.scenario, result.exactly, "".join(given))
    write_whole(run / TEST, test)
    found = Smallest(scenario, result, finding, replay, test, display(run / TEST), events)
    try:
        store.write({**report, "smallest": _entry(found, run)}, run)
    except Exception as problem:  # noqa: BLE001 -- what took minutes is not lost for it
        return replace(found, not_written=said(problem))
    return found


def _entry(found: Smallest, run: Path) -> SmallestEntry:
    """The smallest scenario as the report has it."""
    result, failed = found.result, found.result.failed
    assert result.exactly is not None, "it was shrunk"
    assert failed is not None, "it failed"
    made = [(event, source) for source, its in result.exactly.of_source.items() for event in its]
    return {
        "scenario": found.scenario,
        "failed": failed.scenario,
        "crash": failed.crash,
        "finding": {
            "what": str(failed.finding.as_dict()["what"]),
            "code": f"{found.finding.checker}/{found.finding.code}",
            "event": failed.finding.event,
        },
        "story": story_of(run / MEANWHILE, failed.scenario, failed.finding.event),
        "whole": _size(result.whole),
        "size": _size(result.smallest),
        "events": [
            {
                "batch": event.batch,
                "source": source,
                "trace": event.trace,
                "record": event.record.decode("utf-8", "backslashreplace"),
            }
            for event, source in sorted(made, key=lambda one: one[0].batch)[:MOST_SHOWN]
        ],
        "use": {
            "replay": found.replay,
            "test": found.test,
            "test_file": found.test_file,
            "events_file": found.events_file,
        },
        "search": {
            "tries": result.tries,
            "seconds": round(result.seconds, 1),
            "to_the_end": result.to_the_end,
            "again": result.again,
        },
    }


def _size(one: Size) -> SizeEntry:
    return {"events": one.events, "batches": one.batches, "faults": one.faults}


def _failing(report: Report, scenario: str | None, run: Path) -> ScenarioEntry:
    failing = explain.with_verdict(report, Verdict.FAIL)
    if not failing:
        raise ConfigurationError(
            f"No scenario failed in {display(run)}.", required="A failing scenario is shrunk.", remedy="streamproof report list JOB"
        )
    if scenario is None:
        return failing[0]
    found = next((entry for entry in report["scenarios"] if entry["id"] == scenario), None)
    if found is None or Verdict(found["verdict"]) is not Verdict.FAIL:
        what = f"{scenario} is no scenario of {display(run)}" if found is None else f"{scenario} did not fail in {display(run)}"
        raise ConfigurationError(
            f"{what}.",
            required=f"One that failed: {', '.join(entry['id'] for entry in failing[:5])}{' ...' if failing[5:] else ''}",
        )
    return found


def _finding(entry: ScenarioEntry) -> SameFinding:
    found = explain.telling(entry)
    check, finding = found if found is not None else (None, None)
    if check is None or finding is None or not finding.get("code"):
        raise ConfigurationError(
            f"The report keeps no finding of {entry['id']}.", required="A scenario is shrunk as long as its finding stays."
        )
    if check["name"] in explain.OF_TWO_RUNS:
        raise ScenarioError(
            f"{entry['id']} fails since two scenarios disagree ({check['name']}).",
            required="A scenario is shrunk that fails by itself.",
        )
    if finding["code"] in explain.SHARES:
        raise ScenarioError(
            f"{entry['id']} fails with {finding['code']}: {finding['what']}.",
            required="A share of all events says nothing of a few of them: there is no smallest scenario.",
            remedy="Look at the events that the report names, or at the limits below [expect] in scenario.toml.",
        )
    events = [one["event"].partition("+")[0] for one in check["findings"] if one["event"] and one.get("code") == finding["code"]]
    return SameFinding(check["name"], finding["code"], tuple(dict.fromkeys(events)))


def _request(report: Report, run: Path) -> RequestEntry:
    request = report.get("request")
    if request is None:
        raise ConfigurationError(
            f"The report in {display(run)} is of an older version, and does not say how the proof was asked for.",
            required="What was asked for, to run it again.",
            remedy=f"Prove it again: {report['command']}",
        )
    if request["exactly"] == "":
        raise ConfigurationError(
            f"The proof in {display(run)} was made in Python, with events that were given there.",
            required="A file of events, to run it again.",
            remedy="Write them to a file, and prove the job with --exactly FILE.",
        )
    return request


def _target(request: RequestEntry, run: Path) -> str:
    """The target as it was named, or the folder that the run lies in where that is not there from here."""
    target = request["target"]
    if is_plain_pyspark(target) or Path(target.partition(":")[0]).exists() or run.resolve().parent.name != "runs":
        return target
    return str(run.resolve().parents[2])
