"""`sp.prove`: proves a job, stores the run, writes its reports."""

import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from streamproof.config.entry import is_plain_pyspark
from streamproof.core.durations import parse_duration
from streamproof.core.ends import End, ProofInterrupted
from streamproof.core.verdict import Verdict
from streamproof.errors import ScenarioError
from streamproof.followed import followed
from streamproof.progress import progress_on
from streamproof.prove.events import Event
from streamproof.prove.options import Amount, Limits, Options, Selection, Surroundings
from streamproof.prove.process import apart, served
from streamproof.prove.run import PlanPreview, preview, run_proof
from streamproof.prove.scenario.declared import SampleFile
from streamproof.prove.scenario.exactly import exactly_of
from streamproof.prove.subjects.named import named
from streamproof.prove.subjects.pyspark.preparation import Wanted
from streamproof.report import explain, store
from streamproof.report.shape import Report, ScenarioEntry


@dataclass(frozen=True)
class Proof:
    """What a proof found. True where it passed, so that `assert sp.prove("my_job")` says why if it did not."""

    verdict: Verdict
    report: Report
    folder: Path

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def account(self) -> dict[str, int]:
        """The account of the fault-free run: emitted, open_state, late, rejected, duplicate, filtered, and input."""
        return {place: int(count) for place, count in self.report["conservation"]["fault_free"].items()}

    @property
    def failures(self) -> list[ScenarioEntry]:
        """The scenarios that did not pass, as in the report."""
        return [scenario for scenario in self.report["scenarios"] if scenario["verdict"] != "pass"]

    def __repr__(self) -> str:
        counts = self.report["counts"]
        lines = [f"{str(self.verdict).upper()}: {counts['pass']} pass, {counts['fail']} fail, {counts['unknown']} unknown"]
        for scenario in self.failures[:3]:
            findings = [finding["what"] for check in scenario["checks"] for finding in check["findings"]]
            lines += [f"  {scenario['id']}: {findings[0] if findings else scenario['verdict']}", f"    {scenario['replay']}"]
        for one in self.report.get("not_exercised", []):
            lines += [f"  {one['code']}: {one['says']}", *(f"    {line}" for line in one.get("sketch", []))]
        lines += [f"  again: {explain.again(self.report)}"] if explain.to_give(self.report) else []
        return "\n".join([*lines, f"  report: {self.folder / 'report.html'}"])


def prove(
    target: str | Path,
    *,
    seed: int | None = None,
    only: str | None = None,
    full: bool = False,
    quick: bool = False,
    max_scenarios: int | None = None,
    time_budget: timedelta | str | None = None,
    stop_at_first: bool = False,
    last_failed: bool = False,
    scenarios: tuple[str, ...] = (),
    profile: str | None = None,
    events: int | None = None,
    batches: int | None = None,
    exactly: str | Path | Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    allow_hosts: tuple[str, ...] = (),
    report: str | Path | None = None,
    brokers: int = 1,
    services: Mapping[str, str] | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    progress: bool = False,
    inputs: Mapping[str, str | Path | SampleFile] | None = None,
    job: Wanted | None = None,
    expect: str | Sequence[str] = (),
    brief: bool = False,
    listener: Callable[[Event], None] | None = None,
    end: threading.Event | None = None,
) -> Proof:
    """Crashes a job at every durable step of a recorded run, lets it recover, and accounts for every event.

    Parameters
    ----------
    target
        A folder with streamproof.toml, or "file.py:function".
    inputs
        Of plain PySpark, that was not written for Streamproof, by name a sample of each input: a file, or `sp.sample(file, schema=...)`.
    job
        The same with whatever else such a job takes: arguments, tables, functions that read back what it writes.
    expect
        Of plain PySpark, what is let be, by name: "late=9" (so many rows of its own that Spark drops as late), "unbounded-state".
    seed, events, batches
        Other events than scenario.toml describes.
    exactly
        These events and no others, by source, or a file of them: as `streamproof shrink` writes them. What they do not exercise is not asked for,
        nor are shares of late or rejected events.
    only
        A scenario's id, a glob of ids, or several of these with commas; the verdict then speaks of those only.
    full
        The full plan: second recording, all cuts, machine death, kill -9.
    quick
        A quick plan, for pull requests: one crash for each kind of step, and the live crash of every phase.
    brief
        Of a quick plan one crash in each phase, for somebody who waits for it.
    max_scenarios, time_budget, stop_at_first
        Cut the plan short; what was not tried leaves the verdict unknown.
    last_failed
        Only the scenarios that did not pass last time.
    scenarios
        Only these, by their ids; those that the plan does not have are left out.
    allow_hosts
        Hosts that the job may reach during the proof, by the network of this machine.
    report
        A folder that gets report.html, report.json and junit.xml too.
    brokers
        Of a job that is bound to Kafka, how many brokers are started: 1, or 3, with the faults that take several.
    services
        By name ("kafka", "postgres", "redis", "registry") the URL of a service that runs already, instead of one that is started. For plain
        PySpark the names alone: those are started for the proof, and each scenario has places of its own there.
    ignore
        Of plain PySpark, "OUTPUT.COLUMN" for each column that differs from run to run on purpose, such as "out.loaded_at": it is not compared.
    end
        Is set by whoever wants the proof to end.
    progress
        Print how far it is, as the command does. pytest shows it within `with capsys.disabled():`.

    Raises
    ------
    StreamproofError
        If the job, the configuration or the scenario cannot be run at all.
    KeyboardInterrupt
        On Ctrl-C, or once `end` is set: a ProofInterrupted once what was finished is stored.
    """
    if apart.state() is None:
        return cast("Proof", _set_apart(prove, locals().copy()))
    job = _with(services, ignore, job or (Wanted.of(str(target), inputs) if inputs else None), str(target))
    job = _expecting(str(target), job, expect)
    given = services if isinstance(services, Mapping) else {}
    amount = Amount(seed, events, batches, exactly_of(exactly) if exactly is not None else None)
    subject = named(str(target), job, amount, profile=profile)
    budget = parse_duration(time_budget) if isinstance(time_budget, str) else time_budget
    ids = tuple(store.last_failed(subject.root)) if last_failed else scenarios
    if last_failed and not ids:
        raise ScenarioError(
            "Every scenario passed when it was last tried, or none was tried yet.",
            remedy=f"Prove all of it: streamproof prove {shlex.quote(str(target))}",
        )
    options = Options(
        str(target),
        profile,
        amount,
        Selection(only, ids, full, quick, brief),
        Limits(max_scenarios, budget, stop_at_first),
        Surroundings(allow_hosts, brokers, given),
        subject.words,
    )
    if report is not None:
        apart.require_lasting(Path(report))
    folder = _new_run(subject.root)
    if progress and listener is None:
        with progress_on(Console(highlight=False, markup=False, emoji=False)) as shown:
            found = cast("Report", run_proof(subject.preparation, options, folder, shown, end))
    else:
        found = cast("Report", run_proof(subject.preparation, options, folder, listener, end))
    found["followed"] = followed(folder, found)
    store.write(found, folder)
    if report is not None:
        apart.writable(Path(report))
        Path(report).mkdir(parents=True, exist_ok=True)
        store.write(found, Path(report))
    proof = Proof(Verdict(found["verdict"]), found, folder)
    if found["end"] == End.INTERRUPTED:
        raise ProofInterrupted(proof)
    return proof


def _with(
    services: Mapping[str, str] | Sequence[str] | None, ignore: Sequence[str], job: Wanted | None, target: str
) -> Wanted | None:
    """The plain job with the services that are asked for by name, and the columns that are not compared.

    Raises
    ------
    ScenarioError
        If a plain job is given a service that runs already, or a job of ours one without its URL, or columns.
    """
    plain = job is not None or is_plain_pyspark(target)
    columns = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    if columns and not plain:
        raise ScenarioError(
            f"{target} is no plain PySpark job, and {columns[0]} is to be left out of the comparison.",
            required="What a job of Streamproof's publishes is the same whenever it runs: a batch that runs again is compared with the first.",
            remedy="Take the event's own time, or an id that is derived from the event: docs/incidents/processing-time-for-business-time.md",
        )
    if columns:
        job = replace(job or Wanted(target, {}), ignore=columns)
    if isinstance(services, Mapping):
        if plain and services:
            raise ScenarioError(
                f"A {next(iter(services))} that runs already cannot be given to a plain PySpark job.",
                required="A proof of such a job touches no server that it has not started: the job may write anywhere in it.",
                remedy=f"Let the proof start one: --service {next(iter(services))}",
            )
        return job
    asked = (services,) if isinstance(services, str) else tuple(services or ())
    if asked and not plain:
        raise ScenarioError(
            f"{target} is no plain PySpark job, and {asked[0]} is asked for without a URL.",
            required="The services of a job of Streamproof's are those of its streamproof.toml; the proof starts them.",
            remedy=f"Leave it out, or name one that runs: --service {asked[0]}=URL",
        )
    return replace(job or Wanted(target, {}), services=asked) if asked else job


def plan(
    target: str | Path,
    *,
    seed: int | None = None,
    only: str | None = None,
    full: bool = False,
    quick: bool = False,
    profile: str | None = None,
    events: int | None = None,
    batches: int | None = None,
    brokers: int = 1,
    services: Mapping[str, str] | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    inputs: Mapping[str, str | Path | SampleFile] | None = None,
    job: Wanted | None = None,
    expect: str | Sequence[str] = (),
    listener: Callable[[Event], None] | None = None,
    end: threading.Event | None = None,
) -> PlanPreview:
    """The plan of a proof: records the job once and says what would be tried."""
    if apart.state() is None:
        return cast("PlanPreview", _set_apart(plan, locals().copy()))
    job = _with(services, ignore, job or (Wanted.of(str(target), inputs) if inputs else None), str(target))
    job = _expecting(str(target), job, expect)
    amount = Amount(seed, events, batches)
    subject = named(str(target), job, amount, profile=profile)
    around = Surroundings(brokers=brokers, services=services if isinstance(services, Mapping) else {})
    options = Options(
        str(target), profile, amount, Selection(only, full=full, quick=quick), surroundings=around, words=subject.words
    )
    return preview(subject.preparation, options, _new_run(subject.root), listener, end)


def _set_apart(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Calls one of the two above in a process that is set apart from this machine; what it tells is shown in this one."""
    listener, end = arguments.pop("listener"), arguments.pop("end")
    services = arguments.get("services")
    runs_already = isinstance(services, Mapping) and any(services.values())
    network = not runs_already and not arguments.get("allow_hosts")
    if not arguments.pop("progress", False) or listener is not None:
        return served.call(function, arguments, listener, end, network=network)
    with progress_on(Console(highlight=False, markup=False, emoji=False)) as shown:
        return served.call(function, arguments, shown, end, network=network)


def _new_run(root: Path) -> Path:
    """The folder of the next run; the processes of the proof may write where runs are kept."""
    apart.require_lasting(root)
    apart.writable(store.runs_folder(root).parent)
    return store.new_run(root)


def _expecting(target: str, job: Wanted | None, expect: str | Sequence[str]) -> Wanted | None:
    """The job with what is expected of it.

    Raises
    ------
    ScenarioError
        If it is a job of ours: what is expected of that stands in its scenario.
    """
    words = (expect,) if isinstance(expect, str) else tuple(expect)
    if not words:
        return job
    if job is None and not is_plain_pyspark(target):
        raise ScenarioError(
            f"--expect {words[0]} is given, and {target} is a job that was written with Streamproof.",
            required="--expect is for plain PySpark.",
            remedy="Write it into scenario.toml, below [expect], such as late_at_most = 0.01.",
        )
    job = job or Wanted(target, {})
    return replace(job, expect=(*job.expect, *words))
